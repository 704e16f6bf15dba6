package budget

import (
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// PushValue is the value of EnableEnv that runs only the rows that every push must pass: those of tests that call [Push].
const PushValue = "push"

const (
	// enough is how long short measurements go on, and mostRounds how often, in [Alternate].
	enough     = 2 * time.Second
	mostRounds = 60
	// pieceTime is how long one piece of known work takes on the machine of the README.
	pieceTime = 100 * time.Microsecond
	// pieceLines is how many lines one piece of known work goes through.
	pieceLines = 600
)

// Push skips t unless budgets are switched on, be it all of them or those of a push, and the race detector is off. A test
// that calls it judges ratios: [Ceiling] and [Beyond] depend on how fast the machine is, and say nothing on a push.
func Push(t testing.TB) {
	t.Helper()
	if onPush() && !raceEnabled {
		return
	}
	Skip(t)
}

// onPush tells whether only the rows of a push are wanted.
func onPush() bool { return os.Getenv(EnableEnv) == PushValue }

// Alternate measures several things in turn and returns the best of each: five rounds, and more for two seconds if they are
// short, so that each of them has a moment in which the machine did nothing else. What is compared must take about as long as
// what it is compared with: a busy machine interrupts what is long more often than what is short.
func Alternate(measures ...func() time.Duration) []time.Duration {
	best := make([]time.Duration, len(measures))
	start := time.Now()
	for round := 0; round < runs || round < mostRounds && time.Since(start) < enough; round++ {
		for i, measure := range measures {
			if took := measure(); round == 0 || took < best[i] {
				best[i] = took
			}
		}
	}
	return best
}

// Work is work that takes as long as that on the machine of the README, and longer on a slower one: what has no peer to be
// compared with is compared with it. It does what drawing and decoding do, which is to split, build and sort strings and to
// fill maps; it is the same forever, so that a ratio against it can be compared with that of another year.
func Work(as time.Duration) func() time.Duration {
	return func() time.Duration {
		return Time(func() {
			for range max(1, as/pieceTime) {
				piece()
			}
		})
	}
}

// piece is one piece of known work.
func piece() {
	var b strings.Builder
	for i := range pieceLines {
		b.WriteString("line ")
		b.WriteString(strconv.Itoa(i * 7919 % pieceLines))
		b.WriteString(" of a text\n")
	}
	lines := strings.Split(b.String(), "\n")
	slices.Sort(lines)
	count := map[string]int{}
	for _, line := range lines {
		count[strings.ToUpper(line)]++
	}
	runtime.KeepAlive(count) // or a compiler may leave the work out
}

// Known measures a thing in turn with known work and reports how much longer it took, against limit.
func Known(t testing.TB, what string, measure func() time.Duration, as time.Duration, limit float64) {
	t.Helper()
	best := Alternate(Work(as), measure)
	Ratio(t, what+", against known work", best[1], best[0], limit)
}
