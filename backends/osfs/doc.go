// Package osfs is an [fsops.FS] over this machine's own files below a directory:
// below the user's for a local workspace, and below "/" for the guest agent of a
// container. It also keeps the whole output of commands in files there; see
// [Outputs].
//
// Names are absolute paths of this machine. Files are reached from the root's
// descriptor and nothing else, so that no name and no symlink leads outside, not
// even one that is put there while an operation is under way. On Linux (openat2,
// since 5.6) such a symlink is not followed inside the root either: what is read
// and written is what was asked for. On macOS, older kernels, and where a filter
// of system calls forbids openat2, it is followed inside the root. What is
// hard-linked or mounted below the root is part of it.
//
// The package knows no backend, no command and no ruleset, and imports little,
// so that it fits into a small static program. It works on Linux and macOS; on
// other systems it is empty.
package osfs
