package config

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"github.com/mcp-workspace/mcp-workspace/internal/suggest"
)

// EnvPrefix begins the names of the environment variables that are read.
const EnvPrefix = "MCP_WORKSPACE_"

func envName(flag string) string {
	return EnvPrefix + strings.ToUpper(strings.ReplaceAll(flag, "-", "_"))
}

// fromEnv reads the environment variables that begin with EnvPrefix.
func (s *Settings) fromEnv(flags *pflag.FlagSet, environ []string, sections Sections) error {
	byEnv := map[string]string{}
	for _, name := range settable(flags) {
		byEnv[envName(name)] = name
	}
	others := map[string]bool{}
	for name, target := range sections {
		_, ignored := target.(Ignored)
		others[envName(name)] = ignored
	}
	for _, kv := range environ {
		key, value, _ := strings.Cut(kv, "=")
		if !strings.HasPrefix(key, EnvPrefix) || others[key] {
			continue
		}
		name, ok := byEnv[key]
		if !ok {
			hint := suggest.DidYouMean(key, slices.Sorted(maps.Keys(byEnv)))
			return fmt.Errorf("the environment variable %s is no setting%s; unset it, or see mcp-workspace --help for what there is", printable(key), hint)
		}
		if s.sources[name] == Flag {
			continue
		}
		f := flags.Lookup(name)
		if err := setFlag(f, envValues(f, value)); err != nil {
			return fmt.Errorf("the environment variable %s is %q: %w", key, value, err)
		}
		s.sources[name], s.places[name] = Env, key
	}
	return nil
}

// envValues takes apart the value of a flag that can be repeated: one value a
// line, so that each may contain anything else.
func envValues(f *pflag.Flag, value string) []string {
	if _, ok := f.Value.(pflag.SliceValue); !ok {
		return []string{value}
	}
	return strings.FieldsFunc(value, func(r rune) bool { return r == '\n' || r == '\r' })
}
