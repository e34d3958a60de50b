// Package containers tests the program as its users see it, with workspaces in
// containers of a real Docker Engine and a real Podman: the binary is started
// as a client starts it, and an MCP client that others wrote talks to it over
// standard input and output.
//
// Every container that a test makes has a name of the test's own, or a working
// directory of its own, which is a label of the container; engines.LeavesNothing
// goes by that.
package containers
