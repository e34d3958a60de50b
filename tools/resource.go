package tools

import (
	"context"
	"encoding/json"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"
)

// currentURI is the resource that describes the connection's workspace.
const currentURI = "workspace://current"

// current is that description.
type current struct {
	Ref        string `json:"ref,omitempty"` // none before first use
	Backend    string `json:"backend"`
	WorkingDir string `json:"working_dir,omitempty"`
	Ruleset    string `json:"ruleset"`
}

func (s *toolset) addResource(srv *server.MCPServer) {
	res := mcp.NewResource(currentURI, "Current workspace",
		mcp.WithResourceDescription("The workspace of this connection: its ref, backend, working directory and ruleset. It has a ref once a tool has used it."),
		mcp.WithMIMEType("application/json"))
	srv.AddResource(res, func(ctx context.Context, _ mcp.ReadResourceRequest) ([]mcp.ResourceContents, error) {
		conn, err := s.Connection(ctx)
		if err != nil {
			return nil, err
		}
		d := current{Backend: conn.Backend(), Ref: conn.Ref(), Ruleset: s.Rules.Name}
		if d.Ref != "" {
			ws, err := conn.Workspace(ctx)
			if err != nil {
				return nil, err
			}
			d.WorkingDir = ws.WorkingDir()
		}
		text, err := json.MarshalIndent(d, "", "  ")
		if err != nil {
			return nil, err
		}
		return []mcp.ResourceContents{mcp.TextResourceContents{URI: currentURI, MIMEType: "application/json", Text: string(text)}}, nil
	})
}
