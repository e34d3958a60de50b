package permissions

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/mcp-workspace/mcp-workspace/internal/suggest"
)

// maxFile is the largest ruleset file, in bytes.
const maxFile = 1 << 20

// Load returns the preset of that name, or reads a ruleset file. A name
// without a slash or a dot that is neither is an error that lists the presets.
func Load(nameOrFile string) (*Ruleset, error) {
	if r, ok := Preset(nameOrFile); ok {
		return r, nil
	}
	info, err := os.Stat(nameOrFile)
	switch {
	case err != nil && !strings.ContainsAny(nameOrFile, "/\\."):
		return nil, fmt.Errorf("there is no preset %q, and no such file; the presets are %s%s",
			nameOrFile, strings.Join(PresetNames(), ", "), didYouMean(nameOrFile, PresetNames()))
	case err != nil:
		return nil, fmt.Errorf("the ruleset cannot be read: %w", err)
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("%s is not a file; --permissions takes a preset (%s) or a ruleset file",
			nameOrFile, strings.Join(PresetNames(), ", "))
	case info.Size() > maxFile:
		return nil, fmt.Errorf("%s is larger than the 1 MiB that a ruleset file may have", nameOrFile)
	}
	data, err := os.ReadFile(nameOrFile)
	if err != nil {
		return nil, fmt.Errorf("the ruleset cannot be read: %w", err)
	}
	return Parse(nameOrFile, data)
}

// Parse reads a ruleset file:
//
//	default: ask
//	read:
//	  default: allow
//	  rules:
//	    - {pattern: "**/private/**", action: deny, description: "kept from agents"}
//
// A ruleset without a default asks. The error names every mistake in a line
// of its own, with file, line, what is wrong and what to write instead.
func Parse(filename string, data []byte) (*Ruleset, error) {
	p := &fileParser{file: filename}
	r := p.document(data)
	if p.wrong == nil {
		if err := r.compile(); err != nil {
			return nil, fmt.Errorf("%s: %w", filename, err)
		}
		return r, nil
	}
	return nil, errors.Join(p.wrong...)
}

type fileParser struct {
	file  string
	wrong []error
}

func (p *fileParser) failf(line int, format string, args ...any) {
	p.wrong = append(p.wrong, fmt.Errorf("%s:%d: %s", p.file, line, fmt.Sprintf(format, args...)))
}

const emptyFile = "the ruleset is empty; write at least \"default: ask\""

func (p *fileParser) document(data []byte) *Ruleset {
	r := &Ruleset{Name: strings.TrimSuffix(filepath.Base(p.file), filepath.Ext(p.file)), Default: Ask, Operations: map[Operation]Rules{}}
	if len(data) > maxFile {
		p.failf(1, "the file is larger than the 1 MiB that a ruleset may have")
		return r
	}
	decoder := yaml.NewDecoder(strings.NewReader(string(data)))
	var doc yaml.Node
	if err := decoder.Decode(&doc); err != nil {
		if isEOF(err) {
			p.failf(1, emptyFile)
		} else {
			p.syntax(err)
		}
		return r
	}
	var second yaml.Node
	if err := decoder.Decode(&second); err == nil {
		p.failf(second.Line, "a second document starts here; a ruleset is one document, so remove the \"---\"")
	} else if !isEOF(err) {
		p.syntax(err)
	}
	root := resolve(doc.Content[0])
	if root.Kind == yaml.ScalarNode && root.Tag == "!!null" {
		p.failf(root.Line, emptyFile)
		return r
	}
	known := []string{"default"}
	for _, op := range Operations() {
		known = append(known, string(op))
	}
	p.mapping(root, "a ruleset", "\"default: ask\" and operations such as \"read:\"", known, func(key string, v *yaml.Node) {
		if key == "default" {
			r.Default = p.action(v, "default")
			return
		}
		r.Operations[Operation(key)] = p.rules(Operation(key), v)
	})
	return r
}

func (p *fileParser) rules(op Operation, n *yaml.Node) Rules {
	var out Rules
	if n.Kind == yaml.ScalarNode && validAction(Action(n.Value)) {
		p.failf(n.Line, "%s: %q stands alone; write \"%s: {default: %s}\"", op, n.Value, op, n.Value)
		return out
	}
	p.mapping(n, string(op), "\"default:\" and \"rules:\"", []string{"default", "rules"}, func(key string, v *yaml.Node) {
		if key == "default" {
			out.Default = p.action(v, string(op)+": default")
			return
		}
		if v.Kind == yaml.ScalarNode && v.Tag == "!!null" {
			return // "rules:" with nothing below it
		}
		if v.Kind != yaml.SequenceNode {
			p.failf(v.Line, "%s: rules is %s; it must be a list of {pattern: …, action: …}", op, kindName(v))
			return
		}
		lines := map[string]int{}
		for _, item := range v.Content {
			rule, ok := p.rule(op, resolve(item))
			if !ok {
				continue
			}
			if line, dup := lines[rule.Pattern]; dup {
				p.failf(item.Line, "%s: pattern %q has a rule already in line %d, and the first one decides; remove one of them", op, rule.Pattern, line)
				continue
			}
			lines[rule.Pattern] = item.Line
			out.Rules = append(out.Rules, rule)
		}
	})
	return out
}

func (p *fileParser) rule(op Operation, n *yaml.Node) (rule Rule, ok bool) {
	before := len(p.wrong)
	if n.Kind == yaml.ScalarNode {
		example := n.Value
		if n.Tag == "!!null" {
			example = "**"
		}
		p.failf(n.Line, "%s: a rule is %s; it must be {pattern: %q, action: deny}", op, kindName(n), example)
		return rule, false
	}
	var hasPattern, hasAction bool
	valid := p.mapping(n, string(op)+": a rule", "\"pattern:\" and \"action:\"", []string{"pattern", "action", "description"}, func(key string, v *yaml.Node) {
		switch key {
		case "pattern":
			hasPattern = true
			if rule.Pattern, ok = p.text(v, string(op)+": pattern"); ok {
				p.pattern(op, v, rule.Pattern)
			}
		case "action":
			hasAction = true
			rule.Action = p.action(v, string(op)+": action")
		case "description":
			rule.Description, _ = p.text(v, string(op)+": description")
		}
	})
	if valid && !hasPattern {
		p.failf(n.Line, "%s: a rule has no pattern; add \"pattern:\"", op)
	}
	if valid && !hasAction {
		p.failf(n.Line, "%s: a rule has no action; add \"action: allow\", \"action: ask\" or \"action: deny\"", op)
	}
	return rule, len(p.wrong) == before
}

// pattern refuses what does not compile and what can never match.
func (p *fileParser) pattern(op Operation, n *yaml.Node, s string) {
	if _, err := compileRule(op, s); err != nil {
		p.failf(n.Line, "%s: %v", op, err)
		return
	}
	if mend := neverMatches(op, s); mend != "" {
		p.failf(n.Line, "%s: pattern %q never matches: %s", op, s, mend)
	}
}

// neverMatches explains why no path or command can match s, or returns "".
func neverMatches(op Operation, s string) string {
	if op == Execute {
		switch {
		case isForkBombPattern(s):
			return ""
		case s != strings.TrimSpace(s):
			return "the text of a command has no blank at either end; remove it, or write a \"*\""
		case strings.Contains(s, "  ") && !strings.ContainsAny(s, "[{\\"):
			return "the words of a command are joined by single blanks; write one blank, or \"*\""
		case strings.ContainsAny(s, "\"'") && !strings.ContainsAny(s, "\\"):
			return "the text of a command is without its quotes; write the words alone, and \"?\" for a quote that is meant"
		case strings.ContainsAny(s, "\n\r"):
			return "a rule is about one simple command; write one rule for each line"
		}
		for _, sep := range []string{" && ", " || ", " | ", "; "} {
			if strings.Contains(s, sep) {
				return fmt.Sprintf("a rule is about one simple command, and %q separates two; write one rule for each", strings.TrimSpace(sep))
			}
		}
		return ""
	}
	switch {
	case strings.HasPrefix(s, "~"):
		return "\"~\" is not expanded; write the absolute path, or \"**" + strings.TrimPrefix(s, "~") + "\""
	case !strings.ContainsAny(s[:1], "/*?[{\\"):
		return fmt.Sprintf("paths are absolute; write %q", "**/"+strings.TrimPrefix(s, "./"))
	case s != "/" && strings.HasSuffix(s, "/"):
		return fmt.Sprintf("a path does not end in \"/\"; write %q for the directory or %q for what is in it", strings.TrimRight(s, "/"), strings.TrimRight(s, "/")+"/**")
	case strings.Contains(s, "//"), strings.Contains(s+"/", "/./"), strings.Contains(s+"/", "/../"):
		return "paths are cleaned before they are matched; remove \"//\", \"/./\" and \"/../\""
	}
	return ""
}

// mapping calls each with the keys of n that are known, and reports the rest.
func (p *fileParser) mapping(n *yaml.Node, what, want string, known []string, each func(key string, v *yaml.Node)) bool {
	if n.Kind != yaml.MappingNode {
		p.failf(n.Line, "%s is %s; it must be a mapping with %s", what, kindName(n), want)
		return false
	}
	lines := map[string]int{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		k, v := resolve(n.Content[i]), resolve(n.Content[i+1])
		switch {
		case k.Kind != yaml.ScalarNode || !slices.Contains(known, k.Value):
			name := k.Value
			if k.Kind != yaml.ScalarNode {
				name = kindName(k)
			}
			p.failf(k.Line, "unknown key %q in %s; known are %s%s", name, what, strings.Join(known, ", "), didYouMean(name, known))
		case lines[k.Value] != 0:
			p.failf(k.Line, "%q is already set in line %d; keep one of them", k.Value, lines[k.Value])
		default:
			lines[k.Value] = k.Line
			each(k.Value, v)
		}
	}
	return true
}

func (p *fileParser) action(n *yaml.Node, what string) Action {
	if n.Kind != yaml.ScalarNode || n.Tag == "!!null" {
		p.failf(n.Line, "%s is %s; it must be allow, ask or deny", what, kindName(n))
		return Deny
	}
	if !validAction(Action(n.Value)) {
		p.failf(n.Line, "%s: %s", what, badAction(n.Value))
		return Deny
	}
	return Action(n.Value)
}

func (p *fileParser) text(n *yaml.Node, what string) (string, bool) {
	if n.Kind != yaml.ScalarNode || n.Tag == "!!null" {
		p.failf(n.Line, "%s is %s; it must be text, in quotes", what, kindName(n))
		return "", false
	}
	return n.Value, true
}

// syntax reports what the YAML parser says, which has the line in its text.
func (p *fileParser) syntax(err error) {
	msg := strings.TrimPrefix(err.Error(), "yaml: ")
	line := 1
	if rest, ok := strings.CutPrefix(msg, "line "); ok {
		if n, err := fmt.Sscanf(rest, "%d:", &line); n == 1 && err == nil {
			_, msg, _ = strings.Cut(rest, ": ")
		}
	}
	hint := ""
	if strings.Contains(msg, "alias") || strings.Contains(msg, "anchor") || strings.Contains(msg, "start any token") || strings.Contains(msg, "alphabetic or numeric") {
		hint = "; put patterns in quotes: \"*\", \"&\", \"!\", \"{\", \"@\" and others mean something in YAML"
	}
	p.failf(line, "this is not YAML: %s%s", msg, hint)
}

func isEOF(err error) bool { return errors.Is(err, io.EOF) }

// resolve follows an alias to what it stands for.
func resolve(n *yaml.Node) *yaml.Node {
	if n.Kind == yaml.AliasNode && n.Alias != nil {
		return n.Alias
	}
	return n
}

func kindName(n *yaml.Node) string {
	switch {
	case n.Kind == yaml.MappingNode:
		return "a mapping"
	case n.Kind == yaml.SequenceNode:
		return "a list"
	case n.Tag == "!!null":
		return "empty"
	case n.Tag == "!!str":
		return "text"
	case n.Tag == "!!bool":
		return "true or false"
	case n.Tag == "!!int", n.Tag == "!!float":
		return "a number"
	default:
		return "something else"
	}
}

func validAction(a Action) bool { return a == Allow || a == Ask || a == Deny }

func badAction(s string) string {
	hint := didYouMean(s, []string{"allow", "ask", "deny"})
	return fmt.Sprintf("%q is no action; the actions are allow, ask and deny%s", s, hint)
}

func operationNames() string {
	names := make([]string, len(Operations()))
	for i, op := range Operations() {
		names[i] = string(op)
	}
	return strings.Join(names, ", ")
}

// synonyms are words that people write for what is called otherwise here.
var synonyms = map[string]string{
	"path": "pattern", "glob": "pattern", "match": "pattern", "permit": "allow", "yes": "allow", "true": "allow",
	"no": "deny", "false": "deny", "block": "deny", "forbid": "deny", "reject": "deny", "prompt": "ask", "confirm": "ask",
	"run": "execute", "exec": "execute", "bash": "execute", "shell": "execute", "command": "execute", "list": "ls",
	"search": "grep", "find": "glob", "comment": "description", "reason": "description", "read_file": "read",
	"write_file": "write", "edit_file": "edit",
}

// didYouMean names the known word nearest to s, as the end of a message.
func didYouMean(s string, known []string) string {
	if w := synonyms[strings.ToLower(strings.TrimSpace(s))]; slices.Contains(known, w) {
		s = w
	}
	return suggest.DidYouMean(s, known)
}
