package runtimes

// managers are the package managers, in the order in which they are run.
//
// Each script gets its packages as arguments, so that no name is ever part of
// a shell's text, and leaves nothing in the layer but what it installed: no
// package lists, no cache, no logs.
var managers = []manager{
	{
		key:     "apt",
		list:    func(p *Packages) *[]string { return &p.Apt },
		pattern: aptPattern,
		example: `"git" or "git=1:2.39.5-0"`,
		// Without the error mode a source that cannot be reached is a warning,
		// and the packages are then said not to exist.
		script: `export DEBIAN_FRONTEND=noninteractive
apt-get -o APT::Update::Error-Mode=any update
apt-get install --yes --no-install-recommends -- "$@"
apt-get clean
rm -rf /var/lib/apt/lists/* /var/cache/apt/*.bin /var/log/apt /var/log/dpkg.log /var/log/alternatives.log`,
	},
	{
		key:     "apk",
		list:    func(p *Packages) *[]string { return &p.Apk },
		pattern: apkPattern,
		example: `"git" or "git=2.45.2-r0"`,
		script:  `apk add --no-cache -- "$@"`,
	},
	{
		key:     "pip",
		list:    func(p *Packages) *[]string { return &p.Pip },
		pattern: pipPattern,
		example: `"pandas" or "pandas[excel]>=2,<3"`,
		// The image is there for these packages, so a distribution's own Python
		// gets them too. Variables and not options, because older versions
		// ignore a variable that they do not know and refuse an option.
		script: `export PIP_BREAK_SYSTEM_PACKAGES=1 PIP_NO_CACHE_DIR=1 PIP_ROOT_USER_ACTION=ignore
export PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_NO_INPUT=1 PIP_PROGRESS_BAR=off
python3 -m pip install -- "$@"`,
	},
	{
		key:     "cargo",
		list:    func(p *Packages) *[]string { return &p.Cargo },
		pattern: cargoPattern,
		example: `"ripgrep" or "ripgrep@14.1.0"`,
		script: `scratch=$(mktemp -d)
CARGO_HOME=$scratch/home CARGO_TARGET_DIR=$scratch/target cargo install --locked --root /usr/local -- "$@"
rm -rf "$scratch"`,
	},
	{
		key:     npmKey,
		list:    func(p *Packages) *[]string { return &p.Npm },
		pattern: npmPattern,
		example: `"vite" or "@types/react@18"`,
		// A container's user, who may be any, adds to what is installed.
		script: `scratch=$(mktemp -d)
npm_config_cache=$scratch npm install --no-audit --no-fund --no-update-notifier -- "$@"
chmod -R a+rwX node_modules package*.json
rm -rf "$scratch"`,
	},
}

// npmKey is the manager that installs into the working directory, from where
// Node.js resolves imports.
const npmKey = "npm"
