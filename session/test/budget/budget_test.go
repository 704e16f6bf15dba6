package budget

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/mcphud/mcphud/session/test/require"
	"github.com/mcphud/mcphud/session/test/require/assert"
)

// recorder is a testing.TB that counts failures instead of failing.
type recorder struct {
	testing.TB
	errors int
}

func (r *recorder) Helper()               {}
func (r *recorder) Logf(string, ...any)   {}
func (r *recorder) Errorf(string, ...any) { r.errors++ }

func TestVerdicts(t *testing.T) {
	out := filepath.Join(t.TempDir(), "figures.tsv")
	t.Setenv(OutEnv, out)
	const ms = time.Millisecond
	cases := []struct {
		name   string
		report func(testing.TB)
		fails  int
		line   string
	}{
		{"met", func(t testing.TB) { Ceiling(t, "a", 900*time.Microsecond, ms) }, 0, "a\t900µs\t<= 1ms\tok\n"},
		{"over but tolerated", func(t testing.TB) { Ceiling(t, "b", 2*ms, ms) }, 0, "b\t2ms\t<= 1ms\tOVER\n"},
		{"over twice", func(t testing.TB) { Ceiling(t, "c", 2*ms+1, ms) }, 1, "c\t2ms\t<= 1ms\tOVER\n"},
		{"ratio met", func(t testing.TB) { Ratio(t, "d", 130*ms, 100*ms, 1.3) }, 0, "d\t1.30x (130ms against 100ms)\t<= 1.3x\tok\n"},
		{"ratio tolerated", func(t testing.TB) { Ratio(t, "e", 160*ms, 100*ms, 1.3) }, 0, "e\t1.60x (160ms against 100ms)\t<= 1.3x\tOVER\n"},
		{"ratio broken", func(t testing.TB) { Ratio(t, "f", 163*ms, 100*ms, 1.3) }, 1, "f\t1.63x (163ms against 100ms)\t<= 1.3x\tOVER\n"},
		{"beyond met", func(t testing.TB) { Beyond(t, "h", 90*ms, 100*ms, 60*ms) }, 0, "h\t-10ms (90ms against 100ms)\t<= +60ms\tok\n"},
		{"beyond broken", func(t testing.TB) { Beyond(t, "i", 221*ms, 100*ms, 60*ms) }, 1, "i\t+121ms (221ms against 100ms)\t<= +60ms\tOVER\n"},
		{"size broken", func(t testing.TB) { Size(t, "g", 126_000_000, 50_000_000, 2) }, 1, "g\t2.52x (126.0 MB for 50.0 MB)\t<= 2x\tOVER\n"},
	}
	var want string
	for _, c := range cases {
		r := &recorder{TB: t}
		c.report(r)
		if r.errors != c.fails {
			t.Errorf("%s: %d failures, want %d", c.name, r.errors, c.fails)
		}
		want += c.line
	}
	got, err := os.ReadFile(out)
	require.NoError(t, err)
	assert.Equalf(t, string(got), want, "recorded")
}

func TestBestOfFive(t *testing.T) {
	n := time.Duration(0)
	next := func() time.Duration { n++; return (n*3)%7 + 1 } // 4 7 3 6 2, 5 1 4 …
	if got := Best(next); got != 2 || n != runs {
		t.Errorf("Best = %d after %d runs, want 2 after %d", got, n, runs)
	}
	var order string
	Pair(func() time.Duration { order += "g"; return 1 }, func() time.Duration { order += "b"; return 1 })
	if order != "bgbgbgbgbg" {
		t.Errorf("Pair measured in order %s", order)
	}
	if d := Time(func() {}); d < 0 {
		t.Error(fmt.Sprint("negative duration ", d))
	}
}

// On a push only ratios are judged, by tests that ask for it; all of them run with "1", none without.
func TestWhatRunsWhen(t *testing.T) {
	out := filepath.Join(t.TempDir(), "figures.tsv")
	t.Setenv(OutEnv, out)
	for _, c := range []struct {
		value     string
		all, push bool
		verdict   int
	}{
		{"", false, false, 1}, {"1", true, true, 1}, {PushValue, false, true, 0},
	} {
		t.Setenv(EnableEnv, c.value)
		runs := func(skip func(testing.TB)) (ran bool) {
			t.Run("", func(t *testing.T) {
				skip(t)
				ran = true
			})
			return ran
		}
		if all, push := runs(Skip), runs(Push); all != (c.all && !raceEnabled) || push != (c.push && !raceEnabled) {
			t.Errorf("with %q: Skip lets a test run: %v, Push: %v", c.value, all, push)
		}
		for what, report := range map[string]func(testing.TB){
			"ceiling": func(t testing.TB) { Ceiling(t, "a", 3, 1) },
			"beyond":  func(t testing.TB) { Beyond(t, "b", 4, 1, 1) },
		} {
			r := &recorder{TB: t}
			if report(r); r.errors != c.verdict {
				t.Errorf("with %q: a %s that is missed is %d errors, want %d", c.value, what, r.errors, c.verdict)
			}
		}
		r := &recorder{TB: t}
		if Ratio(r, "c", 3, 1, 1); r.errors != 1 {
			t.Errorf("with %q: a ratio that is missed is %d errors", c.value, r.errors)
		}
	}
}

func TestAlternate(t *testing.T) {
	var order string
	got := Alternate(
		func() time.Duration { order += "a"; return time.Duration(100 - min(len(order), 50)) },
		func() time.Duration { order += "b"; return time.Duration(len(order)) })
	if got[0] != 50 || got[1] != 2 || len(order) != 2*mostRounds || order[:6] != "ababab" {
		t.Errorf("Alternate = %v, measured %d times, in order %.6s", got, len(order), order)
	}
}

// Twice the work takes longer, so that what is compared with it may.
func TestWorkGrows(t *testing.T) {
	best := Alternate(Work(pieceTime), Work(20*pieceTime))
	t.Logf("one piece of work takes %s, 20 take %s", best[0], best[1])
	if best[1] < 2*best[0] {
		t.Errorf("20 pieces of work take %s, one takes %s", best[1], best[0])
	}
}

// Of five turns at a machine that becomes slower, the ratio of one turn counts.
func TestMedianPair(t *testing.T) {
	got, base := []time.Duration{30, 45, 20, 60, 30}, []time.Duration{20, 30, 5, 40, 30}
	next := func(of *[]time.Duration) func() time.Duration {
		return func() time.Duration {
			d := (*of)[0]
			*of = (*of)[1:]
			return d
		}
	}
	if g, b := MedianPair(next(&got), next(&base)); float64(g)/float64(b) != 1.5 {
		t.Errorf("%d against %d", g, b)
	}
}
