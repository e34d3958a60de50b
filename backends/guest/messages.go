package guest

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"
	"time"

	"github.com/fxamacker/cbor/v2"
	"github.com/hashicorp/yamux"

	"github.com/mcp-workspace/mcp-workspace/backends"
)

// ProtocolVersion is what both sides must have in common. It changes with every
// change that the other side would misunderstand.
const ProtocolVersion = 1

// greetingPrefix is what an agent's first line begins with.
const greetingPrefix = "mcp-workspace-guest/"

// maxGreeting bounds that line, in bytes.
const maxGreeting = 256

// Greeting is the line that an agent of this version, called release, sends
// first.
func Greeting(release string) string {
	release = strings.Map(func(r rune) rune {
		if r <= ' ' || r > '~' {
			return -1
		}
		return r
	}, release)
	return fmt.Sprintf("%s%d %.100s\n", greetingPrefix, ProtocolVersion, release)
}

// Op is an operation of a request.
type Op byte

// The operations.
const (
	OpSetup Op = iota + 1
	OpCancel
	OpResolve
	OpStat
	OpList
	OpRead
	OpOpen
	OpWrite
	OpEdit
	OpEditLines
	OpGlob
	OpGrep
	OpRun
	OpPing // is answered at once; any answer says that the agent is there
)

// Setup says how a session of the agent works. It is the first request.
type Setup struct {
	// WorkingDir is where relative paths and commands start: an absolute path,
	// made when it is missing. "" is where the agent was started.
	WorkingDir string
	// Env is for every command, K=V, over the agent's own environment.
	Env []string
}

// SetupReply answers a Setup.
type SetupReply struct {
	WorkingDir string // without symlinks
	Release    string // the agent's version
}

// PathRequest is the request of Resolve, Stat and Open.
type PathRequest struct{ Path string }

// InfoReply is a [backends.FileInfo] with its time as nanoseconds since 1970.
type InfoReply struct {
	backends.Resolution
	Kind    backends.Kind
	Size    int64
	Mode    fs.FileMode
	ModTime int64
}

// PackInfo makes an InfoReply of a description.
func PackInfo(i backends.FileInfo) InfoReply {
	return InfoReply{Resolution: i.Resolution, Kind: i.Kind, Size: i.Size, Mode: i.Mode, ModTime: i.ModTime.UnixNano()}
}

// CancelRequest names the request that its caller has given up by its stream.
type CancelRequest struct{ Stream uint32 }

// WriteRequest is a [backends.WriteRequest] whose content follows as data.
type WriteRequest struct {
	Path     string
	Mode     fs.FileMode
	Resolved string
}

// ReadReply is a [backends.ReadResult] with its lines in one piece.
type ReadReply struct {
	backends.Resolution
	Text       string // the lines, each with a newline
	Count      int
	Cuts       map[int]int `cbor:",omitempty"` // line (from 0) to Line.Cut
	Hashes     []string    `cbor:",omitempty"`
	TotalLines int
	Size       int64
	Version    string
}

// Pack makes a ReadReply of a result.
func Pack(res backends.ReadResult) ReadReply {
	out := ReadReply{Resolution: res.Resolution, Count: len(res.Lines), TotalLines: res.TotalLines, Size: res.Size, Version: res.Version}
	size := 0
	for _, line := range res.Lines {
		size += len(line.Text) + 1
	}
	var text strings.Builder
	text.Grow(size)
	for i, line := range res.Lines {
		text.WriteString(line.Text)
		text.WriteByte('\n')
		if line.Cut > 0 {
			if out.Cuts == nil {
				out.Cuts = map[int]int{}
			}
			out.Cuts[i] = line.Cut
		}
		if line.Hash != "" {
			out.Hashes = append(out.Hashes, line.Hash)
		}
	}
	out.Text = text.String()
	return out
}

// RunRequest is a [backends.Command] without what cannot travel. Standard input
// follows as data when Stdin is set.
type RunRequest struct {
	Argv      []string
	Script    string
	Dir       string
	Env       []string
	Stdin     bool
	Timeout   time.Duration
	Merge     bool
	KeepAbove int64
	MaxOutput int64
}

// RunReply is how a command ended. It has an Exit also when it was stopped.
type RunReply struct {
	backends.Exit
	Stopped *Failure `cbor:",omitempty"`
}

// Failure is a [backends.Error] on its way.
type Failure struct {
	Code    backends.Code
	Op      string
	Path    string
	Message string
	Binary  *backends.Binary `cbor:",omitempty"`
	Cause   string
}

// FailureOf packs err.
func FailureOf(err error) *Failure {
	var e *backends.Error
	if !errors.As(err, &e) {
		return &Failure{Code: backends.CodeOf(err), Op: "guest", Message: err.Error()}
	}
	f := &Failure{Code: e.Code, Op: e.Op, Path: e.Path, Message: e.Message, Binary: e.Binary}
	if e.Err != nil {
		f.Cause = e.Err.Error()
	}
	if err != error(e) && e.Message != "" { //nolint:errorlint // whether it is wrapped, in words of who called
		f.Message = strings.TrimPrefix(err.Error(), e.Path+": ")
	}
	return f
}

var (
	encoding = func() cbor.EncMode {
		mode, err := cbor.EncOptions{
			String: cbor.StringToByteString, // names and lines need not be UTF-8
		}.EncMode()
		if err != nil {
			panic(err) // the options contradict each other
		}
		return mode
	}()
	decoding = func() cbor.DecMode {
		mode, err := cbor.DecOptions{
			ByteStringToString: cbor.ByteStringToStringAllowed,
			DupMapKey:          cbor.DupMapKeyEnforcedAPF,
			MaxArrayElements:   maxElements,
			MaxMapPairs:        maxElements,
			MaxNestedLevels:    16,
			IndefLength:        cbor.IndefLengthForbidden,
			TagsMd:             cbor.TagsForbidden,
		}.DecMode()
		if err != nil {
			panic(err)
		}
		return mode
	}()
)

// Encode returns v as CBOR.
func Encode(v any) ([]byte, error) { return encoding.Marshal(v) }

// maxElements bounds what all lists of a message together hold: an element that
// takes a byte on its way can take 56 in memory.
const maxElements = 1 << 20

// Decode reads v from CBOR that nobody vouches for.
func Decode(data []byte, v any) error {
	if n := elements(data); n > maxElements {
		return fmt.Errorf("it has more than %d elements", maxElements)
	}
	return decoding.Unmarshal(data, v)
}

// elements counts what the arrays and maps in data say they hold. Without
// lengths that are indefinite, which decoding refuses, one item of CBOR follows
// the other whatever is inside what.
func elements(data []byte) (n uint64) {
	for len(data) > 0 && n <= maxElements {
		major, info := data[0]>>5, data[0]&31
		data = data[1:]
		value := uint64(info)
		if info >= 24 {
			size := 1 << (info - 24)
			if info > 27 || size > len(data) {
				return n // malformed, as decoding will see
			}
			value = 0
			for _, b := range data[:size] {
				value = value<<8 | uint64(b)
			}
			data = data[size:]
		}
		switch major {
		case 2, 3: // bytes, text
			if value > uint64(len(data)) {
				return n
			}
			data = data[value:]
		case 4, 5: // array, map
			n += min(value, maxElements+1)
		}
	}
	return n
}

// EncodeRequest is a request frame.
func EncodeRequest(op Op, body any) ([]byte, error) {
	buf := bytes.NewBuffer(AppendFrame(nil, FrameRequest, []byte{byte(op)}))
	if err := encoding.NewEncoder(buf).Encode(body); err != nil {
		return nil, err
	}
	return sealFrame(buf.Bytes()), nil
}

// DecodeRequest takes a request frame's payload apart.
func DecodeRequest(payload []byte) (op Op, body []byte, err error) {
	if len(payload) == 0 {
		return 0, nil, errors.New("a request of nothing")
	}
	return Op(payload[0]), payload[1:], nil
}

// EncodeReply is a frame with a result, or too_large when nobody would take it.
func EncodeReply(body any) ([]byte, error) {
	var buf bytes.Buffer
	buf.Write(AppendFrame(nil, FrameReply, nil))
	if err := encoding.NewEncoder(&buf).Encode(body); err != nil {
		return nil, err
	}
	if buf.Len()-frameHeader > MaxReply {
		return nil, backends.Errorf(backends.CodeTooLarge, "guest", "", "the answer has more than %d MB; ask for less at once", MaxReply>>20)
	}
	return sealFrame(buf.Bytes()), nil
}

// sealFrame sets the length of a frame that is complete.
func sealFrame(frame []byte) []byte {
	n := len(frame) - frameHeader
	for i := range 4 {
		frame[1+i] = byte(n >> (24 - 8*i))
	}
	return frame
}

// maxWindow is how much of a stream may be under way, in bytes.
const maxWindow = 1 << 20

// Multiplexing is how both sides use yamux.
func Multiplexing(log io.Writer) *yamux.Config {
	cfg := yamux.DefaultConfig()
	cfg.KeepAliveInterval = 10 * time.Second
	cfg.ConnectionWriteTimeout = 10 * time.Second // also how long an answer to a keep-alive may take
	cfg.MaxStreamWindowSize = maxWindow
	cfg.StreamCloseTimeout = 20 * time.Second // longer than an agent takes to stop a command
	cfg.AcceptBacklog = 1024
	cfg.LogOutput = log
	return cfg
}
