// Package commands has the programs of a workspace that has no processes: cat,
// ls, sort and so on, as functions over a [Proc]. They behave as GNU's do, in
// the C locale for sorting and with UTF-8 characters.
//
// A command reaches files, streams and other commands through its Proc and
// nothing else: no os, no os/exec, no net, no clock but time.Now. It
//
//   - parses its arguments with [Proc.Parse];
//   - opens files with [Proc.Open] and the other methods of Proc, which take
//     names as they were written, or reads its operands with [Proc.Inputs];
//   - writes to Proc.Out. A write that fails (the reader is gone, the limit is
//     reached) ends Proc.Context, and the command ends like one that SIGPIPE
//     ended, whatever it returns. Reading input does so by itself; a loop that
//     reads nothing asks [Proc.Stopped];
//   - charges what it holds in memory and what depends on its input with
//     [Proc.Hold], before it takes it;
//   - says what is wrong with [Proc.Errorf] or [Proc.FileError] and returns its
//     exit code.
//
// Each family of commands has a function that returns its part of the table;
// [Lookup] finds a command in all of them.
package commands
