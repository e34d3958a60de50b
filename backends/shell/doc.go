// Package shell runs shell scripts inside this process, over files in memory:
// the language of bash and the programs of package commands, without a process,
// a file descriptor, a pipe or an environment of the machine.
//
// Scripts are parsed by mvdan.cc/sh/v3/syntax. They are not run by its interp
// package, because a script must not be able to harm its server: interp panics
// in goroutines of its own on some scripts (declare -A a=(x y) | cat), which
// ends the process, has no hook where variables are set or words are expanded,
// so that x=$x$x fills all memory, makes FIFOs and pipes of the operating
// system, and asks the host for users, temporary directories and access. Here
// every goroutine recovers, every expansion is charged, and there is no code
// that could reach the host.
//
// What a script can use is bounded by [Limits]; what is over one of them stops
// the script with an error that names it.
//
// Scripts of testdata/scripts run on bash and here, with the same outcome. What
// differs from bash, on purpose or because the parser does not know it:
//
//   - Background jobs and process substitutions end with the script. There are
//     no processes: kill reaches jobs of the script and itself, $$ is a number
//     within it, and coproc, job control and ulimit do nothing.
//   - The user is root, alone, without passwords or other users: ~name is left
//     as it is written but for ~root, and modes refuse nothing but execution.
//   - /dev/null, zero, full, random, urandom, stdin, stdout, stderr, fd/N and /tmp are
//     there; no other device, no /proc, and no network redirections. umask is
//     022.
//   - Modes and times of directories, and that two names are one file, last
//     until the script ends: a document holds neither.
//   - Keys of associative arrays lose blanks at their ends unless they are
//     quoted, and a=([x]+=y) and an operator that comes from an expansion,
//     $((1 $op 2)), are syntax errors.
//   - A syntax error inside an expansion, ${x!} or $((1.5)), is one of the
//     script: the lines before it run, and then it ends with 2.
//   - Regular expressions of =~ and patterns are RE2: linear in time, without
//     backreferences; !(…) cannot be used inside ${x//…}.
//   - Keys of associative arrays come sorted; bash has an order of its own.
//   - set -v, set -t, history, DEBUG traps and the completion builtins but
//     compgen are accepted and do nothing.
package shell
