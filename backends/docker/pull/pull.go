// Package pull fetches images for an engine: with the registry credentials of
// the docker configuration, with progress in short lines, and with errors that
// say what to do.
package pull

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"time"

	"github.com/distribution/reference"
	"github.com/docker/docker/api/types/image"
	"github.com/docker/docker/api/types/registry"
	"github.com/docker/docker/client"

	"github.com/mcp-workspace/mcp-workspace/backends"
)

const (
	tick  = 300 * time.Millisecond // the least time between two lines
	quiet = 5 * time.Second        // the most, so that clients with a time limit stay on
)

// Image makes the engine fetch ref, with the registry credentials of this
// process's user (see [Credentials]). platform is "" for the engine's own or
// has the form "linux/arm64".
//
// progress, when not nil, gets lines such as "pulling python:3.12-slim: 3 of 7
// layers, 41 of 118 MB": at most a few a second, at least one in 5 s, never
// two at once, none after Image has returned. Sizes count the layers whose
// download has begun.
//
// A failure is a [*backends.Error]: CodeNotFound for an image that the
// registry does not have (or does not show without credentials),
// CodePermission when it refuses the credentials, CodeUnavailable when it or
// the engine cannot be reached or asks to wait, CodeUnsupported when there is
// no such image for the platform, CodeInvalidArgument for a ref that is none,
// CodeCancelled when ctx ends, which also ends the engine's download.
func Image(ctx context.Context, engine *client.Client, ref, platform string, progress func(string)) error {
	home, err := os.UserHomeDir()
	if err != nil {
		home = "" // DOCKER_CONFIG may do without one
	}
	return Credentials{Env: os.Environ(), Home: home}.Image(ctx, engine, ref, platform, progress)
}

// Image is the function [Image] with these credentials.
func (c Credentials) Image(ctx context.Context, engine *client.Client, ref, platform string, progress func(string)) error {
	named, err := reference.ParseNormalizedNamed(ref)
	if err != nil {
		return &backends.Error{
			Code: backends.CodeInvalidArgument, Op: "pull", Err: err,
			Message: "the image " + quoted(ref) + " is not a valid name (" + err.Error() + "): write it as in docker pull, such as python:3.12-slim",
		}
	}
	if progress == nil {
		progress = func(string) {}
	}
	progress("pulling " + ref)

	attempt := attempt{ref: ref, platform: platform, registry: registryOf(named)}
	found, err := c.find(ctx, attempt.registry)
	if ctx.Err() != nil {
		return attempt.failed(ctx, ctx.Err())
	}
	// A helper that is broken or gone must not keep a public image away. What
	// was wrong with it is told when the registry refuses.
	attempt.helper = err
	attempt.sent = found.from

	options := image.PullOptions{Platform: platform}
	if found.from != "" {
		options.RegistryAuth, err = registry.EncodeAuthConfig(registry.AuthConfig{
			Username: found.auth.Username, Password: found.auth.Password,
			IdentityToken: found.auth.IdentityToken, RegistryToken: found.auth.RegistryToken,
			ServerAddress: attempt.registry,
		})
		if err != nil {
			return attempt.failed(ctx, err)
		}
	}
	stream, err := engine.ImagePull(ctx, ref, options)
	if err != nil {
		return attempt.failed(ctx, err)
	}
	defer stream.Close()
	layers := newLayers(ref)
	if err := follow(ctx, stream, layers, progress); err != nil {
		return attempt.failed(ctx, err)
	}
	progress(layers.done())
	return nil
}

// message is one JSON object of the engine's answer.
type message struct {
	Status   string `json:"status"`
	ID       string `json:"id"`
	Progress *struct {
		Current int64 `json:"current"`
		Total   int64 `json:"total"`
	} `json:"progressDetail"`
	Error  string `json:"error"`
	Detail *struct {
		Message string `json:"message"`
	} `json:"errorDetail"`
}

// failure is the error in a message, nil where there is none.
func (m message) failure() error {
	switch {
	case m.Detail != nil && m.Detail.Message != "":
		return errors.New(m.Detail.Message)
	case m.Error != "":
		return errors.New(m.Error)
	default:
		return nil
	}
}

// streamError is the end of an answer that breaks off.
type streamError struct{ err error }

func (e *streamError) Error() string { return "its answer broke off: " + e.err.Error() }
func (e *streamError) Unwrap() error { return e.err }

// follow reads the engine's answer to its end and tells progress.
func follow(ctx context.Context, stream io.ReadCloser, layers *layers, progress func(string)) error {
	ctx, cancel := context.WithCancel(ctx)
	messages := make(chan message)
	ended := make(chan struct{})
	var readErr error // written before ended is closed
	go func() {
		defer close(ended)
		decoder := json.NewDecoder(stream)
		for {
			var m message
			if err := decoder.Decode(&m); err != nil {
				readErr = err // io.EOF is the good end
				return
			}
			select {
			case messages <- m:
			case <-ctx.Done():
				readErr = ctx.Err()
				return
			}
		}
	}()
	reading := true
	defer func() {
		cancel()
		if reading {
			_ = stream.Close() // ends the read; the error that counts is returned already
			<-ended
		}
	}()

	clock := time.NewTicker(tick)
	defer clock.Stop()
	var last string
	lastAt := time.Now()
	for {
		select {
		case m := <-messages:
			if err := m.failure(); err != nil {
				return err
			}
			layers.add(m)
		case now := <-clock.C:
			if line := layers.line(); line != last || now.Sub(lastAt) >= quiet {
				last, lastAt = line, now
				progress(line)
			}
		case <-ended:
			reading = false
			if errors.Is(readErr, io.EOF) {
				return nil
			}
			return &streamError{readErr}
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}
