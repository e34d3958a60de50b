package commands

import (
	"fmt"
	"io/fs"
	"maps"
	"math"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/mcp-workspace/mcp-workspace/backends/fsops"
)

var rgOptions = NewOptions(2, "e regexp=", "f file=", "F fixed-strings", "i ignore-case", "S smart-case", "s case-sensitive", "v invert-match", "w word-regexp", "x line-regexp",
	"n line-number", "N no-line-number", "H with-filename", "I no-filename", "l files-with-matches", "files-without-match", "c count", "o only-matching", "q quiet", "m max-count=",
	"A after-context=", "B before-context=", "C context=", "r replace=", "b byte-offset", "g glob=", "iglob=", "t type=", "T type-not=", "type-list", "files", "L follow",
	". hidden", "u unrestricted", "no-ignore", "no-ignore-vcs", "no-ignore-parent", "a text", "binary", "max-depth=", "0 null", "heading", "no-heading", "color=", "colors=",
	"no-messages", "sort=", "sortr=", "j threads=", "P pcre2", "no-config", "no-unicode", "line-buffered", "context-separator=", "no-context-separator", "U multiline", "json", "z search-zip")

// ripper is one run of rg: the search is grep's, the files are found as rg does.
type ripper struct {
	grepper
	list     bool // files that would be searched
	hidden   bool
	ignores  bool // .gitignore and the like hold
	links    bool
	depth    int
	globs    *fsops.Ignore // what -g says; ignored is what it leaves out
	chooses  bool          // it names files to search
	types    []string      // patterns of names
	notTypes []string
}

func ripgrep(p *Proc) int {
	o, code := p.Parse(rgOptions)
	if o == nil {
		return code
	}
	for key, instead := range map[string]string{"U": "the tool grep, which has multiline", "json": "-n", "z": "zcat and a pipe"} {
		if o.Has(key) {
			return p.Errorf(2, "the option -%s is not supported here; use %s", key, instead)
		}
	}
	r := &ripper{grepper: grepper{p: p, syntax: 'P', most: math.MaxInt64, groupSeparator: "--", sep: '\n', label: "<stdin>", rg: true}, ignores: true, depth: maxDirectories}
	texts, given, err := r.options(o)
	if err != nil {
		return p.Errorf(2, "%s", err)
	}
	if o.Has("type-list") {
		for _, name := range slices.Sorted(maps.Keys(rgTypes)) {
			fmt.Fprintf(p.Out, "%s: %s\n", name, strings.Join(strings.Fields(rgTypes[name]), ", "))
		}
		return 0
	}
	operands := o.Args
	if !r.list && !given {
		if len(operands) == 0 {
			return p.Usage(2, "the PATTERN to search for is missing")
		}
		texts, operands = operands[:1], operands[1:]
	}
	if !r.list {
		if err := r.pattern(o, texts); err != nil {
			return p.Errorf(2, "regex parse error: %s", err)
		}
	}
	r.operands(o, operands)
	switch {
	case r.failed && (!r.quiet || !r.selected):
		return 2
	case r.selected:
		return 0
	}
	return 1
}

// options reads the options; given tells whether there were patterns among them.
func (r *ripper) options(o *Parsed) (texts []string, given bool, err error) {
	number := func(text string) int {
		n, nerr := strconv.ParseUint(text, 10, 31)
		if nerr != nil {
			err = fmt.Errorf("%s is no number", Quote(text))
		}
		return int(n)
	}
	var globs strings.Builder
	for _, opt := range o.Options {
		switch opt.Key {
		case "e":
			texts, given = append(texts, opt.Value), true
		case "f":
			b, rerr := r.p.ReadFile(opt.Value)
			if rerr != nil {
				return nil, true, fmt.Errorf("%s: %s", opt.Value, Reason(rerr))
			}
			for _, line := range splitLines(b) {
				texts = append(texts, string(line))
			}
			given = true
		case "v":
			r.invert = true
		case "w":
			r.word = true
		case "x":
			r.whole = true
		case "n", "N":
			r.numbers = opt.Key == "n"
		case "l":
			r.grepper.list = 'l'
		case "files-without-match":
			r.grepper.list = 'L'
		case "c":
			r.count = true
		case "o":
			r.only = true
		case "q":
			r.quiet = true
		case "b":
			r.offsets = true
		case "0":
			r.nulName = true
		case "no-messages":
			r.silent = true
		case "m":
			r.most = int64(number(opt.Value))
		case "A":
			r.after = number(opt.Value)
		case "B":
			r.before = number(opt.Value)
		case "C":
			r.before, r.after = number(opt.Value), number(opt.Value)
		case "max-depth":
			r.depth = min(number(opt.Value), maxDirectories)
		case "g", "iglob":
			// A rule of ours that leaves out is one of rg's with "!".
			rule, out := strings.CutPrefix(opt.Value, "!")
			if !out {
				rule, r.chooses = "!"+rule, true
			}
			globs.WriteString(rule + "\n")
		case "t", "T":
			if r.types, r.notTypes, err = r.addType(opt); err != nil {
				return nil, given, err
			}
		case "L":
			r.links = true
		case ".":
			r.hidden = true
		case "no-ignore", "no-ignore-vcs":
			r.ignores = false
		case "u":
			switch {
			case r.ignores:
				r.ignores = false
			case !r.hidden:
				r.hidden = true
			default:
				r.binary = "binary"
			}
		case "a":
			r.binary = "text"
		case "binary":
			r.binary = "binary"
		case "files":
			r.list = true
		case "color":
			r.color = opt.Value == "always" || opt.Value == "ansi"
		case "context-separator":
			r.groupSeparator = opt.Value
		case "no-context-separator":
			r.groupSeparator = "\x00"
		}
	}
	if globs.Len() > 0 {
		r.globs = r.globs.With(path.Clean(r.p.Dir), []byte(globs.String()))
	}
	if r.only || r.count || r.grepper.list != 0 || r.quiet {
		r.before, r.after = 0, 0
	}
	return texts, given, err
}

func (r *ripper) addType(opt Option) (types, not []string, err error) {
	patterns, ok := rgTypes[opt.Value]
	if !ok && opt.Value != "all" {
		return nil, nil, fmt.Errorf("unrecognized file type: %s; --type-list shows those that there are, and -g '*.EXT' needs none", opt.Value)
	}
	types, not = r.types, r.notTypes
	if opt.Key == "t" {
		return append(types, strings.Fields(patterns)...), not, nil
	}
	return types, append(not, strings.Fields(patterns)...), nil
}

// pattern makes one regular expression of all patterns.
func (r *ripper) pattern(o *Parsed, texts []string) error {
	all := make([]string, len(texts))
	upper := false
	for i, text := range texts {
		if all[i] = text; o.Has("F") {
			all[i] = regexp.QuoteMeta(text)
		}
		upper = upper || strings.ContainsFunc(text, unicode.IsUpper)
	}
	expr := all[0]
	if len(all) > 1 {
		expr = "(?:" + strings.Join(all, ")|(?:") + ")"
	}
	mode := o.Last("i", "S", "s")
	re, err := newPerlPattern(r.p, expr, mode == "i" || mode == "S" && !upper, r.word, r.whole)
	if err != nil {
		return err
	}
	r.patterns = []grepPattern{re}
	r.anyMatch = !r.only && !r.color
	if template, ok := o.Value("r"); ok {
		r.rewrite = func(b []byte) []byte { return re.re.ReplaceAll(b, []byte(template)) }
	}
	return nil
}

// operands searches the operands, or what there is without any: standard input
// where there is one, and the working directory.
func (r *ripper) operands(o *Parsed, operands []string) {
	p := r.p
	if len(operands) == 0 && !r.list && p.hasInput() {
		operands = []string{"-"}
	}
	named := o.Last("H", "I")
	many := len(operands) != 1
	if !many && operands[0] != "-" {
		info, err := p.Stat(operands[0])
		many = err == nil && info.IsDir()
	}
	if named == "H" || named == "" && many {
		r.names = 1
	}
	if len(operands) == 0 {
		r.walk("", path.Clean(p.Dir), 0, r.above(path.Clean(p.Dir)))
	}
	for _, name := range operands {
		if p.Stopped() || r.quiet && r.selected {
			return
		}
		if name == "-" {
			r.treating("binary", func() { r.search("-", r.label, r.names == 1, p.Stdin) })
			continue
		}
		info, err := p.Stat(name)
		if err != nil {
			r.fail(name, err)
			continue
		}
		if !info.IsDir() {
			r.one(name, "binary")
			continue
		}
		at, err := p.Files.Resolve(p.Path(name))
		if err != nil {
			r.fail(name, err)
			continue
		}
		r.walk(name, at, 0, r.above(at))
	}
}

// above are the rules of the directories above one.
func (r *ripper) above(dir string) *fsops.Ignore {
	if !r.ignores || dir == "/" {
		return nil
	}
	up := path.Dir(dir)
	return r.rulesOf(r.above(up), up)
}

// rulesOf adds the rules that a directory has to those above it.
func (r *ripper) rulesOf(above *fsops.Ignore, dir string) *fsops.Ignore {
	if !r.ignores {
		return nil
	}
	for _, name := range []string{".gitignore", ".ignore", ".rgignore"} {
		at := Join(dir, name)
		if info, err := r.p.Files.Lstat(at); err != nil || !info.Mode().IsRegular() {
			continue
		}
		held := r.p.held
		content, err := r.p.ReadFile(at)
		if err != nil {
			r.fail(at, err)
			continue
		}
		above = above.With(dir, content)
		r.p.Release(int(r.p.held - held))
	}
	return above
}

// walk goes over a directory: name is how it is shown, at where it is.
func (r *ripper) walk(name, at string, depth int, rules *fsops.Ignore) {
	p := r.p
	entries, err := p.Files.ReadDir(at)
	if err != nil {
		r.fail(name, err)
		return
	}
	rules = r.rulesOf(rules, at)
	for _, e := range entries {
		if p.Stopped() || r.quiet && r.selected {
			return
		}
		shown, below := Join(name, e.Name()), Join(at, e.Name())
		mode := e.Type()
		if mode&fs.ModeSymlink != 0 {
			info, err := p.Files.Stat(below)
			if !r.links || err != nil || info.IsDir() && depth > 40 {
				continue
			}
			mode = info.Mode()
		}
		if r.leftOut(below, e.Name(), mode.IsDir(), rules) {
			continue
		}
		switch {
		case mode.IsDir() && depth+1 < r.depth:
			r.walk(shown, below, depth+1, rules)
		case mode.IsRegular():
			r.one(shown, "without-match")
		}
	}
}

// leftOut tells whether a file or directory is not searched. -g counts for more
// than the rest.
func (r *ripper) leftOut(at, name string, dir bool, rules *fsops.Ignore) bool {
	if strings.HasPrefix(at, strings.TrimSuffix(path.Clean(r.p.Dir), "/")+"/") {
		if out, said := r.globs.Says(at, dir); said {
			return out
		}
	}
	if ignored, _ := rules.Says(at, dir); ignored || !r.hidden && name[0] == '.' {
		return true
	}
	if dir {
		return false
	}
	matches := func(patterns []string) bool {
		return slices.ContainsFunc(patterns, func(pattern string) bool {
			ok, err := path.Match(pattern, name)
			return ok && err == nil
		})
	}
	return r.chooses || r.types != nil && !matches(r.types) || matches(r.notTypes)
}

// one searches a file, or lists it.
func (r *ripper) one(name, binary string) {
	if r.list {
		r.selected = true
		if !r.quiet {
			r.p.Out.WriteString(name + "\n")
		}
		return
	}
	r.treating(binary, func() { r.file(name, r.names == 1) })
}

// treating searches with binary files treated so, unless an option says
// otherwise.
func (r *ripper) treating(binary string, search func()) {
	if r.binary == "" {
		r.binary = binary
		defer func() { r.binary = "" }()
	}
	search()
}

// rgTypes are the patterns of names by type, the most used of those of rg.
var rgTypes = map[string]string{
	"c": "*.c *.h *.H *.cats", "cpp": "*.cpp *.cc *.cxx *.C *.hpp *.hh *.hxx *.h *.H *.inl", "cs": "*.cs", "css": "*.css *.scss", "csv": "*.csv",
	"docker": "Dockerfile *Dockerfile* Containerfile", "elixir": "*.ex *.exs *.eex", "go": "*.go", "haskell": "*.hs *.lhs", "html": "*.html *.htm *.ejs",
	"java": "*.java *.jsp", "js": "*.js *.jsx *.mjs *.cjs *.vue", "json": "*.json *.jsonl composer.lock", "kotlin": "*.kt *.kts", "log": "*.log", "lua": "*.lua",
	"make": "Makefile makefile GNUmakefile *.mk *.mak", "markdown": "*.md *.markdown *.mdown *.mdx", "md": "*.md *.markdown *.mdown *.mdx",
	"perl": "*.pl *.pm *.t", "php": "*.php *.php3 *.php4 *.php5 *.phtml", "protobuf": "*.proto", "py": "*.py *.pyi", "python": "*.py *.pyi", "r": "*.R *.r *.Rmd",
	"ruby": "*.rb *.rbw Gemfile Rakefile *.gemspec", "rust": "*.rs", "scala": "*.scala *.sbt", "sh": "*.sh *.bash *.zsh *.ksh .bashrc .bash_profile .profile .zshrc",
	"sql": "*.sql *.psql", "svg": "*.svg", "swift": "*.swift", "tex": "*.tex *.sty *.cls *.bib", "tf": "*.tf *.tfvars", "toml": "*.toml Cargo.lock",
	"ts": "*.ts *.tsx *.cts *.mts", "txt": "*.txt", "vue": "*.vue", "xml": "*.xml *.xsd *.xsl *.xslt", "yaml": "*.yaml *.yml", "zig": "*.zig",
}
