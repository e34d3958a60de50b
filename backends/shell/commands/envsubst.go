package commands

import (
	"io"
	"regexp"
)

var envsubstOptions = NewOptions(1, "v variables")

// envReference is $NAME or ${NAME}; what else a shell knows is left alone.
var envReference = regexp.MustCompile(`\$(?:([A-Za-z_][A-Za-z0-9_]*)|\{([A-Za-z_][A-Za-z0-9_]*)\})`)

// envsubst replaces references to variables in its input.
func envsubst(p *Proc) int {
	o, code := p.Parse(envsubstOptions)
	if o == nil {
		return code
	}
	switch {
	case len(o.Args) > 1:
		return p.Errorf(1, "too many arguments")
	case o.Has("v") && len(o.Args) == 0:
		return p.Errorf(1, "missing arguments")
	}
	var only map[string]bool
	for _, format := range o.Args {
		only = map[string]bool{}
		for _, m := range envReference.FindAllStringSubmatch(format, -1) {
			only[m[1]+m[2]] = true
			if o.Has("v") {
				p.Out.WriteString(m[1] + m[2] + "\n")
			}
		}
	}
	if o.Has("v") {
		return 0
	}
	return p.Inputs(nil, func(_ string, r io.Reader) (int, error) {
		lines := p.Lines(r, '\n')
		defer lines.Close()
		for lines.Next() {
			line := lines.Bytes()
			at := 0
			for _, m := range envReference.FindAllSubmatchIndex(line, -1) {
				first, last := m[2], m[3]
				if first < 0 {
					first, last = m[4], m[5]
				}
				name := string(line[first:last])
				if only != nil && !only[name] {
					continue
				}
				p.Out.Write(line[at:m[0]])
				value, _ := p.Getenv(name)
				p.Out.WriteString(value)
				at = m[1]
			}
			p.Out.Write(line[at:])
			if lines.Ended() {
				p.Out.WriteByte('\n')
			}
		}
		return 0, lines.Err()
	})
}
