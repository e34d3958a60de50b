package tools

import (
	"maps"

	"github.com/mark3labs/mcp-go/mcp"
)

// workspaceArgument names a workspace by its ref; see Options.WorkspaceArgument.
const workspaceArgument = "workspace"

const workspaceArgumentText = "Ref of another workspace to work in, as earlier results have it; leave it out for your own."

// Asked is which workspace a request asks for in its body. All of it empty
// leaves the choice to the server.
type Asked struct {
	Ref     string // of a workspace that exists: the tool's argument, or _meta "mcp-workspace/ref"
	Name    string // get or create: _meta "mcp-workspace/name"
	Image   string // of a new one: _meta "mcp-workspace/image"
	Runtime string // of a new one, by name: _meta "mcp-workspace/runtime"
}

// askedIn reads what _meta asks for.
func askedIn(meta *mcp.Meta) (asked Asked, err error) {
	if meta == nil {
		return asked, nil
	}
	for name, field := range map[string]*string{"ref": &asked.Ref, "name": &asked.Name, "image": &asked.Image, "runtime": &asked.Runtime} {
		value, given := meta.AdditionalFields[metaPrefix+name]
		if !given || value == nil {
			continue
		}
		s, ok := value.(string)
		if !ok {
			return asked, invalid("%q in _meta takes a string, not %s", metaPrefix+name, jsonKind(value))
		}
		*field = s
	}
	return asked, nil
}

// ask finds out which workspace the call asks for, and returns the arguments
// that are the tool's own.
func (c *call) ask() (arguments any, err error) {
	arguments = c.req.Params.Arguments
	if c.asked, err = askedIn(c.req.Params.Meta); err != nil || !c.set.WorkspaceArgument {
		return arguments, err
	}
	given, ok := arguments.(map[string]any)
	value, present := given[workspaceArgument]
	if !ok || !present {
		return arguments, nil
	}
	given = maps.Clone(given)
	delete(given, workspaceArgument)
	if value == nil {
		return given, nil
	}
	ref, ok := value.(string)
	switch {
	case !ok:
		return nil, invalid("the argument %q takes a string, not %s", workspaceArgument, jsonKind(value))
	case ref == "":
		return given, nil
	case c.asked.Ref != "" && c.asked.Ref != ref:
		return nil, invalid("the argument %q is %q, but _meta names %q; give one of them", workspaceArgument, ref, c.asked.Ref)
	}
	c.asked.Ref = ref
	return given, nil
}
