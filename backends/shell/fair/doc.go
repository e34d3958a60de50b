// Package fair shares what one process has among the scripts that run in it:
// memory, and turns on its processors. What a script may use by itself is
// limited elsewhere; this package is for what all of them add up to. It knows
// scripts only by their owner, and no owner can take what the others need.
package fair
