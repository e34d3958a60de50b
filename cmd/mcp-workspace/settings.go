package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

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
	maxMemory     string
	destroyOnExit bool
	tools         []string
	structured    bool
	profile       string
	editFormat    string
	inOrder       bool
	logLevel      string
	logFormat     string
	containers    containerSettings

	texts  textsByTool
	serve  serveConfig
	scope  string // of containers, see docker.Config
	loaded *config.Settings
}

// addFlags registers the settings as flags of cmd.
func (s *settings) addFlags(cmd *cobra.Command) {
	flags := cmd.Flags()
	under(flags, headWorkspace, func(f *pflag.FlagSet) {
		f.StringVar(&s.backend, "backend", "state", "where the workspace is: "+strings.Join(backendNames(), ", "))
		f.StringVar(&s.ref, "ref", "", "attach to the workspace with this `ref`; one that is gone is an error")
		f.StringVar(&s.name, "name", "", "get or create the workspace of this `name`")
		f.StringVar(&s.workingDir, "working-dir", "", "absolute `directory` that paths and commands start in; \"\" is the image's own (default /workspace, for local the root)")
		f.StringVar(&s.root, "root", "", "local: the `directory` to work in")
		f.StringVar(&s.store, "store", "memory", "state: where documents are kept: memory, file:DIR, sqlite:FILE, postgres://…")
		f.StringVar(&s.maxMemory, "max-memory", "", "state: the most `memory` that all commands and documents hold together, such as 4GB; 0 is no limit (default half of the machine's)")
		f.StringArrayVar(&s.env, "env", nil, "`K=V` for every command (repeat)")
		f.BoolVar(&s.destroyOnExit, "destroy-on-exit", false, "remove the workspace when the connection ends")
	})
	under(flags, headContainers, s.containers.addFlags)
	under(flags, headAllowed, func(f *pflag.FlagSet) {
		f.StringVar(&s.permissions, "permissions", "", "preset ("+strings.Join(permissions.PresetNames(), ", ")+") or ruleset `file` (default permissive, for local default)")
		f.StringVar(&s.askFallback, "ask-fallback", string(tools.FallbackError), "what ask becomes when the client cannot be asked: deny, error")
		f.StringArrayVar(&s.tools, "tools", nil, "the `tools` to offer, separated by commas (default all)")
	})
	under(flags, headModel, func(f *pflag.FlagSet) {
		f.BoolVar(&s.structured, "structured", false, "structured output as well")
		f.StringVar(&s.profile, "profile", string(tools.ProfileCoding), "guidance in the tools' descriptions: coding, agent")
		f.StringVar(&s.editFormat, "edit-format", string(tools.EditByString), "how files are edited: str_replace, hashline")
	})
	under(flags, headOperation, func(f *pflag.FlagSet) {
		f.StringVar(&s.config, "config", "", "YAML `file` with these settings (default mcp-workspace.yaml in your configuration directory)")
		f.BoolVar(&s.inOrder, "in-order", false, "stdio: run calls one at a time in the order they arrive")
		f.StringVar(&s.logLevel, "log-level", "info", "what is logged to standard error: debug, info, warn, error")
		f.StringVar(&s.logFormat, "log-format", "text", "how: text, json")
	})
}

// load completes the settings from the environment and the file, and refuses
// what cannot work.
func (s *settings) load(flags *pflag.FlagSet) error {
	if err := s.read(flags); err != nil {
		return err
	}
	return s.checkBackend()
}

// loadForAny is load for what can be done with any backend: settings that are
// for one are let pass as long as none has been chosen.
func (s *settings) loadForAny(flags *pflag.FlagSet) error {
	if err := s.read(flags); err != nil || !s.given("backend") {
		return err
	}
	return s.checkBackend()
}

// read completes the settings, and checks those that mean the same everywhere.
func (s *settings) read(flags *pflag.FlagSet) error {
	sections := config.Sections{descriptions: &s.texts}
	maps.Copy(sections, s.containers.runtimes.Sections())
	maps.Copy(sections, s.serve.sections())
	maps.Copy(sections, serveOnly(flags))
	loaded, err := config.Load(flags, os.Environ(), sections)
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
	for _, check := range []func() error{s.checkTools, s.checkWorkspace} {
		if err := check(); err != nil {
			return err
		}
	}
	return nil
}

// checkTools takes apart the list of tools.
func (s *settings) checkTools() error {
	known := tools.Names(tools.EditFormat(s.editFormat))
	separator := func(r rune) bool { return r == ',' || unicode.IsSpace(r) }
	s.tools = strings.FieldsFunc(strings.Join(s.tools, ","), separator)
	for _, name := range s.tools {
		if !slices.Contains(known, name) {
			return s.wrong("tools", "names %q, which is no tool%s; the tools are %s", name, suggest.DidYouMean(name, known), strings.Join(known, ", "))
		}
	}
	return nil
}

// wrong is an error about the setting of a flag, wherever it stands.
func (s *settings) wrong(flag, format string, args ...any) error {
	return fmt.Errorf("%s "+format, append([]any{s.loaded.Place(flag)}, args...)...)
}

// given tells whether the setting of a flag was made anywhere.
func (s *settings) given(flag string) bool { return s.loaded.Source(flag) != config.Default }

func (s *settings) checkWorkspace() error {
	if s.given("ref") {
		if s.name != "" {
			return s.wrong("name", "and --ref both say which workspace to use; give one of them")
		}
		ref, err := backends.ParseRef(s.ref)
		if err != nil {
			return s.wrong("ref", "is wrong: %v", err)
		}
		if s.loaded.Source("backend") == config.Default && slices.Contains(backendNames(), ref.Provider) {
			s.backend = ref.Provider // which the ref says
		}
		if ref.Provider != s.backend {
			return s.wrong("ref", "names a workspace of %s, but the backend is %s; add --backend %s", ref.Provider, s.backend, ref.Provider)
		}
	}
	if s.given("name") {
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

// ruleset loads the rules in force.
func (s *settings) ruleset() (*permissions.Ruleset, error) {
	name := s.permissions
	if name == "" {
		name = registry[s.backend].ruleset
	}
	if rules, preset := permissions.Preset(name); preset {
		if registry[s.backend].sandbox {
			rules = rules.Sandboxed()
		}
		return s.readAlike(rules), nil
	}
	file, err := s.loaded.Abs("permissions", name)
	if err != nil {
		return nil, err
	}
	if _, err := os.Stat(file); errors.Is(err, fs.ErrNotExist) {
		presets := permissions.PresetNames()
		return nil, s.wrong("permissions", "is %q, which is no preset, and there is no file %s%s; the presets are %s",
			name, file, suggest.DidYouMean(name, presets), strings.Join(presets, ", "))
	}
	rules, err := permissions.Load(file)
	if err != nil {
		return nil, err
	}
	return s.readAlike(rules), nil
}

// readAlike tells rules whether the backend's shell reads commands as they do.
func (s *settings) readAlike(rules *permissions.Ruleset) *permissions.Ruleset {
	if registry[s.backend].ownShell {
		return rules.ReadAlike()
	}
	return rules
}

// logger writes to standard error: standard output carries MCP.
func (s *settings) logger() *slog.Logger {
	var level slog.Level
	if err := level.UnmarshalText([]byte(s.logLevel)); err != nil {
		panic(err) // load has checked it
	}
	opts := &slog.HandlerOptions{Level: level}
	if s.logFormat == "json" {
		return slog.New(requestLog{slog.NewJSONHandler(os.Stderr, opts)})
	}
	return slog.New(requestLog{slog.NewTextHandler(os.Stderr, opts)})
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
