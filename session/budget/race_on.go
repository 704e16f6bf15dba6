//go:build race

package budget

// raceEnabled tells whether the race detector is on.
const raceEnabled = true
