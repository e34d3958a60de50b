package backends

import (
	"context"
	"errors"
	"fmt"
)

// Code says what kind of failure an [Error] is. The values are part of what
// users rely on: they travel in results as mcp-workspace/code.
type Code string

// The codes a workspace answers with.
const (
	CodeNotFound        Code = "not_found"
	CodeIsDirectory     Code = "is_directory"
	CodeNotDirectory    Code = "not_directory"
	CodePermission      Code = "permission_denied"
	CodeStale           Code = "stale"            // changed since the version the caller named
	CodeNotUnique       Code = "not_unique"       // the text to replace occurs more than once
	CodeNoMatch         Code = "no_match"         // the text to replace does not occur
	CodeInvalidArgument Code = "invalid_argument" // the request itself is wrong
	CodeTooLarge        Code = "too_large"        // over a limit that the message names
	CodeBinary          Code = "binary"           // not text; see Error.Binary
	CodeTimeout         Code = "timeout"          // the command's own time limit
	CodeUnavailable     Code = "unavailable"      // the environment is gone: stop using it
	CodeUnsupported     Code = "unsupported"      // this workspace cannot do that at all
	CodeReadOnly        Code = "read_only"        // the file system is
	CodeCancelled       Code = "cancelled"        // the caller gave up
	CodeInternal        Code = "internal"         // everything else, a defect of ours included
)

// Error is how every operation of a workspace fails. Compare by code:
//
//	if backends.CodeOf(err) == backends.CodeNotFound { … }
type Error struct {
	Code Code
	// Op is what was being done ("read", "edit", …), for logs.
	Op string
	// Path is the path it was done to, cleaned; empty when there is none.
	Path string
	// Message is a sentence for the person or model that asked: what was wrong
	// and what to do, without the path unless it needs it.
	Message string
	// Binary describes the file when Code is CodeBinary.
	Binary *Binary
	// Err is the cause, when there is one.
	Err error
}

// Binary is what is known of a file that is not text.
type Binary struct {
	MIME string // as sniffed from its first bytes, "application/octet-stream" when unknown
	Size int64  // bytes
}

func (e *Error) Error() string {
	switch {
	case e.Message != "" && e.Path != "":
		return e.Path + ": " + e.Message
	case e.Message != "":
		return e.Message
	case e.Err != nil && e.Path != "":
		return fmt.Sprintf("%s %s: %v", e.Op, e.Path, e.Err)
	case e.Err != nil:
		return fmt.Sprintf("%s: %v", e.Op, e.Err)
	default:
		return fmt.Sprintf("%s %s: %s", e.Op, e.Path, e.Code)
	}
}

func (e *Error) Unwrap() error { return e.Err }

// CodeOf returns the code of the first [*Error] in err's chain. A bare context
// error counts as cancelled; anything else that is not nil as internal; nil
// is "".
func CodeOf(err error) Code {
	var e *Error
	switch {
	case err == nil:
		return ""
	case errors.As(err, &e):
		return e.Code
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return CodeCancelled
	default:
		return CodeInternal
	}
}

// ErrGone is the cause of the CodeUnavailable of an environment that is gone or
// never was, to tell it from one that cannot be reached just now.
var ErrGone = errors.New("the environment is gone")

// ErrNoShell is the cause of the CodeUnsupported of a script where there is no
// shell to run it; an argument list may still work.
var ErrNoShell = errors.New("there is no shell")

// Errorf makes an [*Error] with a formatted message.
func Errorf(code Code, op, path, format string, args ...any) *Error {
	return &Error{Code: code, Op: op, Path: path, Message: fmt.Sprintf(format, args...)}
}
