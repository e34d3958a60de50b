package runtimes

import (
	"context"
	"fmt"

	"github.com/mcp-workspace/mcp-workspace/backends"
)

// Ensure makes sure that the engine has the runtime's image and returns its
// reference: a ready image is pulled, any other built, where it is missing.
// Those who ask for the same at the same time wait for one pull or build, and
// it goes on as long as one of them waits. Progress, which may be nil, gets
// lines for people until Ensure returns; it must not block.
//
// A definition that is wrong fails with CodeInvalidArgument. A build that fails
// says which step of it did and what it printed last, and has the code of the
// builder's error.
func (r *Runtime) Ensure(ctx context.Context, b Builder, progress func(string)) (image string, err error) {
	if err := r.Validate(); err != nil {
		return "", err
	}
	tag := r.Tag()
	err = share(ctx, jobKey{b, "ensure", tag}, progress, func(ctx context.Context, progress func(string)) error {
		if !r.IsBuilt() {
			return ensureImage(ctx, b, r.Image, progress)
		}
		if has, err := b.HasImage(ctx, tag); has || err != nil {
			return err
		}
		if err := ensureImage(ctx, b, r.Base, progress); err != nil {
			return err
		}
		return r.build(ctx, b, tag, progress)
	})
	if err != nil {
		return "", r.because(ctx, err)
	}
	return tag, nil
}

// Refresh is [Runtime.Ensure] for who wants what is published now: it pulls the
// image again, or pulls the base again and builds on it. What the engine's
// cache has of a base that did not change is used.
func (r *Runtime) Refresh(ctx context.Context, b Builder, progress func(string)) (image string, err error) {
	if err := r.Validate(); err != nil {
		return "", err
	}
	tag := r.Tag()
	err = share(ctx, jobKey{b, "refresh", tag}, progress, func(ctx context.Context, progress func(string)) error {
		if !r.IsBuilt() {
			return b.Pull(ctx, r.Image, progress)
		}
		if err := b.Pull(ctx, r.Base, progress); err != nil {
			return err
		}
		return r.build(ctx, b, tag, progress)
	})
	if err != nil {
		return "", r.because(ctx, err)
	}
	return tag, nil
}

// ensureImage pulls an image that the engine does not have.
func ensureImage(ctx context.Context, b Builder, ref string, progress func(string)) error {
	return share(ctx, jobKey{b, "pull", ref}, progress, func(ctx context.Context, progress func(string)) error {
		if has, err := b.HasImage(ctx, ref); has || err != nil {
			return err
		}
		return b.Pull(ctx, ref, progress)
	})
}

// because says of an error which runtime it is about.
func (r *Runtime) because(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return &backends.Error{Code: backends.CodeOf(err), Op: "runtime", Message: fmt.Sprintf("the runtime %s: %v", r.Name, err), Err: err}
}

// build builds the image and watches what comes back.
func (r *Runtime) build(ctx context.Context, b Builder, tag string, progress func(string)) error {
	options := r.buildOptions()
	for name := range r.Env {
		delete(options.Args, name) // the definition says it
	}
	if len(options.Args) > 0 || options.Network != "" {
		with, ok := b.(OptionBuilder)
		if !ok {
			return backends.Errorf(backends.CodeUnsupported, "build", "", "this engine's builds take no build arguments and no network; remove build_args and build_network")
		}
		b = with.WithBuildOptions(options)
	}
	user, err := b.ImageUser(ctx, r.Base)
	if err != nil {
		return err
	}
	if user != "" && !userPattern.MatchString(user) {
		return backends.Errorf(backends.CodeInvalidArgument, "build", "", "the base %s has the user %s, which is no user's name; use another base", r.Base, quoted(user))
	}
	instructions := r.dockerfile(options.Args, user)
	context, err := archive(text(instructions))
	if err != nil {
		return err
	}
	labels := map[string]string{LabelName: r.Name, LabelDigest: r.Digest()}

	w := watch{instructions: instructions, progress: progress}
	progress("building " + tag)
	if err := b.Build(ctx, tag, context, labels, w.output); err != nil {
		return w.failure(err)
	}
	has, err := b.HasImage(ctx, tag)
	if err == nil && !has {
		err = backends.Errorf(backends.CodeInternal, "build", "", "the engine says that it has built %s and does not have it; was it removed? Try again", tag)
	}
	return err
}
