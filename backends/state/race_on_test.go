//go:build race

package state

// underRace tells that the race detector is on, with which everything takes many
// times the time and memory: limits of both are not held against that.
const underRace = true
