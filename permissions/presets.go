package permissions

import "slices"

// Where the presets' patterns come from: the seed system's rulesets of the
// same names.
var (
	secretPaths = []string{
		"**/.env", "**/.env.*", "**/*.pem", "**/*.key", "**/*.crt", "**/credentials*", "**/secrets*",
		"**/*secret*", "**/*password*", "**/.aws/**", "**/.ssh/**", "**/.gnupg/**",
	}
	systemPaths = []string{
		"/etc/**", "/var/**", "/usr/**", "/bin/**", "/sbin/**", "/boot/**", "/sys/**", "/proc/**",
	}
	dangerousCommands = []string{
		"rm -rf /*", "rm -rf /", ":(){:|:&};:", "dd if=*of=/dev/*", "mkfs*", "> /dev/sda", "chmod -R 777 /",
	}
)

// PresetNames returns the names of the presets.
func PresetNames() []string { return []string{"default", "permissive", "readonly", "strict"} }

// Preset returns the preset of that name:
//
//   - default allows reading and searching, and asks before a write or a command;
//   - permissive allows all but system paths and dangerous commands;
//   - readonly allows reading and searching, and denies the rest;
//   - strict asks before everything.
//
// All four deny reading and writing what looks like a secret.
func Preset(name string) (*Ruleset, bool) {
	secret := deny("looks like a secret", secretPaths)
	dangerous := deny("destroys the machine", dangerousCommands)
	system := slices.Concat(secret, deny("system path", systemPaths))
	only := func(a Action) Rules { return Rules{Default: a} }

	var def Action
	var ops map[Operation]Rules
	switch name {
	case "default":
		def, ops = Ask, map[Operation]Rules{
			Read: {Allow, secret}, Write: {Ask, secret}, Edit: {Ask, secret}, Execute: {Ask, dangerous},
			Glob: only(Allow), Grep: only(Allow), Ls: only(Allow),
		}
	case "permissive":
		def, ops = Allow, map[Operation]Rules{
			Read: {Allow, secret}, Write: {Allow, system}, Edit: {Allow, system}, Execute: {Allow, dangerous},
			Glob: only(Allow), Grep: only(Allow), Ls: only(Allow),
		}
	case "readonly":
		def, ops = Deny, map[Operation]Rules{
			Read: {Allow, secret}, Write: only(Deny), Edit: only(Deny), Execute: only(Deny),
			Glob: only(Allow), Grep: only(Allow), Ls: only(Allow),
		}
	case "strict":
		def, ops = Ask, map[Operation]Rules{
			Read: {Ask, secret}, Write: {Ask, secret}, Edit: {Ask, secret}, Execute: {Ask, dangerous},
			Glob: only(Ask), Grep: only(Ask), Ls: only(Ask),
		}
	default:
		return nil, false
	}
	r, err := New(name, def, ops)
	if err != nil {
		panic("permissions: preset " + err.Error()) // a defect of this file, found by its tests
	}
	return r, true
}

func deny(description string, patterns []string) []Rule {
	rules := make([]Rule, len(patterns))
	for i, p := range patterns {
		rules[i] = Rule{Pattern: p, Action: Deny, Description: description}
	}
	return rules
}
