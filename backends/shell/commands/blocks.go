package commands

import (
	"bufio"
	"io"
)

// newBlocks gathers writes to w into larger ones. Flush tells whether they
// succeeded.
func newBlocks(w io.Writer) *bufio.Writer { return bufio.NewWriterSize(w, 32<<10) }
