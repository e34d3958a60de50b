package commands

import (
	"bufio"
	"errors"
	"io"
	"strings"
)

var yqOptions = NewOptions(1, "i inplace in-place", "o output-format=", "p input-format=", "j tojson", "y yaml-output yml-output", "Y yaml-roundtrip", "r unwrapScalar=?", "raw-output", "n null-input",
	"c compact-output", "I indent=", "P prettyPrint", "e exit-status", "s slurp", "S sort-keys", "N no-doc", "C colors", "M no-colors", "f from-file=", "x xml-output", "t toml-output")

// yq applies a filter of jq to YAML. Its options are those of the yq programs:
// YAML comes out unless JSON is asked for.
func yq(p *Proc) int {
	j := &jqRun{p: p, order: newJqOrder(), named: map[string]any{}, yamlIn: true, yamlOut: true, raw: true}
	j.write = jqWriter{p: p, w: p.Out, order: j.order, indent: "  "}
	p.Args = j.takeVariables(p.Args)
	o, code := p.Parse(yqOptions)
	if o == nil {
		return code
	}
	for _, opt := range o.Options {
		opt.Value = strings.TrimPrefix(opt.Value, "=") // -o=json
		switch opt.Key {
		case "i":
			j.inPlace = true
		case "j":
			j.yamlOut, j.raw = false, false
		case "y", "Y":
			j.yamlOut = true
		case "o", "p":
			json := opt.Value == "json" || opt.Value == "j"
			if !json && opt.Value != "yaml" && opt.Value != "y" && opt.Value != "yml" && opt.Value != "auto" && opt.Value != "a" {
				return p.Errorf(1, "the format %s is not available in this workspace: yaml and json are", Quote(opt.Value))
			}
			if opt.Key == "p" {
				continue // JSON is YAML
			}
			if j.yamlOut = !json; json {
				j.raw = false
			}
		case "r", "raw-output":
			j.raw = opt.Value != "false"
		case "n":
			j.nullInput = true
		case "c":
			j.write.indent, j.yamlOut, j.raw = "", false, false
		case "I":
			n := strings.IndexByte("01234567", (opt.Value + "x")[0])
			if n < 0 || len(opt.Value) != 1 {
				return p.Errorf(1, "invalid indent %s", Quote(opt.Value))
			}
			j.write.indent = strings.Repeat(" ", n)
		case "e":
			j.exitStatus = true
		case "s":
			j.slurp = true
		case "S":
			j.write.sorted = true
		case "N":
			j.yamlSep = true
		case "f":
			text, err := p.ReadFile(opt.Value)
			if err != nil {
				return p.FileError(opt.Value, err)
			}
			j.query, j.given = string(text), true
		case "x", "t":
			return p.Errorf(1, "XML and TOML are not available in this workspace: yaml and json are")
		}
	}
	args := o.Args
	if len(args) > 0 && (args[0] == "e" || args[0] == "eval" || args[0] == "ea" || args[0] == "eval-all") {
		args = args[1:]
	}
	if !j.given {
		j.query = "."
		switch {
		case len(args) > 1, len(args) == 1 && !j.isFile(args[0]):
			j.query, args = args[0], args[1:]
		}
	}
	j.files = args
	if !j.inPlace {
		return j.main()
	}
	if len(j.files) == 0 {
		return p.Errorf(1, "write in place flag only applicable when giving an expression and at least one file")
	}
	for _, name := range j.files {
		if code := j.editInPlace(name); code != 0 {
			return code
		}
	}
	return 0
}

func (j *jqRun) isFile(name string) bool {
	info, err := j.p.Stat(name)
	return err == nil && !info.IsDir()
}

// takeVariables takes --arg and --argjson with their two values out.
func (j *jqRun) takeVariables(args []string) (rest []string) {
	for len(args) > 0 {
		if (args[0] == "--arg" || args[0] == "--argjson") && len(args) > 2 {
			if problem := j.variable(args[0][2:], args[1], args[2]); problem == "" {
				args = args[3:]
				continue
			}
		}
		rest = append(rest, args[0])
		args = args[1:]
	}
	return rest
}

var errYqFailed = errors.New("the filter failed")

// editInPlace replaces a file by what the query makes of it.
func (j *jqRun) editInPlace(name string) int {
	j.files, j.code, j.any, j.yamlSep = []string{name}, 0, false, false
	err := j.p.ReplaceFile(name, func(w io.Writer) error {
		b := bufio.NewWriterSize(w, 32<<10)
		j.write.w = b
		if code := j.main(); code != 0 {
			j.code = code
			return errYqFailed
		}
		return b.Flush()
	})
	j.write.w = j.p.Out
	switch {
	case errors.Is(err, errYqFailed):
		return j.code
	case err != nil:
		return j.p.FileError(name, err)
	}
	return 0
}
