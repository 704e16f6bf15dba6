// Package budget states performance ceilings as tests.
//
// A budget is a test named TestBudget… that calls [Skip] or [Push] first, measures with [Best], [Pair], [MedianPair] or [Alternate], and
// reports with [Ceiling], [Beyond], [Ratio], [Known] or [Size]. Budgets run only when MCPHUD_BUDGET is set, and never under
// the race detector, so that `go test ./...` stays fast and does not depend on how busy the machine is.
//
// Which of them run when:
//
//   - MCPHUD_BUDGET=push: the rows that every push must pass, in two minutes. They are those of tests that call [Push], and each
//     is a ratio to something that was measured beside it: the bare server, a base program, the same work at a tenth of the
//     size, or known work ([Work]). What else the machine does then falls on both.
//   - MCPHUD_BUDGET=1: all of them, each night and before the figures of README.md are written. Tests that call [Skip] run
//     only then: they have ceilings in time, need a quiet machine, or take long.
//
// Machines are noisy: a figure over its ceiling is printed as OVER, and the
// test fails only at twice a ceiling, or at 1.25 times past a ratio.
package budget

import (
	"cmp"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mcphud/mcphud/session/base/text"
)

// Environment variables that steer budgets.
const (
	// EnableEnv switches all budgets on when it is "1", and those of a push when it is [PushValue].
	EnableEnv = "MCPHUD_BUDGET"
	// TestsEnv is "all" where every case of exhaustive tests is wanted, "nightly" for still more; see [All] and [Nightly].
	TestsEnv = "MCPHUD_TESTS"
	// OutEnv names a file to which each figure is appended as one tab-separated line: what, figure, ceiling, verdict.
	OutEnv = "MCPHUD_BUDGET_OUT"
)

const (
	// runs is how often a thing is measured; the best run counts.
	runs = 5
	// ceilingSlack and ratioSlack are how far past a ceiling or a ratio a figure may be before the test fails.
	ceilingSlack = 2.0
	ratioSlack   = 1.25
)

// Skip skips t unless all budgets are switched on and the race detector is off.
func Skip(t testing.TB) {
	t.Helper()
	if os.Getenv(EnableEnv) != "1" {
		t.Skipf("performance budget: set %s=1 to run it", EnableEnv)
	}
	if raceEnabled {
		t.Skip("performance budget: figures under the race detector mean nothing")
	}
}

// All reports whether MCPHUD_TESTS asks for every case of an exhaustive test, as .ci/run does with "all". Otherwise such a test takes
// a sample, so that `go test ./...` ends soon.
func All() bool { return os.Getenv(TestsEnv) == "all" || Nightly() }

// Nightly reports whether MCPHUD_TESTS=nightly asks for cases that prove again what others prove on each push, on other backends or
// more often, as `.ci/run nightly` does.
func Nightly() bool { return os.Getenv(TestsEnv) == "nightly" }

// Race reports whether the race detector is on, for tests that then take a sample of what they go through otherwise.
func Race() bool { return raceEnabled }

// Best runs measure five times and returns the smallest duration it returned.
func Best(measure func() time.Duration) time.Duration {
	best := measure()
	for range runs - 1 {
		best = min(best, measure())
	}
	return best
}

// Pair measures two things alternately, five times each, and returns the best
// of each, so that a busy spell of the machine falls on both.
func Pair(got, base func() time.Duration) (bestGot, bestBase time.Duration) {
	bestBase, bestGot = base(), got()
	for range runs - 1 {
		bestBase = min(bestBase, base())
		bestGot = min(bestGot, got())
	}
	return bestGot, bestBase
}

// MedianPair is Pair for what takes seconds: the two of the five turns whose ratio is in the middle. The best of each could be from
// turns at which the machine was differently fast, which are seconds apart.
func MedianPair(got, base func() time.Duration) (medianGot, medianBase time.Duration) {
	var turns [runs][2]time.Duration
	for i := range turns {
		turns[i][1], turns[i][0] = base(), got()
	}
	slices.SortFunc(turns[:], func(a, b [2]time.Duration) int {
		return cmp.Compare(float64(a[0])/float64(a[1]), float64(b[0])/float64(b[1]))
	})
	return turns[runs/2][0], turns[runs/2][1]
}

// Time returns how long f took.
func Time(f func()) time.Duration {
	start := time.Now()
	f()
	return time.Since(start)
}

// Ceiling reports a duration against its ceiling.
func Ceiling(t testing.TB, what string, got, ceiling time.Duration) {
	t.Helper()
	if onPush() {
		t.Logf("budget: %s: %s, not judged on a push", what, text.Duration(got))
		return
	}
	report(t, what, text.Duration(got), "<= "+text.Duration(ceiling), float64(got), float64(ceiling), ceilingSlack)
}

// Beyond reports how much longer got is than a base that was measured in the
// same run, against a ceiling for the difference.
func Beyond(t testing.TB, what string, got, base, ceiling time.Duration) {
	t.Helper()
	sign, diff := "+", got-base
	if diff < 0 {
		sign, diff = "-", -diff
	}
	figure := fmt.Sprintf("%s%s (%s against %s)", sign, text.Duration(diff), text.Duration(got), text.Duration(base))
	if onPush() {
		t.Logf("budget: %s: %s, not judged on a push", what, figure)
		return
	}
	report(t, what, figure, "<= +"+text.Duration(ceiling), float64(got-base), float64(ceiling), ceilingSlack)
}

// Ratio reports a duration against limit times a base that was measured in the same run.
func Ratio(t testing.TB, what string, got, base time.Duration, limit float64) {
	t.Helper()
	figure := fmt.Sprintf("%.2fx (%s against %s)", float64(got)/float64(base), text.Duration(got), text.Duration(base))
	report(t, what, figure, fmt.Sprintf("<= %.3gx", limit), float64(got), limit*float64(base), ratioSlack)
}

// Size reports a number of bytes against limit times a payload of base bytes.
func Size(t testing.TB, what string, got, base int64, limit float64) {
	t.Helper()
	figure := fmt.Sprintf("%.2fx (%s for %s)", float64(got)/float64(base), text.Bytes(got), text.Bytes(base))
	report(t, what, figure, fmt.Sprintf("<= %.3gx", limit), float64(got), limit*float64(base), ratioSlack)
}

// report logs one figure, appends it to the file named by OutEnv, and fails t
// when it is more than slack times over the limit.
func report(t testing.TB, what, figure, ceiling string, got, limit, slack float64) {
	t.Helper()
	verdict := "ok"
	if got > limit {
		verdict = "OVER"
	}
	t.Logf("budget: %s: %s, ceiling %s: %s", what, figure, ceiling, verdict)
	if err := appendFigure(os.Getenv(OutEnv), what, figure, ceiling, verdict); err != nil {
		t.Errorf("budget: cannot record the figure in %s: %v", OutEnv, err)
	}
	if got > limit*slack {
		t.Errorf("budget: %s: %s is more than %g times past its ceiling of %s", what, figure, slack, ceiling)
	}
}

// appendFigure adds one line to file; an empty name records nothing. Packages
// are tested in parallel, and one short append is one write.
func appendFigure(file string, fields ...string) error {
	if file == "" {
		return nil
	}
	f, err := os.OpenFile(file, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = f.WriteString(strings.Join(fields, "\t") + "\n")
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	return err
}
