package runtimes

import (
	"archive/tar"
	"bytes"
	"cmp"
	"encoding/json"
	"io"
	"maps"
	"slices"
	"strings"
	"time"
)

// defaultPath is the PATH of a base image that has none.
const defaultPath = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

// predefinedArgs are build arguments that every builder knows without an ARG,
// and keeps out of the image's history unless there is one: a proxy's address
// may hold a password.
var predefinedArgs = []string{
	"HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "https_proxy",
	"FTP_PROXY", "ftp_proxy", "NO_PROXY", "no_proxy",
}

// instruction is one line of a Dockerfile, and what it is for people.
type instruction struct{ text, what string }

// dockerfile is the build of a runtime, for builders as old as that of Docker
// Engine 20.10. What changes from runtime to runtime comes late, so that
// layers are shared. It counts on a definition that was checked: an image, a
// directory and a variable's name stand in it as they are, everything else is
// quoted. User is that of the base image, "" for root.
func (r *Runtime) dockerfile(args map[string]string, user string) []instruction {
	out := []instruction{{"FROM " + r.Base, "taking the base image " + r.Base}}
	add := func(what, text string) { out = append(out, instruction{text, what}) }

	for _, name := range slices.Sorted(maps.Keys(args)) {
		if _, hidden := r.Env[name]; !hidden && !slices.Contains(predefinedArgs, name) {
			add("setting the build argument "+name, "ARG "+name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(r.Env)) {
		add("setting the variable "+name, "ENV "+name+"="+dockerQuote(r.Env[name]))
	}
	install := func(m manager) {
		if list := *m.list(&r.Packages); len(list) > 0 {
			add("installing its "+m.key+" packages", run(m.script, append([]string{m.key}, list...)...))
		}
	}
	for _, m := range managers {
		if m.key != npmKey {
			install(m)
		}
	}
	if user != "" {
		// One that WORKDIR makes is root's for some builders, and what follows
		// runs as the user. This needs no program of the image. Builders would
		// take a group that is not given to be of the user's name.
		owner, group, _ := strings.Cut(user, ":")
		add("making its working directory for the user "+user, "COPY --chown="+owner+":"+cmp.Or(group, "0")+" "+emptyDir+" "+r.Dir()+"/")
	}
	add("setting its working directory", "WORKDIR "+r.Dir())
	for _, m := range managers {
		if m.key == npmKey {
			install(m)
		}
	}
	if _, own := r.Env["PATH"]; !own && len(r.Packages.Npm) > 0 {
		add("setting the variable PATH", `ENV PATH="`+r.Dir()+"/node_modules/.bin:${PATH:-"+defaultPath+`}"`)
	}
	for _, script := range r.Setup {
		add("running its setup command "+firstLine(script), run(script))
	}
	return out
}

// run is a RUN of a shell script with arguments, the first of which is $0. In
// this form no builder looks into the words. Errors go where the output goes,
// because engines carry the two apart and lose their order.
func run(script string, args ...string) string {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false) // people read it in the history of the image
	if err := e.Encode(append([]string{"/bin/sh", "-ec", "exec 2>&1\n" + script}, args...)); err != nil {
		panic(err) // strings can be encoded
	}
	return "RUN " + strings.TrimSuffix(b.String(), "\n")
}

// dockerQuote is s as a word of a Dockerfile that stands for s and nothing
// else.
func dockerQuote(s string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, `$`, `\$`).Replace(s) + `"`
}

// firstLine is the beginning of a script, for people.
func firstLine(script string) string {
	line, rest, _ := strings.Cut(strings.TrimSpace(script), "\n")
	if strings.TrimSpace(rest) != "" {
		line += " …"
	}
	return quoted(line)
}

// text is the Dockerfile of instructions.
func text(instructions []instruction) string {
	var b strings.Builder
	for _, i := range instructions {
		b.WriteString(i.text)
		b.WriteByte('\n')
	}
	return b.String()
}

// emptyDir is a directory in the build context.
const emptyDir = "empty/"

// archive is a tar with a Dockerfile, the same for the same text.
func archive(dockerfile string) (io.Reader, error) {
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	if err := w.WriteHeader(&tar.Header{Name: "Dockerfile", Mode: 0o644, Size: int64(len(dockerfile)), ModTime: time.Unix(0, 0)}); err != nil {
		return nil, err
	}
	if _, err := io.WriteString(w, dockerfile); err != nil {
		return nil, err
	}
	if err := w.WriteHeader(&tar.Header{Name: emptyDir, Typeflag: tar.TypeDir, Mode: 0o755, ModTime: time.Unix(0, 0)}); err != nil {
		return nil, err
	}
	return &b, w.Close()
}
