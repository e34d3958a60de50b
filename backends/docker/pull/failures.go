package pull

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"

	"github.com/containerd/errdefs"
	"github.com/docker/docker/client"

	"github.com/mcp-workspace/mcp-workspace/backends"
)

// attempt is what is known of a pull when it fails.
type attempt struct {
	ref      string
	platform string
	registry string // the name credentials are kept under
	sent     string // where the credentials came from; "" when none were sent
	helper   error  // why credentials could not be looked up
}

// signs are what engines and registries of all versions write, in lower case,
// by what it means. The first that occurs decides, so the plainer come first.
// No engine gives codes for these.
var signs = []struct {
	kind kind
	text string
}{
	{rateLimited, "toomanyrequests"},
	{rateLimited, "too many requests"},
	{rateLimited, "rate limit"},
	{diskFull, "no space left on device"},
	{otherPlatform, "no matching manifest"},
	{otherPlatform, "no image found in manifest list for"},
	{otherPlatform, "no image found in image index for"},
	{otherPlatform, "does not match the specified platform"},
	{otherPlatform, "does not provide the specified platform"},
	{noAccess, "repository does not exist or may require"},
	{refused, "no basic auth credentials"},
	{refused, "unauthorized"},
	{refused, "authentication required"},
	{refused, "incorrect username or password"},
	{refused, "unable to retrieve auth token"},
	{refused, "access to the resource is denied"},
	{refused, "403 forbidden"},
	{unknown, "manifest unknown"},
	{unknown, "name unknown"},
	{unknown, "repository name not known"},
	{unknown, "not found"},
	{wrongTLS, "server gave http response to https client"},
	{wrongTLS, "x509:"},
	{wrongTLS, "tls:"},
	{unreachable, "no such host"},
	{unreachable, "connection refused"},
	{unreachable, "connection reset"},
	{unreachable, "i/o timeout"},
	{unreachable, "network is unreachable"},
	{unreachable, "no route to host"},
	{unreachable, "server misbehaving"},
	{unreachable, "temporary failure in name resolution"},
	{unreachable, "request canceled while waiting for connection"},
	{unreachable, "timeout exceeded"},
	{unreachable, "unexpected eof"},
	{unreachable, ": eof"},
	{unreachable, "502 bad gateway"},
	{unreachable, "503 service unavailable"},
	{unreachable, "500 internal server error"},
}

type kind int

const (
	other         kind = iota
	unknown            // the registry does not have it
	noAccess           // does not exist, or is private: the registry does not tell
	refused            // credentials are missing or wrong
	rateLimited        // the registry asks to wait
	otherPlatform      // not for this kind of machine
	unreachable        // no way to the registry
	wrongTLS           // TLS with the registry fails
	diskFull           // at the engine
)

// kindOf tells what an engine's error is about.
func kindOf(err error) kind {
	text := strings.ToLower(err.Error())
	for _, sign := range signs {
		if strings.Contains(text, sign.text) {
			return sign.kind
		}
	}
	switch {
	case errdefs.IsUnauthorized(err), errdefs.IsPermissionDenied(err):
		return refused
	case errdefs.IsNotFound(err):
		return unknown
	}
	return other
}

// failed makes an error of a user's kind from what stopped the pull.
func (a attempt) failed(ctx context.Context, err error) error {
	result := &backends.Error{Op: "pull", Err: err}
	if ctx.Err() != nil {
		result.Code, result.Err = backends.CodeCancelled, context.Cause(ctx)
		result.Message = "pulling " + a.ref + " was given up"
		return result
	}
	if lost(err) {
		result.Code = backends.CodeUnavailable
		result.Message = fmt.Sprintf("the container engine was lost while pulling %s (%v): check that it runs, then try again", a.ref, err)
		return result
	}

	var say string
	switch kindOf(err) {
	case unknown:
		result.Code = backends.CodeNotFound
		say = "there is no image " + a.ref + " at " + a.where() + ": check its name and tag"
	case noAccess:
		result.Code = backends.CodeNotFound
		say = "there is no image " + a.ref + " at " + a.where() + ", or it is private: check its name; " + a.login()
	case refused:
		result.Code = backends.CodePermission
		say = a.where() + " refuses to hand out " + a.ref + ": " + a.login()
	case rateLimited:
		result.Code = backends.CodeUnavailable
		say = a.where() + " refuses more downloads for now: wait, or " + a.login()
	case otherPlatform:
		result.Code = backends.CodeUnsupported
		say = "the image " + a.ref + " is not made for " + a.machine() + ": use an image that is"
	case unreachable:
		result.Code = backends.CodeUnavailable
		say = a.where() + " cannot be reached from the container engine to pull " + a.ref +
			": check the network, the engine's proxy settings and the registry's name"
	case wrongTLS:
		result.Code = backends.CodeUnavailable
		say = "the container engine does not trust " + a.where() + ", or it does not speak TLS: " +
			"give the engine its certificate (/etc/docker/certs.d), or list it in the engine's insecure-registries"
	case diskFull:
		result.Code = backends.CodeUnavailable
		say = "the container engine's disk is full: make room (docker system prune), then pull " + a.ref + " again"
	default:
		result.Code = backends.CodeInternal
		say = "pulling " + a.ref + " failed"
	}
	result.Message = say + " (" + short(err.Error()) + ")"
	return result
}

// lost reports whether the engine itself was lost, not the registry.
func lost(err error) bool {
	var call *url.Error
	var stream *streamError
	return client.IsErrConnectionFailed(err) || errors.As(err, &call) || errors.As(err, &stream)
}

// where names the registry.
func (a attempt) where() string {
	if a.registry == hubKey {
		return "Docker Hub"
	}
	return "the registry " + a.registry
}

func (a attempt) machine() string {
	if a.platform != "" {
		return a.platform
	}
	return "the engine's kind of machine"
}

// login says what to do about credentials.
func (a attempt) login() string {
	command := "docker login"
	if a.registry != hubKey {
		command += " " + a.registry
	}
	switch {
	case a.helper != nil:
		return "no credentials were sent, because " + a.helper.Error() + ". Mend that, or log in again with " + command
	case a.sent != "":
		return "the credentials from " + a.sent + " do not allow it; log in anew with " + command
	default:
		return "no credentials were sent; log in with " + command
	}
}

// short keeps a message of an engine to one line of bounded length.
func short(text string) string {
	text = strings.Join(strings.Fields(text), " ")
	const most = 500
	if len(text) > most {
		return strings.ToValidUTF8(text[:most], "") + "…"
	}
	return text
}

func quoted(text string) string { return fmt.Sprintf("%q", short(text)) }
