// Package permissions decides what a client may do in a workspace: rulesets
// (the presets and YAML files), their matching against paths, and against
// command lines as a shell reads them.
//
// A path takes one step, [Ruleset.Path]. A command line ([Ruleset.Command], in
// command.go) takes several, and the files are named after them:
//
//   - parse: the text becomes statements, or what can be made of it;
//   - walk: statements are gone through in the order of a shell, which keeps
//     its variables, directory and functions ([state]); redirections are files;
//   - expand: the words of one command become values, in which what is not
//     known before it runs is a hole ([value]);
//   - run: one command with its values takes the next three steps;
//   - match: its text, and other spellings of it, are held against the rules
//     of execute;
//   - unwrap: a command that it runs (sudo, xargs, sh -c, find -exec) starts
//     again at parse or at run;
//   - files: its words and options are held against the rules of read and write.
//
// The strictest answer of all steps counts ([checker]).
//
// The package answers allow, ask or deny and knows nothing of who asks whom:
// it imports no tool and no protocol. What it can stop is what it can see
// before a command runs; the boundary that holds against a determined program
// is the container.
package permissions
