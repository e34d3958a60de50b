package sessions

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/mcp-workspace/mcp-workspace/backends"
	"github.com/mcp-workspace/mcp-workspace/tools"
)

// naming is how a workspace is named.
type naming string

const (
	byRef        naming = "ref"     // id is the ref
	byName       naming = "name"    // id is the name that the principal gives it
	ownWorkspace naming = "session" // id is the session
)

// target is a workspace as a principal's request names it.
type target struct {
	principal string
	kind      naming
	id        string
}

// binding is whose approvals hold: those of one principal and session in what
// was named the same way. The fields cannot run into each other.
func (x target) binding(session string) string {
	text, err := json.Marshal([]string{x.principal, session, string(x.kind), x.id})
	if err != nil {
		panic(err) // strings always can be
	}
	return string(text)
}

// defaultName is that of a principal's workspace where nothing names one.
const defaultName = "default"

// Connection finds the workspace of a request, for tools.Options.Connection. The
// request's principal and session are in ctx, see [WithCaller]. Nothing is
// created or started before the connection is used. The function that it returns
// has to be called when the request has been handled, before it is answered.
func (t *Tenant) Connection(ctx context.Context, asked tools.Asked) (*tools.Connection, func(), error) {
	caller := CallerFrom(ctx)
	conn, o, err := t.connection(ctx, caller, asked)
	if err != nil {
		return nil, nil, err
	}
	return conn, func() { t.m.release(o, caller) }, nil
}

func (t *Tenant) connection(ctx context.Context, caller Caller, asked tools.Asked) (*tools.Connection, *opened, error) {
	asked, err := merge(asked, caller)
	if err != nil {
		return nil, nil, err
	}
	choice := Choice{asked.Image, asked.Runtime}
	if err := t.allowed(choice); err != nil {
		return nil, nil, err
	}
	x, made, err := t.resolve(ctx, caller, asked, choice)
	if err != nil {
		if errors.Is(err, backends.ErrGone) {
			t.m.tell(ctx, Event{Kind: EventRefused, Ref: asked.Ref, Principal: caller.Principal, Session: caller.Session, Reason: ReasonForeign})
		}
		return nil, nil, err
	}
	return t.m.acquire(ctx, t, caller.Session, x, made)
}

// merge adds what the request's headers ask for. What is said twice has to be
// the same.
func merge(asked tools.Asked, c Caller) (tools.Asked, error) {
	for _, f := range []struct {
		what, header string
		body         *string
	}{
		{"workspace", c.Ref, &asked.Ref},
		{"workspace name", c.Name, &asked.Name},
		{"image", c.Image, &asked.Image},
		{"runtime", c.Runtime, &asked.Runtime},
	} {
		if *f.body != "" && f.header != "" && *f.body != f.header {
			return asked, backends.Errorf(backends.CodeInvalidArgument, "call", "", "the header asks for the %s %q, and the body for %q; give one of them", f.what, f.header, *f.body)
		}
		if *f.body == "" {
			*f.body = f.header
		}
	}
	return asked, nil
}

// resolve finds out which workspace is meant, and the choice that it was or is to
// be made by.
func (t *Tenant) resolve(ctx context.Context, caller Caller, asked tools.Asked, choice Choice) (target, Choice, error) {
	x := target{principal: caller.Principal}
	if asked.Ref != "" && asked.Name != "" {
		return x, choice, backends.Errorf(backends.CodeInvalidArgument, "call", "", "the request names a workspace by its ref %q and by the name %q; give one of them", asked.Ref, asked.Name)
	}
	switch {
	case asked.Ref != "":
		x.kind, x.id = byRef, asked.Ref
		return t.resolveRef(ctx, x, choice)
	case asked.Name != "":
		x.kind, x.id = byName, asked.Name
	case t.cfg.Name != "":
		x.kind, x.id = byName, t.cfg.Name
	case caller.Session != "":
		x.kind, x.id = ownWorkspace, caller.Session
		return x, choice, nil
	default:
		x.kind, x.id = byName, defaultName
	}
	_, err := nameOf(x.principal, x.id)
	return x, choice, err
}

// resolveRef looks whether the principal has the workspace. One that is open has
// been looked at.
func (t *Tenant) resolveRef(ctx context.Context, x target, choice Choice) (target, Choice, error) {
	if choice == (Choice{}) && t.m.isOpen(x) {
		return x, choice, nil
	}
	started := time.Now()
	ref, err := backends.ParseRef(x.id)
	if err != nil {
		return x, choice, conceal(ctx, started, "call", x.id)
	}
	b, err := t.backend(ctx, Choice{})
	if err != nil {
		return x, choice, err
	}
	info, err := Owned(b, x.principal).Describe(ctx, ref)
	if err != nil {
		return x, choice, err
	}
	if err := t.checkImage(choice, info.Image); err != nil {
		return x, choice, err
	}
	return x, t.choiceOf(info.Image), nil
}
