package tools

import (
	"context"
	"encoding/json"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"
)

// currentURI is the resource that describes the connection's workspace.
const currentURI = "workspace://current"

// current is that description.
type current struct {
	Ref        string `json:"ref,omitempty"` // none before first use
	Backend    string `json:"backend"`
	Image      string `json:"image,omitempty"` // of containers
	WorkingDir string `json:"working_dir,omitempty"`
	Ruleset    string `json:"ruleset"`
	Created    string `json:"created,omitempty"` // RFC 3339
}

func (s *toolset) addResource(srv *server.MCPServer) {
	res := mcp.NewResource(currentURI, "Current workspace",
		mcp.WithResourceDescription("The workspace of this connection: its ref, backend, working directory and ruleset. It has a ref once a tool has used it."),
		mcp.WithMIMEType("application/json"))
	srv.AddResource(res, func(ctx context.Context, req mcp.ReadResourceRequest) ([]mcp.ResourceContents, error) {
		asked, err := askedIn(req.Params.Meta)
		if err != nil {
			return nil, err
		}
		conn, done, err := s.Connection(ctx, asked)
		if err != nil {
			return nil, err
		}
		if done != nil {
			defer done()
		}
		d := current{Backend: conn.Backend(), Ref: conn.Ref(), Ruleset: s.Rules.Name}
		if d.Ref != "" {
			ws, err := conn.Workspace(ctx)
			if err != nil {
				return nil, err
			}
			d.WorkingDir = ws.WorkingDir()
			if err := conn.describe(ctx, &d); err != nil {
				return nil, err
			}
		}
		text, err := json.MarshalIndent(d, "", "  ")
		if err != nil {
			return nil, err
		}
		return []mcp.ResourceContents{mcp.TextResourceContents{URI: currentURI, MIMEType: "application/json", Text: string(text)}}, nil
	})
}

// describe adds what the backend knows of the workspace.
func (c *Connection) describe(ctx context.Context, d *current) error {
	if c.cfg.Describe == nil {
		return nil
	}
	info, err := c.cfg.Describe(ctx)
	if err != nil {
		return err
	}
	d.Image = info.Image
	if !info.Created.IsZero() {
		d.Created = info.Created.UTC().Format(time.RFC3339)
	}
	return nil
}
