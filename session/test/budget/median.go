package budget

import (
	"slices"
	"time"
)

// tries is how often [Median] and [Relative] measure: odd, and always all of them, so that nothing is tried until it is lucky.
const tries = 3

// Median runs f three times, and returns the time that the one in the middle took: one that a busy machine held up does not
// count, and what is slow each time does.
func Median(f func()) time.Duration {
	return middle(func() time.Duration { return Time(f) })
}

// Relative measures two things alternately, three times each, and returns how many times as long as base the other takes in the
// pair in the middle. What else the machine does falls on both.
func Relative(got, base func() time.Duration) float64 {
	return middle(func() float64 {
		b := base()
		return float64(got()) / float64(max(b, 1))
	})
}

func middle[T float64 | time.Duration](measure func() T) T {
	all := make([]T, tries)
	for i := range all {
		all[i] = measure()
	}
	slices.Sort(all)
	return all[tries/2]
}
