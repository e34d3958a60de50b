package tools

import (
	"github.com/mcp-workspace/mcp-workspace/backends"
	"github.com/mcp-workspace/mcp-workspace/permissions"
)

// access holds every file that a command reads or writes against the rules for
// paths, where the workspace sees it do so. What the text of the command has
// shown has been decided before; this is for what it hides.
//
// A path that only a default would have asked about passes: whoever allowed the
// command, or was asked about it, allowed it to work. One that a rule asks about
// needs the command to have been approved by the person.
func (c *call) access(command string) func(op, path string) error {
	approved := false
	for _, op := range permissions.Operations() {
		key := approvalKey(op, command)
		approved = approved || c.grant != nil && c.grant(key) || c.conn.isApproved(key)
	}
	return func(op, path string) error {
		operation := permissions.Read
		if op == "write" {
			operation = permissions.Write
		}
		d := c.set.Rules.Path(operation, path, "")
		switch {
		case d.Action == permissions.Deny:
			return c.denied(d)
		case d.Action == permissions.Ask && d.Rule != nil && !approved:
			return backends.Errorf(codeApprovalRequired, "execute", "",
				"%s needs a person's approval (%s); name the path in the command, so that it can be asked about", subject(d), d.Why)
		}
		return nil
	}
}
