package shell

import (
	"os"
	"testing"
)

// children are what the test binary does instead of testing when a variable of
// that name is in its environment: tests run it so to measure and to watch a
// process.
var children = map[string]func(value string){}

func TestMain(m *testing.M) {
	for name, child := range children {
		if value, ok := os.LookupEnv(name); ok {
			child(value)
			return
		}
	}
	defects = func(r any, stack []byte) {
		os.Stderr.Write(stack)
		panic(r)
	}
	os.Exit(m.Run())
}
