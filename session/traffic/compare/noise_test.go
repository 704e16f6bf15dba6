package compare

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mcphud/mcphud/session/test/require/assert"
)

// What looks like a time, an id or a duration does so up to its bounds, and not beyond them.
func TestLooks(t *testing.T) {
	now := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	at := func(d time.Duration) string { return now.Add(d).Format(time.RFC3339) }
	times := map[string]bool{
		at(0): true, at(near - time.Second): true, at(near): false, at(time.Second - near): true, at(-near): false,
		"2026-11-20 02:00:00": true, "2026-11-19T22:00:00": true, "2026-11-21 02:09:59": true, "2026-11-21 02:10:00": false,
		"2026-11-20": false, "Fri Nov 20 12:00:00 2026": true, "Fri, 20 Nov 2026 12:00:00 GMT": true, "now, or so, I should say": false,
	}
	for s, want := range times {
		if isTime(s, now) != want || isTime(s, time.Time{}) {
			t.Errorf("%s is a time of the call: %v; when none is known: %v", s, isTime(s, now), isTime(s, time.Time{}))
		}
	}
	hex := func(n int) string { return strings.Repeat("0aF9", 16)[:n] }
	for s, want := range map[string]bool{
		hex(15): false, hex(16): true, hex(17): false, hex(31): false, hex(32): true, hex(33): false, "/" + hex(15): false, ":" + hex(15): false, "g" + hex(15): false, "@" + hex(15): false,
		"00-" + hex(32) + "-" + hex(16) + "-01": true, "01-" + hex(32) + "-" + hex(16) + "-01": false,
	} {
		if isTrace(s) != want {
			t.Errorf("%s is a trace id: %v", s, !want)
		}
	}
	for s, want := range map[string]bool{
		"0s": true, "9h": true, "1m 5s": true, "5": false, "-5s": false, "s5": false, "/5s": false, "1." + strings.Repeat("0", 21) + "s": true, "1." + strings.Repeat("0", 22) + "s": false, "5 apples": false,
	} {
		if isDuration(s) != want {
			t.Errorf("%s is a duration: %v", s, !want)
		}
	}
	for s, want := range map[string]bool{
		"123e4567-e89b-12d3-a456-426614174000": true, "123e4567-e89b-12d3-a456-42661417400": false, "123e4567+e89b-12d3-a456-426614174000": false, "123e4567-e89b+12d3-a456-426614174000": false,
		"123e4567-e89b-12d3+a456-426614174000": false, "123e4567-e89b-12d3-a456+426614174000": false, "123e4567-e89b-12d3-a456-42661417400g": false,
	} {
		if isUUID(s) != want {
			t.Errorf("%s is a UUID: %v", s, !want)
		}
	}
	for s, want := range map[string]bool{"abc-12": true, "abc12": false, "abcdef": false, "A_z-09": true, "abc 123": false, "abc@12": false, "abc[12": false, "abc{12": false, "abc/12": false, "123456": true} {
		if opaque(s) != want {
			t.Errorf("%s is opaque: %v", s, !want)
		}
	}
}

func TestWordsOfNames(t *testing.T) {
	for name, want := range map[string]string{
		"retryMs": "retry ms", "tookMS": "took ms", "MSTook": "mstook", "X-Took.at/b c_d": "x took at b c d", "": "", "__": "", "ZAtZ": "zat z", "a": "a", "aB": "a b", "AZ": "az",
	} {
		assert.Equalf(t, strings.Join(words(name), " "), want, "%s", name)
	}
}

// Only what the versions of both sides explain is of the protocol.
func TestWhatTheProtocolDoesNotExplain(t *testing.T) {
	before, after := []byte(`{"content":[]}`), []byte(`{"content":[],"resultType":"complete"}`)
	for versions, want := range map[[2]string]string{
		{"2025-11-25", "2026-07-28"}: "added /resultType protocol", {"", "2026-07-28"}: "added /resultType", {"2025-11-25", ""}: "added /resultType",
	} {
		assert.Equalf(t, strings.Join(lines(Values(before, after, Options{Versions: versions})), ","), want, "%q", versions)
	}
	info := func(v string) []byte { return []byte(`{"_meta":{"io.modelcontextprotocol/serverInfo"` + v + `}}`) }
	for v, want := range map[[2]string]string{
		{`:"a"`, `:"b"`}:          "changed /_meta/io.modelcontextprotocol~1serverInfo protocol",
		{`:{}`, `:{"title":"b"}`}: "added /_meta/io.modelcontextprotocol~1serverInfo/title protocol",
		{`:{}`, `:{},"own":1`}:    "added /_meta/own",
	} {
		assert.Equalf(t, strings.Join(lines(Values(info(v[0]), info(v[1]), Options{})), ","), want, "%q", v)
	}
}

// Arrays of plain values differ in as few elements as can be.
func TestArraysDifferInLittle(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 7))
	var common func(a, b []int) int
	common = func(a, b []int) int {
		switch {
		case len(a) == 0 || len(b) == 0:
			return 0
		case a[0] == b[0]:
			return 1 + common(a[1:], b[1:])
		}
		return max(common(a[1:], b), common(a, b[1:]))
	}
	list := func() []int {
		out := make([]int, rng.IntN(8))
		for i := range out {
			out[i] = rng.IntN(5)
		}
		return out
	}
	raw := func(a []int) []byte { return []byte(strings.ReplaceAll(fmt.Sprint(a), " ", ",")) }
	for range 2000 {
		a, b := list(), list()
		n := 0
		for _, d := range Values(raw(a), raw(b), Options{NoGuess: true}).Differences {
			if n++; d.Op == Changed {
				n++
			}
		}
		if want := len(a) + len(b) - 2*common(a, b); n != want && !slices.Equal(a, b) {
			t.Fatalf("%v and %v: %d elements came or went, want %d", a, b, n, want)
		}
	}
}

// Elements that have names come and go at any index; which array they are in counts, and so does its order.
func TestNoiseOfElementsWithNames(t *testing.T) {
	list := func(a, b string) []byte {
		one := func(names string) string {
			var out []string
			for _, n := range strings.Fields(names) {
				out = append(out, `{"name":"`+n+`"}`)
			}
			return "[" + strings.Join(out, ",") + "]"
		}
		return []byte(`{"a":` + one(a) + `,"b":` + one(b) + `}`)
	}
	for _, c := range []struct {
		learn [2][]byte
		now   [2][]byte
		want  string
	}{
		{[2][]byte{list("x y z", ""), list("y z", "")}, [2][]byte{list("p q r", ""), list("p q", "")}, "removed /a/2 varies"},
		{[2][]byte{list("y z", ""), list("x y z", "")}, [2][]byte{list("p q", ""), list("p q r", "")}, "added /a/2 varies"},
		{[2][]byte{list("x y z", "x y z"), list("y z", "x y z")}, [2][]byte{list("p q r", "p q r"), list("p q r", "p q")}, "removed /b/2"},
		{[2][]byte{list("x y", "x y"), list("y x", "x y")}, [2][]byte{list("x y", "x y"), list("x y", "y x")}, "reordered /b"},
		{[2][]byte{list("x y", "x y"), list("y x", "x y")}, [2][]byte{list("p q", "x y"), list("q p", "x y")}, "reordered /a varies"},
	} {
		n := Learn(c.learn[0], c.learn[1])
		var got []string
		for _, l := range lines(Values(c.now[0], c.now[1], Options{Noise: n})) {
			if !strings.HasPrefix(l, "changed") {
				got = append(got, l)
			}
		}
		if strings.Join(got, ",") != c.want {
			t.Errorf("%s: %q, want %s", c.now, got, c.want)
		}
	}
}
