//go:build !linux && !darwin

package main

// machineMemory is not known here.
func machineMemory() int64 { return 0 }
