package backends

import (
	"path"
	"strings"
)

// CleanPath makes p absolute, starting at workingDir when it is relative, and
// cleans it lexically: a/../b is b, whatever a is.
func CleanPath(workingDir, p string) (string, error) {
	switch {
	case p == "":
		return "", Errorf(CodeInvalidArgument, "path", "", "the path is empty; use \".\" for the working directory")
	case strings.IndexByte(p, 0) >= 0:
		return "", Errorf(CodeInvalidArgument, "path", "", "a path cannot contain a NUL character")
	case !path.IsAbs(p):
		p = workingDir + "/" + p
	}
	return path.Clean(p), nil
}
