// Package ostest runs tests where the kernel refuses what it lets the user who
// runs them do: as another user, and among mounts of their own. Only tests use
// it, on Linux.
package ostest
