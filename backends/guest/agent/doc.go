// Package agent is the guest agent: it runs in a container and answers, over one
// byte stream, the operations of a workspace on the container's own files and
// processes; backends/guest is the other end, and describes the protocol. [Serve]
// is one session of it, [Init] the container's first process.
//
// It runs as the container's user and can do what that user can: it is no
// boundary, the container is. It is compiled into a small static program, so it
// imports little.
package agent
