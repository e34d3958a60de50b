package pull

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/distribution/reference"
	"github.com/docker/cli/cli/config/configfile"
	"github.com/docker/cli/cli/config/credentials"
	"github.com/docker/cli/cli/config/types"
	helpers "github.com/docker/docker-credential-helpers/client"
	helpererrors "github.com/docker/docker-credential-helpers/credentials"

	"github.com/mcp-workspace/mcp-workspace/backends/docker/address"
)

// Credentials says where the registry credentials of a user are: in the
// environment variable DOCKER_AUTH_CONFIG, else in config.json of
// DOCKER_CONFIG (or ~/.docker): from the helper that credHelpers names for the
// registry, else from credsStore's, else from auths. A helper is the program
// docker-credential-NAME, found by [address.Program] and given 30 s.
type Credentials struct {
	Env  []string // as os.Environ has it
	Home string   // the user's home directory; may be ""
}

// hubKey is the name under which the credentials of the public hub are kept.
const hubKey = "https://index.docker.io/v1/"

// helperLimit bounds a helper, which may be waiting for somebody at a dialog.
const helperLimit = 30 * time.Second

// tokenUser is how a helper marks a secret that is an identity token.
const tokenUser = "<token>"

// found is what was found for a registry. from is "" when it is nothing, else
// the file or program, for messages.
type found struct {
	auth types.AuthConfig
	from string
}

// registryOf is the name under which credentials for an image are kept.
func registryOf(named reference.Named) string {
	if domain := reference.Domain(named); domain != "docker.io" {
		return domain
	}
	return hubKey
}

// find looks for credentials for a registry. None is no error.
func (c Credentials) find(ctx context.Context, registry string) (found, error) {
	first, broken := c.fromEnvironment(registry)
	if first.from != "" {
		return first, nil
	}
	second, err := c.fromConfiguration(ctx, registry)
	if second.from != "" {
		return second, nil
	}
	return found{}, errors.Join(broken, err)
}

func (c Credentials) fromEnvironment(registry string) (found, error) {
	text := c.get("DOCKER_AUTH_CONFIG")
	if text == "" {
		return found{}, nil
	}
	config, err := parse(strings.NewReader(text), "")
	if err != nil {
		return found{}, fmt.Errorf("the environment variable DOCKER_AUTH_CONFIG is not valid: %w", err)
	}
	return fromAuths(config, registry, "DOCKER_AUTH_CONFIG")
}

func (c Credentials) fromConfiguration(ctx context.Context, registry string) (found, error) {
	dir := c.get("DOCKER_CONFIG")
	if dir == "" {
		if c.Home == "" {
			return found{}, nil
		}
		dir = filepath.Join(c.Home, ".docker")
	}
	path := filepath.Join(dir, "config.json")
	file, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return found{}, nil
	}
	if err != nil {
		return found{}, fmt.Errorf("the docker configuration cannot be read: %w", err)
	}
	defer file.Close()
	config, err := parse(file, path)
	if err != nil {
		return found{}, fmt.Errorf("the docker configuration %s is not valid: %w", path, err)
	}

	helper := config.CredentialHelpers[registry]
	if helper == "" {
		helper = config.CredentialsStore
	}
	if helper != "" {
		auth, err := c.ask(ctx, helper, registry)
		if err != nil {
			return found{}, fmt.Errorf("the credential helper that %s names failed: %w", path, err)
		}
		if usable(auth) {
			return found{auth: auth, from: "docker-credential-" + helper}, nil
		}
		return found{}, nil
	}
	return fromAuths(config, registry, path)
}

// fromAuths looks into the auths of a configuration, under old kinds of keys
// too.
func fromAuths(config *configfile.ConfigFile, registry, from string) (found, error) {
	auth, err := credentials.NewFileStore(config).Get(registry)
	if err != nil {
		return found{}, fmt.Errorf("auths of %s: %w", from, err)
	}
	if !usable(auth) {
		return found{}, nil
	}
	return found{auth: auth, from: from}, nil
}

func parse(r io.Reader, path string) (*configfile.ConfigFile, error) {
	config := configfile.New(path)
	if err := config.LoadFromReader(r); err != nil {
		return nil, err
	}
	return config, nil
}

func usable(auth types.AuthConfig) bool {
	return auth.Username != "" || auth.Password != "" || auth.IdentityToken != "" || auth.RegistryToken != ""
}

// get returns a variable of the environment; the last setting counts.
func (c Credentials) get(name string) string {
	var value string
	for _, entry := range c.Env {
		if key, v, ok := strings.Cut(entry, "="); ok && key == name {
			value = v
		}
	}
	return value
}

// ask runs a credential helper. A helper that knows nothing of the registry is
// no error.
func (c Credentials) ask(ctx context.Context, helper, registry string) (types.AuthConfig, error) {
	name := "docker-credential-" + helper
	path := address.Program(name, c.Env, c.Home)
	if path == "" {
		return types.AuthConfig{}, fmt.Errorf("there is no program %s in PATH or the usual directories: install it, or remove %q from the docker configuration", name, helper)
	}
	ctx, cancel := context.WithTimeout(ctx, helperLimit)
	defer cancel()
	program := &helperProgram{ctx: ctx, path: path, env: append(
		append([]string{}, c.Env...), "PATH="+address.ProgramPath(c.Env, c.Home))}
	answer, err := helpers.Get(func(args ...string) helpers.Program {
		program.args = args
		return program
	}, registry)
	switch {
	case helpererrors.IsErrCredentialsNotFound(err):
		return types.AuthConfig{}, nil
	case ctx.Err() != nil && err != nil:
		return types.AuthConfig{}, fmt.Errorf("%s did not answer within %s: %w", path, helperLimit, ctx.Err())
	case err != nil:
		return types.AuthConfig{}, fmt.Errorf("%s: %w%s", path, err, program.said())
	case answer.Username == tokenUser:
		return types.AuthConfig{IdentityToken: answer.Secret}, nil
	default:
		return types.AuthConfig{Username: answer.Username, Password: answer.Secret}, nil
	}
}

// helperProgram runs a credential helper once.
type helperProgram struct {
	ctx   context.Context //nolint:containedctx // helpers.Program has no parameter for it
	path  string
	args  []string
	env   []string
	input io.Reader
	errs  bytes.Buffer
}

// Input is what the helper reads.
func (p *helperProgram) Input(in io.Reader) { p.input = in }

// Output runs the helper and returns what it printed.
func (p *helperProgram) Output() ([]byte, error) {
	cmd := exec.CommandContext(p.ctx, p.path, p.args...)
	cmd.Env, cmd.Dir = p.env, "/"
	cmd.Stdin, cmd.Stderr = p.input, &p.errs
	cmd.WaitDelay = time.Second // a child of the helper may hold its output open
	return cmd.Output()
}

// said is the end of what the helper printed as an error.
func (p *helperProgram) said() string {
	text := strings.TrimSpace(p.errs.String())
	if text == "" {
		return ""
	}
	const most = 300
	if len(text) > most {
		text = "…" + strings.ToValidUTF8(text[len(text)-most:], "")
	}
	return " (" + text + ")"
}
