package address

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	dockercontext "github.com/docker/cli/cli/context"
	"github.com/docker/cli/cli/context/docker"
	"github.com/docker/cli/cli/context/store"
	"github.com/opencontainers/go-digest"

	"github.com/mcp-workspace/mcp-workspace/backends"
)

// withContext is a with the endpoint of a docker context. from is the setting
// that named it.
func (a Address) withContext(e environment, dir, name, from string) (Address, error) {
	a.source = `the docker context "` + name + `" (` + from + ")"
	root := filepath.Join(dir, "contexts")
	metaFile := filepath.Join(root, "meta", digest.FromString(name).Encoded(), "meta.json")
	contexts := store.New(root, store.NewConfig(
		func() any { return &map[string]any{} },
		store.EndpointTypeGetter(docker.DockerEndpoint, func() any { return &docker.EndpointMeta{} }),
	))

	metadata, err := contexts.GetMetadata(name)
	if errors.Is(err, fs.ErrNotExist) {
		return Address{}, &backends.Error{
			Code: backends.CodeInvalidArgument, Op: "connect", Err: err,
			Message: `there is no docker context "` + name + `", which ` + from + " names (" + metaFile +
				" is not there): list them with docker context ls, choose one with docker context use, or unset DOCKER_CONTEXT",
		}
	}
	var meta docker.EndpointMeta
	if err == nil {
		meta, err = docker.EndpointFromContext(metadata)
	}
	if err == nil && meta.Host == "" {
		err = errors.New("it has no Host")
	}
	if err != nil {
		return Address{}, a.brokenContext(metaFile, name, err)
	}

	var files *tlsFiles
	if !strings.HasPrefix(meta.Host, "unix://") && !strings.HasPrefix(meta.Host, "ssh://") {
		data, err := dockercontext.LoadTLSData(contexts, name, docker.DockerEndpoint)
		if err != nil {
			return Address{}, a.brokenContext(metaFile, name, err)
		}
		if data != nil || meta.SkipTLSVerify {
			files = &tlsFiles{
				from:       filepath.Join(root, "tls", digest.FromString(name).Encoded(), docker.DockerEndpoint),
				skipVerify: meta.SkipTLSVerify,
			}
		}
		if data != nil {
			files.ca, files.cert, files.key = data.CA, data.Cert, data.Key
		}
	}
	one, err := a.endpoint(e, meta.Host, files)
	if err != nil {
		return Address{}, err
	}
	a.endpoints = []endpoint{one}
	return a, nil
}

func (a Address) brokenContext(file, name string, err error) error {
	return &backends.Error{
		Code: backends.CodeInvalidArgument, Op: "connect", Path: file, Err: err,
		Message: a.source + " cannot be used (" + err.Error() + "): make it anew with docker context rm " + name +
			" and docker context create, or choose another with docker context use",
	}
}

// tlsFromEnvironment reads ca.pem, cert.pem and key.pem of DOCKER_CERT_PATH,
// else of the configuration directory.
func (e environment) tlsFromEnvironment(dir string) (*tlsFiles, error) {
	if path := e.get("DOCKER_CERT_PATH"); path != "" {
		dir = path
	}
	files := &tlsFiles{from: dir, skipVerify: e.get("DOCKER_TLS_VERIFY") == ""}
	for _, file := range []struct {
		name string
		into *[]byte
	}{{"ca.pem", &files.ca}, {"cert.pem", &files.cert}, {"key.pem", &files.key}} {
		path := filepath.Join(dir, file.name)
		data, err := os.ReadFile(path)
		if errors.Is(err, fs.ErrNotExist) && (file.name != "ca.pem" || files.skipVerify) {
			continue // the engine may not ask for a certificate, or its own is not looked at
		}
		if err != nil {
			return nil, &backends.Error{
				Code: backends.CodeInvalidArgument, Op: "connect", Path: path, Err: err,
				Message: "DOCKER_TLS_VERIFY asks for TLS, and this file cannot be read (" + err.Error() +
					"): set DOCKER_CERT_PATH to the directory with ca.pem, cert.pem and key.pem, or unset DOCKER_TLS_VERIFY",
			}
		}
		*file.into = data
	}
	return files, nil
}
