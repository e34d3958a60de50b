// Package guest is the host's side of the guest agent: a small program that runs
// where the files are, inside a container, and answers the operations of
// [backends.Workspace] over one byte stream. [Dial] turns such a stream into a
// [Client]. What the agent itself does is in backends/guest/agent.
//
// # Protocol
//
// The agent first sends one line, [Greeting], that carries the version of this
// protocol. Then yamux multiplexes the stream. Every request has a yamux stream
// of its own, so that a long command or a slow reader holds up nobody else, and
// is made of frames: a byte that says what it is, its length, its payload.
//
//	host   request, and for a write or a command data frames and an end
//	guest  data frames, then one reply or one failure
//
// Requests and replies are CBOR, because what files and their names are made of
// need not be UTF-8. A request is cancelled by another one that names it. The host
// pings by a request: an agent that leaves it without an answer ends the session.
//
// # Trust
//
// Whoever has root in the container can be the agent's voice. Everything that
// comes from it is held against what was asked, and has bounds: the size of a
// frame, of a reply, of a command's output, the time a command or an operation on
// files may take, what it sends that belongs to nothing. It can lie about the container's own files and about nothing else.
package guest
