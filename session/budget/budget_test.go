package budget

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"
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
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != want {
		t.Errorf("recorded:\n%swant:\n%s", got, want)
	}
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
