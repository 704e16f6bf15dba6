package compare

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/mcphud/mcphud/session/test/require/assert"
)

// Texts that are different in each run, and their neighbours that are not of the kind.
func TestLooksAtEdges(t *testing.T) {
	made := time.Date(2026, 11, 23, 8, 0, 0, 0, time.UTC)
	near := func(d time.Duration) string { return made.Add(d).Format(time.RFC3339) }
	const uuid = "123e4567-e89b-12d3-a456-426614174000"
	for name, c := range map[string]struct {
		is      func(string) bool
		yes, no []string
	}{
		"time": {
			func(s string) bool { return isTime(s, made) },
			[]string{near(0), near(10*time.Minute - time.Second), near(-10*time.Minute + time.Second), "2026-11-23 08:00:00", "2026-11-23T21:59:59", "2026-11-22 18:00:00", made.Format(time.RFC1123), made.Format(time.RFC1123Z), made.Format(time.ANSIC), made.Format(time.RFC3339Nano)},
			[]string{near(10 * time.Minute), near(-10 * time.Minute), "2026-11-23 22:11:00", "2026-11-23", "08:00:00", strings.Repeat("2", 41), "2026-11-23T08:00:00.000000000000000000000Z", ""},
		},
		"uuid":     {isUUID, []string{uuid, strings.ToUpper(uuid)}, []string{uuid[1:], uuid + "0", strings.Replace(uuid, "-", "0", 1), "123e45678e89b-12d3-a456-426614174000", "123e4567-e89b012d3-a456-426614174000", "123e4567-e89b-12d30a456-426614174000", "123e4567-e89b-12d3-a4560426614174000", strings.Replace(uuid, "e", "g", 1)}},
		"trace":    {isTrace, []string{"0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331", "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"}, []string{"0af7651916cd43dd8448eb211c80319", "b7ad6b716920333", "b7ad6b716920333g", "01-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01", "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-0g", ""}},
		"duration": {isDuration, []string{"1s", "1.5ms", "2h 3m", "9m", "0s"}, []string{"s", "1", "-1s", "a1s", ".5s", strings.Repeat("1", 24) + "s", "1 second"}},
		"opaque":   {opaque, []string{"abcde1", "A-b_c9", "123456", "z9z9z9"}, []string{"abcdef", "abcd1", "abc de1", "abcde1.", "abcd[1", "abcd{1", "abcd@1", "abcd`1", "ä12345"}},
		"clock":    {isClock, []string{"12:34:56", "00:00:00.5", "23:59:59"}, []string{"24:00:00", "12:34", "12:34:60", ""}},
		"epoch": {
			func(s string) bool { return isEpoch(s, made) },
			[]string{"1795420800", "1795420800000", "1795420800000000", "1795420800000000000", "1795420800.5", "1795421399", "1795420201"},
			[]string{"1795421400", "1795420200", "17954208000", "x", "0"},
		},
	} {
		for _, s := range c.yes {
			if !c.is(s) {
				t.Errorf("%q is no %s", s, name)
			}
		}
		for _, s := range c.no {
			if c.is(s) {
				t.Errorf("%q is a %s", s, name)
			}
		}
	}
	if isTime(near(0), time.Time{}) || isEpoch("0", time.Time{}) {
		t.Error("nothing is near a time that is not known")
	}
	for name, want := range map[string]string{"requestId": "request id", "REQUEST_ID": "request id", "request-id.x/y z": "request id x y z", "aBC": "a bc", "": "", "_": "", "ID": "id", "aé": "aé"} {
		assert.Equalf(t, strings.Join(words(name), " "), want, "%s", name)
	}
}

// What a changed value is taken for hangs on its name, its kind, and on both of its forms.
func TestGuessesAtEdges(t *testing.T) {
	made := time.Date(2026, 11, 23, 8, 0, 0, 0, time.UTC)
	o := &Options{Before: made, After: made.Add(time.Second)}
	for _, c := range []struct{ pointer, before, after, want string }{
		{"/requestId", `"abcde1"`, `"abcde2"`, "id of one request"},
		{"/requestId", `"abcde1"`, `"abcde12"`, ""},
		{"/requestId", `"abcde1"`, `"abcdef"`, ""},
		{"/requestId", `"abcdef"`, `"abcde1"`, ""},
		{"/name", `"abcde1"`, `"abcde2"`, ""},
		{"/took", `1`, `2`, "duration, by its name"},
		{"/count", `1`, `2`, ""},
		{"/took", `1`, `"2"`, ""},
		{"/took", `"1"`, `2`, ""},
		{"/at", `1795420800`, `1795420801`, "time of the call"},
		{"/at", `1795420800`, `5`, ""},
		{"/at", `5`, `1795420800`, ""},
		{"/text", `"at 12:00:00 it was"`, `"at 12:00:01 it was"`, "times, durations or ids in the text"},
		{"/text", `"at 12:00:00 it was"`, `"at 12:00:01 it is"`, ""},
		{"/text", `"12:00:00"`, `"12:00:01"`, ""},
		{"/text", `"took 5ms now"`, `"took 6ms now"`, "times, durations or ids in the text"},
		{"/text", `"took 5ms"`, `"took 6ms more"`, ""},
		{"/text", `"took 5ms"`, `"took six"`, ""},
		{"/text", `"took  5ms"`, `"took 5ms"`, ""},
		{"/ok", `true`, `false`, ""},
		{"/id~1took", `1`, `2`, "duration, by its name"},
	} {
		if got := o.guess(Difference{Pointer: c.pointer, Before: []byte(c.before), After: []byte(c.after)}); got != c.want {
			t.Errorf("%s: %s → %s: %q, want %q", c.pointer, c.before, c.after, got, c.want)
		}
		if got := o.guess(Difference{Pointer: "/x", Within: c.pointer, Before: []byte(c.before), After: []byte(c.after)}); got != c.want {
			t.Errorf("within, %s: %s → %s: %q, want %q", c.pointer, c.before, c.after, got, c.want)
		}
	}
}

// What follows from the versions is there on the modern side only, and only where both are known.
func TestProtocolAtEdges(t *testing.T) {
	const old, now = "2025-11-25", "2026-07-28"
	for _, c := range []struct {
		versions [2]string
		d        Difference
		want     string
	}{
		{[2]string{old, now}, Difference{Pointer: "/ttlMs", Op: Added}, "only the modern era has it"},
		{[2]string{old, now}, Difference{Pointer: "/ttlMs", Op: Removed}, ""},
		{[2]string{now, old}, Difference{Pointer: "/ttlMs", Op: Removed}, "only the modern era has it"},
		{[2]string{now, old}, Difference{Pointer: "/ttlMs", Op: Added}, ""},
		{[2]string{old, now}, Difference{Pointer: "/ttlMs", Op: Changed}, ""},
		{[2]string{old, now}, Difference{Pointer: "/x", Op: Added}, ""},
		{[2]string{old, now}, Difference{Pointer: "/x", Within: "/ttlMs", Op: Added}, ""},
		{[2]string{now, now}, Difference{Pointer: "/ttlMs", Op: Added}, ""},
		{[2]string{"", now}, Difference{Pointer: "/ttlMs", Op: Added}, ""},
		{[2]string{old, ""}, Difference{Pointer: "/ttlMs", Op: Added}, ""},
		{[2]string{old, "DRAFT-2026"}, Difference{Pointer: "/ttlMs", Op: Added}, ""},
		{[2]string{}, Difference{Pointer: "/_meta/io.modelcontextprotocol~1serverInfo", Op: Changed}, "names the server"},
		{[2]string{}, Difference{Pointer: "/_meta/io.modelcontextprotocol~1serverInfo/name", Op: Added}, "names the server"},
		{[2]string{}, Difference{Pointer: "/_meta/io.modelcontextprotocol~1serverInfo", Op: Added}, ""},
		{[2]string{old, now}, Difference{Pointer: "/_meta/io.modelcontextprotocol~1serverInfo", Op: Added}, "only the modern era has it"},
	} {
		o := &Options{Versions: c.versions}
		assert.Equalf(t, o.protocolReason(c.d), c.want, "%q %+v", c.versions, c.d)
	}
}

// Differences of values, as pointers and what happened there.
func TestValuesAtEdges(t *testing.T) {
	deep := func(s string) string { return strings.Repeat(`{"a":`, 101) + s + strings.Repeat(`}`, 101) }
	for _, c := range []struct{ before, after, want string }{
		{`1`, `1.0`, ""},
		{`-0`, `0`, ""},
		{`1e2`, `100`, ""},
		{`1e2`, `1000`, "changed "},
		{`-1`, `1`, "changed "},
		{`0.10`, `0.1`, ""},
		{`10`, `1`, "changed "},
		{`1e99999999999999999999`, `1`, "changed "},
		{`"a"`, `"\u0061"`, ""},
		{``, `1`, "added "},
		{`1`, ``, "removed "},
		{`{"a":1}`, `[1]`, "changed "},
		{`{"a":1,"b":2}`, `{"b":3,"c":4}`, "removed /a, changed /b, added /c"},
		{`{"a":1,"a":2}`, `{"a":1,"a":3}`, "changed /a"},
		{`{"b":0,"a":1,"a":2}`, `{"a":1,"a":3,"b":0}`, "changed /a#2"},
		{`[1,2,3]`, `[1,3]`, "removed /1"},
		{`[1,3]`, `[1,2,3]`, "added /1"},
		{`[1,2]`, `[1,2,3]`, "added /2"},
		{`[2,3]`, `[1,2,3]`, "added /0"},
		{`[1,2,3]`, `[1,9,3]`, "changed /1"},
		{`[1,2,3,4,5]`, `[1,9,3,8,5]`, "changed /1, changed /3"},
		{`[]`, `[1]`, "added /0"},
		{`[1]`, `[]`, "removed /0"},
		{`[1,2,5,6,3]`, `[7,2,3,4]`, "changed /0, removed /2, removed /3 → /2, added /3"},
		{`[1,1]`, `[1]`, "removed /1"},
		{`[{"name":"a","x":1},{"name":"b","x":1}]`, `[{"name":"b","x":2},{"name":"a","x":1}]`, "changed /1/x → /0/x, reordered "},
		{`[{"name":"a"},{"name":"b"}]`, `[{"name":"c"},{"name":"b"}]`, "removed /0, added /0"},
		{`[{"name":"a"}]`, `[{"name":"b"}]`, "changed /0/name"},
		{`[{"id":1},{"id":2}]`, `[{"id":3},{"id":4}]`, "changed /0/id, changed /1/id"},
		{`[{"id":1},{"id":2}]`, `[{"id":2},{"id":4}]`, "removed /0, added /1"},
		{`[{"name":"a"},{"name":"a"}]`, `[{"name":"a"}]`, "removed /1"},
		{`[{"id":null}]`, `[{"id":null,"x":1}]`, "added /0/x"},
		{`{"t":"{\"a\":1}"}`, `{"t":"{\"a\":2}"}`, "changed /t in /a"},
		{`{"t":"{\"a\":1}"}`, `{"t":"{ \"a\":1}"}`, "changed /t"},
		{`{"t":"{"}`, `{"t":"["}`, "changed /t"},
		{`{"a~/b":1}`, `{"a~/b":2}`, "changed /a~0~1b"},
		{deep(`1`), deep(`2`), "changed " + strings.Repeat("/a", 100)},
		{deep(`{"x":1,"y":2}`), deep(`{"y":2,"x":1}`), ""},
		{`{"a":1`, `{}`, "changed "},
	} {
		var out []string
		for _, d := range Values([]byte(c.before), []byte(c.after), Options{NoGuess: true}).Differences {
			s := string(d.Op) + " " + d.Pointer
			if d.There != "" {
				s += " → " + d.There
			}
			if d.Within != "" {
				s += " in " + d.Within
			}
			out = append(out, s)
		}
		assert.Equalf(t, strings.Join(out, ", "), c.want, "%.60s → %.60s", c.before, c.after)
	}
	// An object of very many members in another order is one difference.
	var a, b strings.Builder
	for i := range 101_000 {
		fmt.Fprintf(&a, `"%d":0,`, i)
		fmt.Fprintf(&b, `"%d":0,`, 101_000-i)
	}
	r := Values([]byte("{"+a.String()+`"z":0}`), []byte("{"+b.String()+`"z":0}`), Options{})
	if len(r.Differences) != 1 || r.Differences[0].Op != Changed || r.Differences[0].Pointer != "" {
		t.Errorf("%d differences, %d more", len(r.Differences), r.More)
	}
}

// A thousand differences are listed, and further ones counted.
func TestManyDifferences(t *testing.T) {
	for n, more := range map[int]int{1000: 0, 1001: 1} {
		list := func(of string) []byte { return []byte("[" + strings.TrimSuffix(strings.Repeat(of+",", n), ",") + "]") }
		r := Values(list("1"), list("2"), Options{})
		if len(r.Differences) != 1000 || r.More != more || r.Real() != n {
			t.Errorf("of %d: %d, and %d more, %d real", n, len(r.Differences), r.More, r.Real())
		}
	}
}

// What is said of several kinds of differences.
func TestSummaries(t *testing.T) {
	for want, r := range map[string]Result{
		"the same": {}, "1 difference": {real: 1, More: 1}, "2 differences": {real: 2, More: 2}, "1 possible difference": {guesses: 1, More: 1}, "the same but for 1 expected difference": {More: 1}, "the same but for 2 expected differences": {More: 2},
		"1 difference, and 2 possible differences": {real: 1, guesses: 2, More: 3}, "1 difference, and 2 expected": {real: 1, More: 3}, "1 difference, 1 possible difference, and 1 expected": {real: 1, guesses: 1, More: 3}, "1 difference; by hash": {real: 1, More: 1, Note: "by hash"},
	} {
		assert.Equal(t, r.Summary(), want)
		assert.Equalf(t, r.Same(), strings.HasPrefix(want, "the same"), "%q is the same", want)
	}
}
