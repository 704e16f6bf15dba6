//go:build !race

package budget

// raceEnabled reports whether the race detector is on.
const raceEnabled = false
