// Package config fills a command's flags from where else they can be set: the
// environment and a YAML file. A flag beats the environment, which beats the
// file, which beats the default. A name that means nothing, or a value that
// does not parse, is an error of one line that says where it stands and what
// to write instead.
package config

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/spf13/pflag"
)

// Source is where a setting came from, from the weakest to the strongest.
type Source int

// The sources.
const (
	Default Source = iota
	File
	Env
	Flag
)

// Settings tells where each flag's value came from.
type Settings struct {
	sources map[string]Source
	places  map[string]string
	file    string // that was read, absolute, or ""
}

// Source is where the value of the flag came from.
func (s *Settings) Source(name string) Source { return s.sources[name] }

// Place names where the value of the flag, or the section, stands, for
// messages: "--root", "MCP_WORKSPACE_ROOT", "/home/u/x.yaml:3: root".
func (s *Settings) Place(name string) string {
	if p := s.places[name]; p != "" {
		return p
	}
	return "--" + name
}

// PlaceAt is where a line of a section stands: "/home/u/x.yaml:7: limits".
func (s *Settings) PlaceAt(section string, line int) string {
	return fmt.Sprintf("%s:%d: %s", printable(s.file), line, printable(section))
}

// Dir is the directory of the file that was read, absolute, or "".
func (s *Settings) Dir() string {
	if s.file == "" {
		return ""
	}
	return filepath.Dir(s.file)
}

// Abs makes a path that stands in the value of the flag absolute: in the file
// it counts from the file's directory, elsewhere from the current one. "~" is
// the home directory everywhere, because a shell fills it in only where it is
// at the start of a word, and a file or a client never.
func (s *Settings) Abs(name, path string) (string, error) {
	switch {
	case filepath.IsAbs(path):
		return path, nil
	case path == "~" || strings.HasPrefix(path, "~/"):
		home, err := os.UserHomeDir()
		if err != nil {
			return "", fmt.Errorf("%s names %q, but no home directory is known (%w); write an absolute path", s.Place(name), path, err)
		}
		return filepath.Join(home, path[1:]), nil
	case s.Source(name) == File:
		return filepath.Join(filepath.Dir(s.file), path), nil
	}
	abs, err := filepath.Abs(path)
	if err != nil {
		return "", fmt.Errorf("%s names %q, but the current directory is not known (%w); write an absolute path", s.Place(name), path, err)
	}
	return abs, nil
}

// Sections are the keys of the file that are no flags: each with what its
// content is decoded into.
type Sections map[string]any

// Ignored is a section whose content is another command's: neither the file nor
// the environment is wrong to have it.
type Ignored struct{}

// Load fills the flags that were not given. The file is that of the flag
// "config", of the variable MCP_WORKSPACE_CONFIG, or the user's own, which may
// be missing. No error has more than one line.
func Load(flags *pflag.FlagSet, environ []string, sections Sections) (*Settings, error) {
	s := &Settings{sources: map[string]Source{}, places: map[string]string{}}
	flags.VisitAll(func(f *pflag.Flag) {
		if f.Changed {
			s.sources[f.Name] = Flag
		}
	})
	if err := s.fromEnv(flags, environ, sections); err != nil {
		return nil, err
	}
	if err := s.fromFile(flags, sections); err != nil {
		return nil, err
	}
	return s, nil
}

// settable are the names of the flags that the environment can set, and the
// file except for "config".
func settable(flags *pflag.FlagSet) []string {
	var names []string
	flags.VisitAll(func(f *pflag.Flag) {
		if f.Name != "help" && f.Name != "version" {
			names = append(names, f.Name)
		}
	})
	return names
}

// setFlag gives f its value, or values. A flag keeps no default beside them.
func setFlag(f *pflag.Flag, values []string) error {
	if list, ok := f.Value.(pflag.SliceValue); ok {
		if err := list.Replace(nil); err != nil {
			return err
		}
		for _, v := range values {
			if err := f.Value.Set(v); err != nil {
				return err
			}
		}
		return nil
	}
	err := f.Value.Set(values[0])
	if err != nil && f.Value.Type() == "bool" {
		return errors.New("it takes true or false")
	}
	return err
}

// printable is s on one line, in quotes if it must be.
func printable(s string) string {
	if q := strconv.Quote(s); q != `"`+s+`"` {
		return q
	}
	return s
}
