// Package docker makes each workspace a container of a Docker engine and works in
// it through the guest agent.
//
// The package only creates, finds, starts and removes containers and opens a
// byte stream to the agent inside; what a workspace can do is in
// backends/guest. It speaks the Engine API from version 1.41 (Docker 20.10) on,
// to whatever engine its client is connected to. backends/podman uses it for
// Podman, with what [Differences] lists.
//
// # The container
//
// Its process 1 is the agent, which reaps and does nothing else; each connection
// is one more process of the agent, started by exec as the container's user and
// spoken to over that exec's standard input and output. The agent's executable
// is in a volume named after its digest, filled once for each engine and mounted
// read-only, so that root in the container cannot change it, a read-only root
// file system is no obstacle and the image needs nothing at all.
//
// # Names
//
// The engine gives a name to one container only. That makes get-or-create safe
// between processes and machines: whoever is told of a conflict uses what is
// there, if it carries this program's labels.
package docker
