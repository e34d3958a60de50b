//go:build !race

package commands

const underRace = false
