package address

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"runtime"
	"strings"
	"syscall"

	"github.com/mcp-workspace/mcp-workspace/backends"
)

// errNotAnEngine is for what answers without an engine's headers.
var errNotAnEngine = errors.New("something answers there, but not a container engine")

// failure is why one endpoint was not used.
type failure struct {
	endpoint endpoint
	err      error
}

// unavailable says of all endpoints why none was used, and what to do.
func (a Address) unavailable(failures []failure) error {
	var reasons, missing []string
	var advice []string
	causes := make([]error, 0, len(failures))
	for _, f := range failures {
		causes = append(causes, f.err)
		if len(failures) > 1 && isMissing(f.err) {
			missing = append(missing, f.endpoint.path)
			continue
		}
		reason, todo := a.explain(f)
		reasons = append(reasons, f.endpoint.host+": "+reason)
		advice = append(advice, todo)
	}
	if len(missing) > 0 {
		reasons = append(reasons, "nothing at "+strings.Join(missing, ", "))
	}
	if len(advice) == 0 {
		advice = append(advice, a.howToStart(""))
	}

	message := "no " + a.engine + " engine answers"
	if a.source != "" {
		message = "the " + a.engine + " engine that " + a.source + " names does not answer"
	}
	message += " (" + strings.Join(reasons, "; ") + "). " + strings.Join(unique(advice...), " ")
	if a.source == "" {
		message += " Set " + a.hostVariable() + " if it is elsewhere."
	}
	return &backends.Error{Code: backends.CodeUnavailable, Op: "connect", Message: message, Err: errors.Join(causes...)}
}

func (a Address) hostVariable() string {
	if a.engine == "Podman" {
		return "CONTAINER_HOST"
	}
	return "DOCKER_HOST"
}

// isMissing reports whether there is no socket at all.
func isMissing(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR)
}

// explain says in a few words why an endpoint was not used and in a sentence
// what to do about it.
func (a Address) explain(f failure) (reason, todo string) {
	e, err := f.endpoint, f.err
	text := err.Error()
	var resolve *net.DNSError
	var verify *x509.HostnameError
	var authority x509.UnknownAuthorityError
	switch {
	case e.ssh:
		return explainSSH(a, e, err)
	case errors.Is(err, fs.ErrPermission):
		return "permission denied", a.howToBeLetIn(e.path)
	case isMissing(err):
		return "there is no such socket", a.howToStart(e.path)
	case errors.Is(err, syscall.ECONNREFUSED) && e.path != "":
		return "nothing listens on this socket", a.howToStart(e.path)
	case errors.Is(err, syscall.ENOTSOCK):
		return "this is not a socket", "Correct the path."
	case errors.Is(err, syscall.ECONNREFUSED):
		return "connection refused", "Start the engine on that host and let it listen on that port, or correct the address."
	case errors.As(err, &resolve):
		return "the host name is not known (" + resolve.Err + ")", "Correct the address, or check the network."
	case errors.Is(err, errNotAnEngine):
		return text, "Correct the address."
	case errors.As(err, &verify), errors.As(err, &authority), strings.Contains(text, "tls: failed to verify certificate"):
		return "its certificate is not accepted (" + text + ")",
			"Use the ca.pem that signed it (DOCKER_CERT_PATH, or the context's), and the host name that it was made for."
	case strings.Contains(text, "remote error: tls"):
		return "it does not accept the certificate of this client (" + lastPart(text) + ")",
			"Put the cert.pem and key.pem that the engine's CA signed into DOCKER_CERT_PATH, or into the context."
	case strings.Contains(text, "does not look like a TLS handshake"):
		return "it does not speak TLS", "Unset DOCKER_TLS_VERIFY, or use the port that speaks TLS (usually 2376)."
	case strings.Contains(text, "HTTP request to an HTTPS server"), strings.Contains(text, "malformed HTTP response"):
		return "it speaks TLS", "Set DOCKER_TLS_VERIFY=1 and DOCKER_CERT_PATH, or use a context with certificates."
	case errors.Is(err, context.DeadlineExceeded), isTimeout(err):
		return "no answer within " + a.wait.ping.String(), "Check that the engine runs and is not stuck (restart it), and that the address is right."
	default:
		return text, a.howToStart(e.path)
	}
}

func isTimeout(err error) bool {
	var netError net.Error
	return errors.As(err, &netError) && netError.Timeout()
}

// lastPart is what follows the last colon: the cause in most error texts.
func lastPart(text string) string {
	return strings.TrimSpace(text[strings.LastIndex(text, ":")+1:])
}

// explainSSH finds what ssh itself printed.
func explainSSH(a Address, e endpoint, err error) (reason, todo string) {
	if errors.Is(err, context.DeadlineExceeded) {
		return "no answer within " + a.wait.ssh.String(),
			"Check that the host is up and that ssh " + e.host + " logs in without asking for anything."
	}
	printed := err.Error()
	if _, after, ok := strings.Cut(printed, "stderr="); ok {
		printed = strings.TrimSpace(after)
	}
	if len(printed) > 600 {
		printed = "…" + strings.ToValidUTF8(printed[len(printed)-600:], "")
	}
	printed = strings.Join(strings.Fields(printed), " ")
	program := strings.ToLower(a.engine)
	switch {
	case strings.Contains(printed, "Permission denied"):
		todo = "ssh must log in without a prompt: load the key into the ssh agent (ssh-add), or name it in ~/.ssh/config."
	case strings.Contains(printed, "Host key verification failed"), strings.Contains(printed, "IDENTIFICATION HAS CHANGED"):
		todo = "Run ssh " + e.host + " once in a terminal and check the host's key."
	case strings.Contains(printed, "not found"), strings.Contains(printed, "No such file or directory"):
		todo = "The " + program + " command line must be installed on that host, in the PATH of a login without a terminal."
	case strings.Contains(printed, "permission denied"):
		todo = "The user there may not use the engine: sudo usermod -aG docker USER on that host."
	default:
		todo = "Check that ssh " + e.host + " logs in without asking for anything, and that " + program + " version works there."
	}
	return "ssh: " + strings.TrimPrefix(printed, "ssh: "), todo
}

// howToBeLetIn names the group of a socket that this user may not open.
func (a Address) howToBeLetIn(path string) string {
	if a.engine == "Podman" {
		return "That socket is another user's: start your own with systemctl --user start podman.socket."
	}
	group := groupOf(path)
	if group == "root" || group == "wheel" {
		return "Only root may use that socket: use rootless Docker, or let the engine's socket belong to a group docker that this user is in."
	}
	return fmt.Sprintf("Join the group of the socket (sudo usermod -aG %s $USER) and log in again, or use rootless Docker.", group)
}

// howToStart says how to start the engine that listens at path; path may be "".
func (a Address) howToStart(path string) string {
	for _, product := range []struct{ part, todo string }{
		{"/.colima/", "Start Colima: colima start."},
		{"/.rd/", "Start Rancher Desktop."},
		{"/.orbstack/", "Start OrbStack: orb start."},
		{"/.lima/", "Start Lima: limactl start docker."},
		{"/.docker/", "Start Docker Desktop."},
		{"podman-machine", "Start Podman's machine: podman machine start."},
		{"/podman/machine/", "Start Podman's machine: podman machine start."},
	} {
		if strings.Contains(path, product.part) {
			return product.todo
		}
	}
	rootless := strings.HasPrefix(path, "/run/user/")
	switch {
	case a.engine == "Podman" && runtime.GOOS == "darwin":
		return "Start Podman's machine: podman machine start."
	case a.engine == "Podman" && path == "/run/podman/podman.sock":
		return "Start Podman's service: sudo systemctl start podman.socket."
	case a.engine == "Podman":
		return "Start Podman's service: systemctl --user start podman.socket (as root: systemctl start podman.socket)."
	case runtime.GOOS == "darwin":
		return "Start Docker Desktop, OrbStack (orb start), Rancher Desktop or Colima (colima start)."
	case rootless:
		return "Start rootless Docker: systemctl --user start docker."
	default:
		return "Start it: sudo systemctl start docker, or Docker Desktop, or colima start; or install Docker."
	}
}
