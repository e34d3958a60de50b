package docker

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"regexp"
	"strings"
	"syscall"

	cerrdefs "github.com/containerd/errdefs"
	"github.com/docker/docker/client"

	"github.com/mcp-workspace/mcp-workspace/backends"
)

// failed makes an [*backends.Error] of what a request to the engine failed with.
// Ctx is the caller's own, without the limit of the request; doing completes
// "could not".
func (b *Backend) failed(ctx context.Context, op, doing string, err error) error {
	var known *backends.Error
	if err == nil || errors.As(err, &known) {
		return err
	}
	engine := b.cfg.Differences.Engine
	fail := func(code backends.Code, format string, args ...any) error {
		return &backends.Error{Code: code, Op: op, Err: err, Message: fmt.Sprintf(format, args...)}
	}
	words := engineWords(err)
	switch {
	case ctx.Err() != nil:
		return &backends.Error{Code: backends.CodeCancelled, Op: op, Err: context.Cause(ctx), Message: "given up while " + engine + " was asked to " + doing}
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, context.Canceled):
		return fail(backends.CodeUnavailable, "%s at %s did not answer in time when asked to %s; see whether it is overloaded or hangs", engine, b.engine.DaemonHost(), doing)
	case unreachable(err):
		return fail(backends.CodeUnavailable, "%s cannot be reached at %s: %s; see whether it is running and whether you may use it", engine, b.engine.DaemonHost(), words)
	}
	text := strings.ToLower(words)
	if contains(text, diskFull) {
		return fail(backends.CodeUnavailable, "%s could not %s because its disk is full: %s; free some space there (%s system df)", engine, doing, words, b.cfg.Differences.Command)
	}
	for _, f := range flagFaults {
		if f.says.MatchString(text) && (f.given == nil || f.given(b.cfg.Options)) {
			return fail(backends.CodeInvalidArgument, "%s could not %s: %s; see %s", engine, doing, words, f.mend)
		}
	}
	switch {
	case cerrdefs.IsInvalidArgument(err):
		return fail(backends.CodeInvalidArgument, "%s could not %s: %s", engine, doing, words)
	case cerrdefs.IsPermissionDenied(err), cerrdefs.IsUnauthorized(err):
		return fail(backends.CodePermission, "%s does not allow to %s: %s", engine, doing, words)
	default:
		return fail(backends.CodeUnavailable, "%s could not %s: %s", engine, doing, words)
	}
}

// diskFull is how engines say so.
var diskFull = []string{"no space left on device", "disk quota exceeded"}

// flagFaults are what engines say, in lower case, when one of the user's flags is
// at fault, often with a status that says otherwise. The mend completes "see".
// Given, where there is one, tells whether the flag was given: the words may be
// about the engine's own doing.
var flagFaults = []struct {
	says  *regexp.Regexp
	mend  string
	given func(Options) bool
}{
	{says: regexp.MustCompile(`could not find network|unable to find network|network (\S+ )?not found|no such network|share net namespace`), mend: "--network"},
	{says: regexp.MustCompile(`no such container: `), mend: "--network", given: func(o Options) bool { return strings.HasPrefix(o.Network, "container:") }},
	{says: regexp.MustCompile(`bind source path does not exist|statfs |mkdir /host_mnt`), mend: "--mount: the directory must exist where the engine runs"},
	{says: regexp.MustCompile(`is not a shared (or slave )?mount`), mend: "--mount: mounts pass on what is mounted in them only where the source does"},
	{says: regexp.MustCompile(`invalid mount|invalid volume|invalid specification|duplicate mount point|mount denied|invalid bind mount|invalid tmpfs option|volume plugin`), mend: "--mount and --tmpfs"},
	{says: regexp.MustCompile(`error mounting`), mend: "--mount and --tmpfs", given: func(o Options) bool { return len(o.Mounts)+len(o.Binds)+len(o.Tmpfs) > 0 }},
	{says: regexp.MustCompile(`unable to find user|no matching entries in passwd|no matching entries in group|unable to find group|linux spec user|no users found`), mend: "--user: the image's /etc/passwd and /etc/group know no such name"},
	{says: regexp.MustCompile(`uids and gids must be`), mend: "--user"},
	{says: regexp.MustCompile(`unknown or invalid runtime|unknown runtime|invalid runtime name|runtime not found|no such runtime|default oci runtime|default runtime`), mend: "--oci-runtime"},
	{says: regexp.MustCompile(`could not select device driver|unresolvable cdi device`), mend: "--gpus"},
	{says: regexp.MustCompile(`memory limit`), mend: "--memory"},
	{says: regexp.MustCompile(`range of cpus|cpu cfs|cpu\.cfs_quota_us|cpu\.max`), mend: "--cpus"},
	{says: regexp.MustCompile(`unknown capability|invalid capability|invalid capadd|invalid capdrop|capability not supported`), mend: "--cap-drop"},
	{says: regexp.MustCompile(`invalid reference format|repository name must be lowercase`), mend: "--image"},
}

func contains(text string, any []string) bool {
	for _, s := range any {
		if strings.Contains(text, s) {
			return true
		}
	}
	return false
}

// unreachable tells whether err means that there is no engine at the other end,
// or not any more.
func unreachable(err error) bool {
	var op *net.OpError
	return client.IsErrConnectionFailed(err) || errors.As(err, &op) ||
		errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) ||
		errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE)
}

// maxWords bounds what is quoted of an engine, in bytes.
const maxWords = 2000

// engineWords is what the engine said, without what the client put before it.
func engineWords(err error) string {
	words := strings.TrimSpace(strings.TrimPrefix(err.Error(), "Error response from daemon: "))
	if len(words) > maxWords {
		words = words[:maxWords] + "…"
	}
	return words
}

// nameTaken tells whether a creation failed because there is a container of that
// name. Podman says it with the status of an internal error.
func nameTaken(err error) bool {
	return err != nil && (cerrdefs.IsConflict(err) || strings.Contains(err.Error(), "is already in use")) &&
		strings.Contains(err.Error(), "name")
}

// imageMissing tells whether a creation failed because the engine lacks the
// image.
func imageMissing(err error) bool {
	if err == nil {
		return false
	}
	text := strings.ToLower(err.Error())
	return strings.Contains(text, "no such image") || strings.Contains(text, "image not known")
}
