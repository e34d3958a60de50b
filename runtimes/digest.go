package runtimes

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
)

// repository and the runtime's name are the name of an image that is built.
const repository = "mcp-workspace/runtime-"

// Digest is the hex SHA-256 of everything that the definition says and of the
// Dockerfile that it leads to. It is the same for equal definitions, whatever
// the order in their maps, and another after any change of the definition, or
// of how this program builds it.
func (r *Runtime) Digest() string {
	// Maps are encoded with their keys sorted.
	data, err := json.Marshal(struct {
		Name         string            `json:"name"`
		Description  string            `json:"description,omitempty"`
		Image        string            `json:"image,omitempty"`
		Base         string            `json:"base,omitempty"`
		Packages     Packages          `json:"packages"`
		Setup        []string          `json:"setup,omitempty"`
		Env          map[string]string `json:"env,omitempty"`
		WorkingDir   string            `json:"working_dir,omitempty"`
		BuildArgs    map[string]string `json:"build_args,omitempty"`
		BuildNetwork string            `json:"build_network,omitempty"`
		Dockerfile   string            `json:"dockerfile"`
	}{
		r.Name, r.Description, r.Image, r.Base, r.Packages, r.Setup, r.Env, r.WorkingDir, r.BuildArgs, r.BuildNetwork,
		text(r.dockerfile(r.BuildArgs, "user")), // whose name is the base's, and is not known here
	})
	if err != nil {
		panic(err) // strings can be encoded
	}
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// Tag is the reference of the runtime's image: that of a ready image, or of
// the one that is built, whether or not an engine has it.
func (r *Runtime) Tag() string {
	if !r.IsBuilt() {
		return r.Image
	}
	return repository + r.Name + ":" + r.Digest()[:12]
}
