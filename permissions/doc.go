// Package permissions decides what a client may do in a workspace: rulesets
// (the presets and YAML files), their matching against paths, and against
// command lines as a shell reads them.
//
// The package answers allow, ask or deny and knows nothing of who asks whom:
// it imports no tool and no protocol. What it can stop is what it can see
// before a command runs; the boundary that holds against a determined program
// is the container.
package permissions
