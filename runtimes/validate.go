package runtimes

import (
	"fmt"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/mcp-workspace/mcp-workspace/backends"
)

// Limits of a definition. They are far above what is reasonable, and keep what
// is sent to an engine small.
const (
	maxName     = 63
	maxPackages = 500
	maxPackage  = 200   // bytes
	maxSetup    = 100   // scripts
	maxText     = 32768 // bytes of a script or a value
)

var (
	namePattern     = regexp.MustCompile(`^[a-z0-9]+([._-][a-z0-9]+)*$`)
	imagePattern    = regexp.MustCompile(`^([A-Za-z0-9][A-Za-z0-9.-]*(:[0-9]+)?/)?[a-z0-9]+([._-]+[a-z0-9]+)*(/[a-z0-9]+([._-]+[a-z0-9]+)*)*(:[A-Za-z0-9_][A-Za-z0-9_.-]{0,127})?(@sha256:[0-9a-f]{64})?$`)
	variablePattern = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)
	dirPattern      = regexp.MustCompile(`^(/[A-Za-z0-9._@+-]+)+$`)
	userPattern     = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9_.-]*(:[A-Za-z0-9_][A-Za-z0-9_.-]*)?$`)
	networkPattern  = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_.:-]{0,127}$`)
)

// manager is a package manager: what it accepts, and how it is run.
type manager struct {
	key     string
	list    func(*Packages) *[]string
	pattern *regexp.Regexp
	example string
	script  string // run with the packages as "$@"
}

// A package is a name and perhaps a version. Everything else that a manager
// would take there (a path, an address, an option) is left to setup scripts.
var (
	aptPattern   = regexp.MustCompile(`^[a-z0-9][a-z0-9+.-]+(:[a-z0-9-]+)?(=[A-Za-z0-9.+:~-]+|/[a-z0-9-]+)?$`)
	apkPattern   = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._+-]*((=|<|<=|>|>=|~|=~)[A-Za-z0-9._-]+)?(@[A-Za-z0-9_-]+)?$`)
	pipPattern   = regexp.MustCompile(`^[A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9])?(\[[A-Za-z0-9._-]+(,[A-Za-z0-9._-]+)*\])?((===?|~=|!=|<=?|>=?)[A-Za-z0-9.*+!_-]+(,(===?|~=|!=|<=?|>=?)[A-Za-z0-9.*+!_-]+)*)?$`)
	npmPattern   = regexp.MustCompile(`^(@[A-Za-z0-9~][A-Za-z0-9._~-]*/)?[A-Za-z0-9~][A-Za-z0-9._~-]*(@[A-Za-z0-9^~<>=*][A-Za-z0-9^~<>=*.+-]*)?$`)
	cargoPattern = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_-]*(@[0-9A-Za-z^~=<>*][0-9A-Za-z.^~=<>*+-]*)?$`)
)

// fieldError is a mistake in one field of a definition.
type fieldError struct {
	path    []string // of keys; an item of a list is "#" and its index
	message string
}

func (e *fieldError) Error() string {
	var at []string
	for _, key := range e.path {
		if !strings.HasPrefix(key, "#") {
			at = append(at, key)
		}
	}
	return strings.Join(append(at, e.message), ": ")
}

func wrong(path []string, format string, args ...any) *fieldError {
	return &fieldError{path, fmt.Sprintf(format, args...)}
}

func item(i int) string { return fmt.Sprintf("#%d", i) }

// Validate says what is wrong with the definition. The error has
// CodeInvalidArgument.
func (r *Runtime) Validate() error {
	if e := r.check(); e != nil {
		return backends.Errorf(backends.CodeInvalidArgument, "runtime", "", "runtime %q: %v", r.Name, e)
	}
	return nil
}

func (r *Runtime) check() *fieldError {
	for _, check := range []func() *fieldError{r.checkName, r.checkImages, r.checkPackages, r.checkSetup, r.checkVariables, r.checkRest} {
		if e := check(); e != nil {
			return e
		}
	}
	return nil
}

func (r *Runtime) checkName() *fieldError {
	if len(r.Name) > maxName || !namePattern.MatchString(r.Name) {
		return wrong(nil, "%q cannot be the name of a runtime; use at most %d lower-case letters and digits, with single \".\", \"_\" or \"-\" between them", r.Name, maxName)
	}
	return nil
}

func (r *Runtime) checkImages() *fieldError {
	switch {
	case r.Image == "" && r.Base == "":
		return wrong(nil, "it needs an image to use as it is, or a base to build on")
	case r.Image != "" && r.Base != "":
		return wrong([]string{"base"}, "there is an image as well; give the image to use as it is, or the base to build on")
	case r.Image != "" && !imagePattern.MatchString(r.Image):
		return wrong([]string{"image"}, "%q is no image; write it as \"name:tag\", such as %q", r.Image, pythonImage)
	case r.Base != "" && !imagePattern.MatchString(r.Base):
		return wrong([]string{"base"}, "%q is no image; write it as \"name:tag\", such as %q", r.Base, pythonImage)
	case r.Base != "":
		return nil
	}
	for _, m := range managers {
		if len(*m.list(&r.Packages)) > 0 {
			return wrong([]string{"packages"}, "an image is used as it is; to add packages write \"base\" in place of \"image\"")
		}
	}
	switch {
	case len(r.Setup) > 0:
		return wrong([]string{"setup"}, "an image is used as it is; to run setup commands write \"base\" in place of \"image\"")
	case len(r.BuildArgs) > 0:
		return wrong([]string{"build_args"}, "an image is used as it is and not built; remove them")
	case r.BuildNetwork != "":
		return wrong([]string{"build_network"}, "an image is used as it is and not built; remove it")
	}
	return nil
}

func (r *Runtime) checkPackages() *fieldError {
	for _, m := range managers {
		list := *m.list(&r.Packages)
		at := []string{"packages", m.key}
		if len(list) > maxPackages {
			return wrong(at, "there are %d; at most %d can be installed", len(list), maxPackages)
		}
		for i, p := range list {
			at := append(slices.Clone(at), item(i))
			switch {
			case len(p) > maxPackage || !m.pattern.MatchString(p):
				return wrong(at, "%s is no package of %s; write a name, or a name and a version without blanks, such as %s; anything else can be installed by a setup command", quoted(p), m.key, m.example)
			case m.key == "apt" && strings.HasSuffix(p, "-"):
				return wrong(at, "%q ends in \"-\", which makes apt remove a package; write its name alone", p)
			}
		}
	}
	return nil
}

func (r *Runtime) checkSetup() *fieldError {
	if len(r.Setup) > maxSetup {
		return wrong([]string{"setup"}, "there are %d commands; at most %d can be run", len(r.Setup), maxSetup)
	}
	for i, script := range r.Setup {
		at := []string{"setup", item(i)}
		switch {
		case strings.TrimSpace(script) == "":
			return wrong(at, "command %d is empty; write one, or remove it", i+1)
		case len(script) > maxText:
			return wrong(at, "command %d has %d bytes; at most %d are possible", i+1, len(script), maxText)
		case !utf8.ValidString(script) || strings.ContainsRune(script, 0):
			return wrong(at, "command %d is not text: it has a NUL or bytes that are not UTF-8", i+1)
		}
	}
	return nil
}

func (r *Runtime) checkVariables() *fieldError {
	if e := checkVariables("env", r.Env); e != nil {
		return e
	}
	if e := checkVariables("build_args", r.BuildArgs); e != nil {
		return e
	}
	for _, name := range slices.Sorted(maps.Keys(r.BuildArgs)) {
		if _, both := r.Env[name]; both {
			return wrong([]string{"build_args", name}, "it is in env as well, which would hide it; keep it in one of them: env stays in the image, build_args do not")
		}
	}
	return nil
}

// checkVariables holds the names and values of variables against what a
// Dockerfile can carry.
func checkVariables(field string, variables map[string]string) *fieldError {
	for _, name := range slices.Sorted(maps.Keys(variables)) {
		value, at := variables[name], []string{field, name}
		switch {
		case !variablePattern.MatchString(name):
			return wrong([]string{field}, "%s cannot be the name of a variable; use letters, digits and \"_\"", quoted(name))
		case len(value) > maxText:
			return wrong(at, "the value has %d bytes; at most %d are possible", len(value), maxText)
		case !utf8.ValidString(value) || strings.ContainsFunc(value, isControl):
			return wrong(at, "the value has a line break, another control character, or bytes that are not UTF-8, which an image cannot carry; remove them")
		}
	}
	return nil
}

// isControl is true of what could end a line of a Dockerfile, or is not text.
func isControl(c rune) bool {
	return c != '\t' && (unicode.IsControl(c) || c == '\u2028' || c == '\u2029')
}

func (r *Runtime) checkRest() *fieldError {
	if r.WorkingDir != "" && (!dirPattern.MatchString(r.WorkingDir) || path.Clean(r.WorkingDir) != r.WorkingDir) {
		return wrong([]string{"working_dir"}, "%s must be an absolute path below /, such as %q, of letters, digits and \"._@+-\", without \"..\"", quoted(r.WorkingDir), DefaultWorkingDir)
	}
	if e := checkNetwork(r.BuildNetwork); e != nil {
		return wrong([]string{"build_network"}, "%s", e.message)
	}
	if len(r.Description) > maxText || !utf8.ValidString(r.Description) || strings.ContainsFunc(r.Description, isControl) {
		return wrong([]string{"description"}, "it must be one line of text")
	}
	return nil
}

func checkNetwork(network string) *fieldError {
	if network != "" && !networkPattern.MatchString(network) {
		return wrong(nil, "%s is no network; write host, none, or the name of one", quoted(network))
	}
	return nil
}

// quoted is s for a message, which stays short.
func quoted(s string) string {
	const most = 80
	if len(s) > most {
		return fmt.Sprintf("%q…", strings.ToValidUTF8(s[:most], ""))
	}
	return fmt.Sprintf("%q", s)
}
