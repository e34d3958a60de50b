package permissions

import (
	"slices"
	"strings"
)

// gitValueOptions are git's global options that take the next word as value.
var gitValueOptions = []string{"-C", "-c", "--git-dir", "--work-tree", "--namespace", "--super-prefix", "--config-env", "--exec-path", "--attr-source"}

// gitCommandKeys are configuration keys whose values git runs.
var gitCommandKeys = []string{
	"core.pager", "core.editor", "core.sshcommand", "core.fsmonitor", "core.gitproxy", "core.askpass", "sequence.editor",
	"diff.external", "gpg.program", "credential.helper", "uploadpack.packobjectshook", "web.browser", "interactive.difffilter",
	"sendemail.sendmailcmd", "ssh.variant",
}

// gitHookKeys name places from which git takes programs.
var gitHookKeys = []string{"core.hookspath", "include.path", "init.templatedir", "core.worktree", "protocol.ext.allow"}

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
			w.askFor(words(values(args)).String(), "git is told to take programs or settings from elsewhere")
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
	option := func(names ...string) {
		optionNames{words: names}.each(rest[1:], func(v value) { w.shellText(v, stdin{}) })
	}
	switch sub {
	case "config":
		w.gitSetConfig(rest[1:], args)
	case "rebase":
		option("-x", "--exec")
	case "grep":
		option("-O", "--open-files-in-pager")
	case "difftool", "mergetool":
		option("-x", "--extcmd")
	case "fetch", "pull", "clone", "ls-remote", "push", "archive":
		option("--upload-pack", "--receive-pack", "--exec")
		if sub == "clone" {
			option("-u")
			for i, a := range rest {
				if t, _ := a.value.known(); (t == "-c" || t == "--config") && i+1 < len(rest) {
					w.gitConfig(rest[i+1].value, aliases, words(values(args)))
				}
			}
		}
		for _, a := range rest[1:] {
			if a.value.hasPrefix("ext::") {
				w.shellText(a.value.trimPrefix(5), stdin{})
			}
		}
	case "filter-branch":
		option("--tree-filter", "--index-filter", "--env-filter", "--msg-filter", "--commit-filter", "--parent-filter", "--tag-name-filter", "--setup")
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

// gitConfig checks one key=value.
func (w *walker) gitConfig(setting value, aliases map[string]value, target value) {
	if len(setting) == 0 || setting[0].kind != lit || !strings.Contains(setting[0].text, "=") {
		if setting.open() {
			w.askFor(target.String(), "a setting that git is given is not known before it runs")
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
	case slices.Contains(gitHookKeys, key) || strings.HasPrefix(key, "includeif."):
		w.askFor(target.String(), "git is told to take programs or settings from elsewhere")
	case slices.Contains(gitCommandKeys, key), strings.HasPrefix(key, "credential.") && strings.HasSuffix(key, ".helper"),
		strings.HasPrefix(key, "filter."), strings.HasPrefix(key, "pager."),
		strings.HasSuffix(key, ".cmd"), strings.HasSuffix(key, ".textconv"), strings.HasSuffix(key, ".driver"), strings.HasSuffix(key, ".command"),
		strings.HasSuffix(key, ".program"), strings.HasSuffix(key, ".uploadpack"), strings.HasSuffix(key, ".receivepack"):
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
