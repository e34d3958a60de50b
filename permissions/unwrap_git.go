package permissions

import (
	"slices"
	"strings"
)

// gitValueOptions are git's global options that take the next word as value.
var gitValueOptions = []string{"-C", "-c", "--git-dir", "--work-tree", "--namespace", "--super-prefix", "--config-env", "--exec-path", "--attr-source"}

// gitCommandKeys are configuration keys whose values git runs, beside those
// that isGitCommandKey knows by their ends.
var gitCommandKeys = []string{
	"core.fsmonitor", "core.gitproxy", "diff.external", "web.browser", "interactive.difffilter", "ssh.variant", "imap.tunnel", "instaweb.httpd", "instaweb.browser",
}

// gitCommandEnds are how the last part of such keys ends.
var gitCommandEnds = []string{
	"cmd", "command", "program", "helper", "textconv", "driver", "editor", "pager", "askpass", "hook", "uploadpack", "receivepack", ".clean", ".smudge", ".process",
}

func isGitCommandKey(key string) bool {
	section, _, _ := strings.Cut(key, ".")
	return slices.Contains(gitCommandKeys, key) || section == "pager" ||
		slices.ContainsFunc(gitCommandEnds, func(end string) bool { return strings.HasSuffix(key, end) }) ||
		strings.HasSuffix(key, ".path") && slices.Contains([]string{"mergetool", "difftool", "browser", "man"}, section)
}

// namesGitPrograms tells whether a key names a place from which git takes
// programs or settings, or allows what runs some.
func namesGitPrograms(key string) bool {
	return slices.Contains([]string{"core.hookspath", "include.path", "init.templatedir", "core.worktree", "protocol.allow"}, key) ||
		strings.HasPrefix(key, "includeif.") || strings.HasPrefix(key, "protocol.") && strings.HasSuffix(key, ".allow")
}

// gitCommandOptions are options of subcommands whose value git runs.
var gitCommandOptions = byName(map[string]optionNames{
	"rebase":   {letters: "x", words: []string{"--exec"}, stops: "sXCS"},
	"grep":     {letters: "O", words: []string{"--open-files-in-pager"}, stops: "ABCefm"},
	"difftool": {letters: "x", words: []string{"--extcmd"}, stops: "t"},
	"clone":    {letters: "u", words: []string{"--upload-pack"}, stops: "bcjo"},
	"fetch pull ls-remote push archive fetch-pack send-pack": {words: []string{"--upload-pack", "--receive-pack", "--exec"}},
	"send-email":    {words: []string{"--sendmail-cmd", "--to-cmd", "--cc-cmd", "--header-cmd", "--smtp-server"}},
	"daemon":        {words: []string{"--access-hook"}},
	"instaweb":      {letters: "bd", words: []string{"--httpd", "--browser"}, stops: "mp"},
	"web--browse":   {letters: "bt", words: []string{"--browser", "--tool"}, stops: "c"},
	"filter-branch": {words: []string{"--tree-filter", "--index-filter", "--env-filter", "--msg-filter", "--commit-filter", "--parent-filter", "--tag-name-filter", "--setup"}},
})

// gitParts splits a git command line at its subcommand.
func gitParts(args []field) (global, rest []field) {
	i := 1
	for i < len(args) {
		s, ok := args[i].value.known()
		if !ok {
			if s := args[i].value; !s.hasPrefix("-") {
				break
			}
			i++
			continue
		}
		if !strings.HasPrefix(s, "-") {
			break
		}
		i++
		if slices.Contains(gitValueOptions, s) {
			i++
		}
	}
	i = min(i, len(args))
	return args[1:i], args[i:]
}

// git checks what a git command line makes git run: configuration values,
// and options and subcommands that take commands.
func (w *walker) git(_ string, args []field, in stdin) output {
	global, rest := gitParts(args)
	aliases := map[string]value{}
	for i, a := range global {
		switch t, _ := a.value.known(); {
		case t == "-c" && i+1 < len(global):
			w.gitConfig(global[i+1].value, aliases, words(values(args)))
		case t == "--exec-path" || strings.HasPrefix(t, "--exec-path=") || strings.HasPrefix(t, "--config-env"):
			w.note(w.exec.byDefault(words(values(args)).String())) // programs or settings come from elsewhere
		case a.value.hasPrefix("-c") && len(t) > 2:
			w.gitConfig(a.value.trimPrefix(2), aliases, words(values(args)))
		}
	}
	if len(rest) == 0 {
		return output{}
	}
	sub, known := rest[0].value.known()
	if !known {
		return output{}
	}
	if alias, ok := aliases[strings.ToLower(sub)]; ok {
		if alias.hasPrefix("!") {
			w.shellText(join(alias.trimPrefix(1), text(" "+quoteAll(rest[1:]))), in)
		} else {
			w.shellText(join(text("git "), alias, text(" "+quoteAll(rest[1:]))), in)
		}
	}
	gitCommandOptions[sub].each(rest[1:], func(v value) { w.shellText(v, stdin{}) })
	for _, a := range rest[1:] {
		w.gitAddress(a.value)
	}
	switch sub {
	case "config":
		w.gitSetConfig(rest[1:], args)
	case "clone", "init":
		optionNames{letters: "c", words: []string{"--config"}, stops: "bjou"}.each(rest[1:], func(v value) {
			w.gitConfig(v, aliases, words(values(args)))
		})
		if (optionNames{words: []string{"--template"}}).given(rest[1:]) {
			w.note(w.exec.byDefault(words(values(args)).String())) // hooks come from there
		}
	case "remote-ext":
		if len(rest) > 2 {
			w.shellText(rest[2].value, stdin{})
		}
	case "merge-index":
		for rest = rest[1:]; len(rest) > 0 && rest[0].value.hasPrefix("-"); {
			rest = rest[1:]
		}
		w.run(rest, stdin{})
	case "bisect":
		if s, ok := argText(rest[1:]); ok && s == "run" {
			w.run(rest[2:], stdin{})
		}
	case "submodule":
		for i, a := range rest {
			if s, _ := a.value.known(); s == "foreach" {
				after := rest[i+1:]
				for len(after) > 0 && after[0].value.hasPrefix("-") {
					after = after[1:]
				}
				if len(after) > 0 {
					w.shellText(words(values(after)), stdin{})
				}
				break
			}
		}
	}
	return output{}
}

// gitAddress checks an address of a repository, which may be a command.
func (w *walker) gitAddress(v value) {
	if v.hasPrefix("ext::") {
		w.shellText(v.trimPrefix(5), stdin{})
	}
}

// gitConfig checks one key=value.
func (w *walker) gitConfig(setting value, aliases map[string]value, target value) {
	if len(setting) == 0 || setting[0].kind != lit || !strings.Contains(setting[0].text, "=") {
		if setting.open() {
			w.askUnknown(target.String(), "a setting that git is given is not known before it runs")
		}
		return
	}
	key, _, _ := strings.Cut(setting[0].text, "=")
	v := setting.trimPrefix(len(key) + 1)
	w.gitSetting(strings.ToLower(key), v, aliases, target)
}

func (w *walker) gitSetting(key string, v value, aliases map[string]value, target value) {
	name, isAlias := strings.CutPrefix(key, "alias.")
	switch {
	case isAlias:
		aliases[name] = v
		if v.hasPrefix("!") {
			w.shellText(v.trimPrefix(1), stdin{})
		} else {
			w.shellText(join(text("git "), v), stdin{})
		}
	case namesGitPrograms(key):
		if s, _ := v.known(); s != "/dev/null" {
			w.note(w.exec.byDefault(target.String())) // what they do is not known
		}
	case strings.HasPrefix(key, "url."):
		w.gitAddress(text(strings.TrimPrefix(key, "url.")))
	case strings.HasPrefix(key, "remote.") && !isGitCommandKey(key):
		w.gitAddress(v)
	case strings.HasPrefix(key, "submodule.") && v.hasPrefix("!"):
		w.shellText(v.trimPrefix(1), stdin{})
	case isGitCommandKey(key):
		s, ok := v.known()
		if ok && (s == "" || s == "true" || s == "false" || s == "cat" || s == "store" || s == "cache") {
			return
		}
		if v.hasPrefix("!") {
			v = v.trimPrefix(1)
		}
		w.shellText(v, stdin{})
	}
}

// gitSetConfig checks git config KEY VALUE.
func (w *walker) gitSetConfig(rest, args []field) {
	var given []field
	for i := 0; i < len(rest); i++ {
		s, _ := rest[i].value.known()
		switch {
		case s == "-f" || s == "--file" || s == "--blob" || s == "--type" || s == "--default" || s == "--comment" || s == "--value":
			i++
		case strings.HasPrefix(s, "-"):
		case s == "set" && len(given) == 0:
		default:
			given = append(given, rest[i])
		}
	}
	if len(given) < 2 {
		return
	}
	if key, ok := given[0].value.known(); ok {
		w.gitSetting(strings.ToLower(key), given[1].value, map[string]value{}, words(values(args)))
	}
}
