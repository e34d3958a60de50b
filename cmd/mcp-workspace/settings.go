package main

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"go.yaml.in/yaml/v3"

	"github.com/mcp-workspace/mcp-workspace/backends"
	"github.com/mcp-workspace/mcp-workspace/internal/config"
	"github.com/mcp-workspace/mcp-workspace/internal/suggest"
	"github.com/mcp-workspace/mcp-workspace/permissions"
	"github.com/mcp-workspace/mcp-workspace/sessions"
	"github.com/mcp-workspace/mcp-workspace/tools"
)

// settings are the flags that stdio and call share.
type settings struct {
	config        string
	backend       string
	ref           string
	name          string
	permissions   string
	askFallback   string
	workingDir    string
	root          string
	env           []string
	store         string
	destroyOnExit bool
	tools         []string
	structured    bool
	profile       string
	editFormat    string
	inOrder       bool
	logLevel      string
	logFormat     string

	texts  textsByTool
	loaded *config.Settings
}

// addFlags registers the settings as flags of cmd.
func (s *settings) addFlags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.SortFlags = false
	f.StringVar(&s.config, "config", "", "YAML `file` with these settings (default mcp-workspace.yaml in your configuration directory)")
	f.StringVar(&s.backend, "backend", "state", "where the workspace is: "+strings.Join(backendNames(), ", "))
	f.StringVar(&s.ref, "ref", "", "attach to the workspace with this `ref`; one that is gone is an error")
	f.StringVar(&s.name, "name", "", "get or create the workspace of this `name`")
	f.StringVar(&s.permissions, "permissions", "", "preset ("+strings.Join(permissions.PresetNames(), ", ")+") or ruleset `file` (default permissive, for local default)")
	f.StringVar(&s.askFallback, "ask-fallback", string(tools.FallbackError), "what ask becomes when the client cannot be asked: deny, error")
	f.StringVar(&s.workingDir, "working-dir", "", "absolute `directory` that paths and commands start in (default /workspace, for local the root)")
	f.StringVar(&s.root, "root", "", "local: the `directory` to work in")
	f.StringArrayVar(&s.env, "env", nil, "`K=V` for every command (repeat)")
	f.StringVar(&s.store, "store", "memory", "state: where documents are kept: memory, file:DIR, sqlite:FILE, postgres://…")
	f.BoolVar(&s.destroyOnExit, "destroy-on-exit", false, "remove the workspace when the connection ends")
	f.StringSliceVar(&s.tools, "tools", nil, "the `tools` to offer (default all)")
	f.BoolVar(&s.structured, "structured", false, "structured output as well")
	f.StringVar(&s.profile, "profile", string(tools.ProfileCoding), "guidance in the tools' descriptions: coding, agent")
	f.StringVar(&s.editFormat, "edit-format", string(tools.EditByString), "how files are edited: str_replace, hashline")
	f.BoolVar(&s.inOrder, "in-order", false, "stdio: run calls one at a time in the order they arrive")
	f.StringVar(&s.logLevel, "log-level", "info", "what is logged to standard error: debug, info, warn, error")
	f.StringVar(&s.logFormat, "log-format", "text", "how: text, json")
}

// load completes the settings from the environment and the file, and refuses
// what cannot work.
func (s *settings) load(flags *pflag.FlagSet) error {
	loaded, err := config.Load(flags, os.Environ(), config.Sections{"descriptions": &s.texts})
	if err != nil {
		return err
	}
	s.loaded = loaded
	for _, c := range []struct {
		flag, value string
		allowed     []string
	}{
		{"backend", s.backend, backendNames()},
		{"ask-fallback", s.askFallback, []string{string(tools.FallbackDeny), string(tools.FallbackError)}},
		{"profile", s.profile, []string{string(tools.ProfileCoding), string(tools.ProfileAgent)}},
		{"edit-format", s.editFormat, []string{string(tools.EditByString), string(tools.EditByLine)}},
		{"log-level", s.logLevel, []string{"debug", "info", "warn", "error"}},
		{"log-format", s.logFormat, []string{"text", "json"}},
	} {
		if !slices.Contains(c.allowed, c.value) {
			return s.wrong(c.flag, "is %q%s; it takes %s", c.value, suggest.DidYouMean(c.value, c.allowed), strings.Join(c.allowed, ", "))
		}
	}
	if err := s.checkWorkspace(); err != nil {
		return err
	}
	return s.checkBackend()
}

// wrong is an error about the setting of a flag, wherever it stands.
func (s *settings) wrong(flag, format string, args ...any) error {
	return fmt.Errorf("%s "+format, append([]any{s.loaded.Place(flag)}, args...)...)
}

// given tells whether the setting of a flag was made anywhere.
func (s *settings) given(flag string) bool { return s.loaded.Source(flag) != config.Default }

func (s *settings) checkWorkspace() error {
	if s.ref != "" {
		if s.name != "" {
			return s.wrong("name", "and --ref both say which workspace to use; give one of them")
		}
		ref, err := backends.ParseRef(s.ref)
		if err != nil {
			return s.wrong("ref", "is wrong: %v", err)
		}
		if ref.Provider != s.backend {
			return s.wrong("ref", "names a workspace of %s, but the backend is %s; add --backend %s", ref.Provider, s.backend, ref.Provider)
		}
	}
	if s.name != "" {
		if err := backends.ValidName(s.name); err != nil {
			return s.wrong("name", "is wrong: %v", err)
		}
	}
	if s.workingDir != "" && !filepath.IsAbs(s.workingDir) {
		return s.wrong("working-dir", "is %q; it must be an absolute path", s.workingDir)
	}
	for _, kv := range s.env {
		if k, _, ok := strings.Cut(kv, "="); !ok || k == "" || strings.ContainsRune(kv, 0) {
			return s.wrong("env", "is %q; write it as NAME=value", kv)
		}
	}
	return nil
}

// path makes a path setting absolute: one in the file counts from the file's
// directory, any other from the current one.
func (s *settings) path(flag, value string) (string, error) {
	if filepath.IsAbs(value) {
		return value, nil
	}
	if s.loaded.Source(flag) == config.File {
		return filepath.Join(filepath.Dir(s.loaded.Path), value), nil
	}
	abs, err := filepath.Abs(value)
	if err != nil {
		return "", s.wrong(flag, "is relative, and the current directory is not known (%v); write it as an absolute path", err)
	}
	return abs, nil
}

// ruleset loads the rules in force.
func (s *settings) ruleset() (*permissions.Ruleset, error) {
	name := s.permissions
	if name == "" {
		name = registry[s.backend].ruleset
	}
	if _, preset := permissions.Preset(name); !preset && s.loaded.Source("permissions") == config.File {
		var err error
		if name, err = s.path("permissions", name); err != nil {
			return nil, err
		}
	}
	return permissions.Load(name)
}

// logger writes to standard error: standard output carries MCP.
func (s *settings) logger() *slog.Logger {
	var level slog.Level
	if err := level.UnmarshalText([]byte(s.logLevel)); err != nil {
		panic(err) // load has checked it
	}
	opts := &slog.HandlerOptions{Level: level}
	if s.logFormat == "json" {
		return slog.New(slog.NewJSONHandler(os.Stderr, opts))
	}
	return slog.New(slog.NewTextHandler(os.Stderr, opts))
}

// session opens the backend, and with it a session.
func (s *settings) session(ctx context.Context, log *slog.Logger) (backends.Backend, *sessions.Session, error) {
	backend, err := registry[s.backend].open(ctx, s, log)
	if err != nil {
		return nil, nil, err
	}
	opts := sessions.Options{Spec: backends.Spec{Name: s.name}, DestroyOnExit: s.destroyOnExit}
	if s.ref != "" {
		if opts.Ref, err = backends.ParseRef(s.ref); err != nil {
			return nil, nil, err
		}
	}
	return backend, sessions.New(backend, opts), nil
}

// textsByTool is the section "descriptions" of the configuration file: for
// each tool its description, or a mapping of description and arguments.
type textsByTool map[string]tools.Text

// UnmarshalYAML reads either form.
func (t *textsByTool) UnmarshalYAML(n *yaml.Node) error {
	var byTool map[string]yaml.Node
	if err := n.Decode(&byTool); err != nil {
		return err
	}
	*t = textsByTool{}
	for name, node := range byTool {
		var text tools.Text
		if node.Kind == yaml.ScalarNode {
			text.Description = node.Value
		} else {
			for i := 0; i+1 < len(node.Content); i += 2 {
				if k := node.Content[i]; k.Value != "description" && k.Value != "arguments" {
					return fmt.Errorf("line %d: %s: there is no %q here; it takes description and arguments", k.Line, name, k.Value)
				}
			}
			if err := node.Decode(&text); err != nil {
				return err
			}
		}
		(*t)[name] = text
	}
	return nil
}
