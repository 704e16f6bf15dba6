package compare

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/mcphud/mcphud/session/base/jsonrpc"
	"github.com/mcphud/mcphud/session/test/require/assert"
)

// lines are differences as text: op, place, and what the class is if it is not real.
func lines(r Result) (out []string) {
	for _, d := range r.Differences {
		l := string(d.Op) + " " + d.Place()
		if d.There != "" {
			l += " (" + d.There + ")"
		}
		if d.Class != Real {
			l += " " + string(d.Class)
		}
		out = append(out, l)
	}
	return out
}

func TestValues(t *testing.T) {
	for _, c := range []struct{ before, after, want string }{
		{`{"a":1,"b":[1,2]}`, ` { "b" : [1, 2] , "a" : 1 } `, ``},
		{`{"a":1.0,"b":100,"c":-0,"d":0.50}`, `{"a":1,"b":1e2,"c":0,"d":5e-1}`, ``},
		{`{"n":12345678901234567890}`, `{"n":12345678901234567891}`, `changed /n`},
		{`{"n":1e400}`, `{"n":1e401}`, `changed /n`},
		{`{"n":1e99999999999999999999}`, `{"n":1e99999999999999999998}`, `changed /n`},
		{`{"a":1,"x/y~":2}`, `{"b":1}`, `removed /a,removed /x~1y~0,added /b`},
		{`{"a":null}`, `{}`, `removed /a`},
		{`{"a":""}`, `{"a":null}`, `changed /a`},
		{`[1,2,3,4]`, `[1,3,4]`, `removed /1`},
		{`[1,2,3]`, `[0,1,2,3,9]`, `added /0,added /4`},
		{`[{"v":1},{"v":2}]`, `[{"v":1},{"v":3}]`, `changed /1/v`},
		{`[[1],[2],[3]]`, `[[2],[3],[4]]`, `removed /0,added /2`},
		{`{"tools":[{"name":"a","x":1},{"name":"b"}]}`, `{"tools":[{"name":"b"},{"name":"c"},{"name":"a","x":2}]}`, `changed /tools/0/x (/tools/2/x),added /tools/1,reordered /tools`},
		{`{"tools":[{"name":"a"},{"name":"b"}]}`, `{"tools":[{"name":"c"},{"name":"d"}]}`, `removed /tools/0,removed /tools/1,added /tools/0,added /tools/1`},
		{`[{"id":1,"v":1},{"id":2,"v":2}]`, `[{"id":7,"v":1},{"id":8,"v":2}]`, `changed /0/id,changed /1/id`},
		{`"é"`, `"\u00e9"`, ``},
		{`{"text":"{\"t\":20,\"u\":\"C\"}"}`, `{"text":"{\"t\":21,\"u\":\"C\"}"}`, `changed /text → /t`},
		{`{"text":"{\"t\": 20}"}`, `{"text":"{\"t\":20}"}`, `changed /text`},
		{`{"a":1,"a":2}`, `{"a":1,"a":3}`, `changed /a`},
		{`{"a":1,"a":2}`, `{"b":0,"a":1,"a":3}`, `changed /a#2,added /b`},
		{`{"a":1}`, `[1]`, `changed (all of it)`},
		{``, `{"a":1}`, `added (all of it)`},
		{`{"a":`, `{"a":1}`, `changed (all of it)`},
	} {
		r := Values([]byte(c.before), []byte(c.after), Options{NoGuess: true})
		if got := strings.Join(lines(r), ","); got != c.want {
			t.Errorf("%s\n%s\ngot  %s\nwant %s", c.before, c.after, got, c.want)
		}
		assert.Equalf(t, r.Same(), c.want == "", "%s and %s: same", c.before, c.after)
	}
}

// Two equal runs tell which differences say nothing; another type at the same place does.
func TestNoiseThatIsLearnt(t *testing.T) {
	n := Learn([]byte(`{"at":1,"log":["a","b"],"id":"x","same":1}`), []byte(`{"at":2,"log":["a","c","d"],"id":"y","same":1}`))
	for _, c := range []struct{ before, after, want string }{
		{`{"at":1,"same":1}`, `{"at":9,"same":2}`, `changed /at varies,changed /same`},
		{`{"at":1}`, `{"at":"soon"}`, `changed /at`},
		{`{"at":1}`, `{}`, `removed /at`},
		{`{"log":["a","b"]}`, `{"log":["a","b","e","f"]}`, `added /log/2 varies,added /log/3 varies`},
	} {
		got := strings.Join(lines(Values([]byte(c.before), []byte(c.after), Options{Noise: n})), ",")
		assert.Equalf(t, got, c.want, "%s → %s", c.before, c.after)
	}
}

func TestNoiseByItsLooks(t *testing.T) {
	now := time.Date(2026, 11, 22, 22, 30, 0, 0, time.UTC)
	then := now.Add(-26 * time.Hour)
	o := Options{Before: then, After: now}
	for _, c := range []struct{ before, after, want string }{
		{`{"t":"2026-11-21T20:30:01Z"}`, `{"t":"2026-11-22T22:30:02.5Z"}`, `time of the call`},
		{`{"t":"2026-11-21 20:31:01"}`, `{"t":"2026-11-22 22:30:02"}`, `time of the call`},
		{`{"due":"2027-01-01T00:00:00Z"}`, `{"due":"2027-02-01T00:00:00Z"}`, ``},
		{`{"t":1795379400}`, `{"t":1795473000}`, ``},
		{fmt.Sprintf(`{"t":%d}`, then.Unix()), fmt.Sprintf(`{"t":%d}`, now.Unix()+2), `time of the call`},
		{fmt.Sprintf(`{"t":%d}`, then.UnixMilli()), fmt.Sprintf(`{"t":%d}`, now.UnixMilli()), `time of the call`},
		{`{"i":"0b5cf33c-7b0e-4d43-a2b0-0d5d4a3a1a11"}`, `{"i":"7a5cf33c-7b0e-4d43-a2b0-0d5d4a3a1a12"}`, `UUID`},
		{`{"i":"0b5cf33c-7b0e-4d43-a2b0-0d5d4a3a1a11"}`, `{"i":"none"}`, ``},
		{`{"i":"0af7651916cd43dd8448eb211c80319c"}`, `{"i":"1af7651916cd43dd8448eb211c80319d"}`, `trace id`},
		{`{"d":"12.5ms"}`, `{"d":"13ms"}`, `duration`},
		{`{"tookMs":12}`, `{"tookMs":15}`, `duration`},
		{`{"items":12}`, `{"items":15}`, ``},
		{`{"requestId":"req_8a7f1c"}`, `{"requestId":"req_11ff00"}`, `id of one request`},
		{`{"version":"v1.2.3"}`, `{"version":"v1.2.4"}`, ``},
		{`{"text":"done in 12ms at 20:30:01"}`, `{"text":"done in 15ms at 22:30:02"}`, `times, durations or ids`},
		{`{"text":"took 12ms for 3 rows"}`, `{"text":"took 15ms for 4 rows"}`, ``},
	} {
		r := Values([]byte(c.before), []byte(c.after), o)
		if len(r.Differences) != 1 {
			t.Fatalf("%s: %v", c.before, lines(r))
		}
		d := r.Differences[0]
		if (d.Class == Guess) != (c.want != "") || !strings.Contains(d.Reason, c.want) {
			t.Errorf("%s → %s: %s %q, want %q", c.before, c.after, d.Class, d.Reason, c.want)
		}
		if r.Same() || r.Real()+r.Guesses() != 1 || r.Noise() != 0 {
			t.Errorf("%s → %s: same is %v, %d real, %d guesses, %d noise: a guess is a difference", c.before, c.after, r.Same(), r.Real(), r.Guesses(), r.Noise())
		}
	}
}

// Where the same was asked twice, what did not vary there is no noise, whatever it looks like.
func TestNothingIsGuessedOfWhatWasAskedTwice(t *testing.T) {
	now := time.Date(2026, 11, 22, 22, 30, 0, 0, time.UTC)
	before := `{"md5":"d41d8cd98f00b204e9800998ecf8427e","account":"1234567890123456","timeout":"30s","retryMs":100,"at":"2026-11-22T22:30:00Z","n":1,"text":"in 12ms at 22:30:01"}`
	after := `{"md5":"0cc175b9c0f1b6a831c399e269772661","account":"6543210987654321","timeout":"24h","retryMs":90000,"at":"2026-11-22T22:31:00Z","n":2,"text":"in 15ms at 22:31:01"}`
	learnt := Learn([]byte(before), []byte(strings.Replace(before, `"n":1`, `"n":7`, 1)))
	r := Values([]byte(before), []byte(after), Options{Noise: learnt, Before: now, After: now})
	if r.Same() || r.Real() != 6 || r.Guesses() != 0 || r.Noise() != 1 {
		t.Errorf("%s: %v", r.Summary(), lines(r))
	}
}

func TestSummary(t *testing.T) {
	now := time.Date(2026, 11, 22, 22, 30, 0, 0, time.UTC)
	o := Options{Before: now, After: now, Ignore: func(p string) bool { return p == "/ignored" }}
	for _, c := range []struct{ before, after, want string }{
		{`{"a":1}`, `{"a":1}`, "the same"},
		{`{"ignored":1}`, `{"ignored":2}`, "the same but for 1 expected difference"},
		{`{"a":1}`, `{"a":2}`, "1 difference"},
		{`{"a":1,"ignored":1}`, `{"a":2,"ignored":2}`, "1 difference, and 1 expected"},
		{`{"tookMs":1}`, `{"tookMs":2}`, "1 possible difference"},
		{`{"tookMs":1,"ignored":1}`, `{"tookMs":2,"ignored":2}`, "1 possible difference, and 1 expected"},
		{`{"a":1,"b":1,"tookMs":1,"ignored":1}`, `{"a":2,"b":2,"tookMs":2,"ignored":2}`, "2 differences, 1 possible difference, and 1 expected"},
	} {
		assert.Equalf(t, Values([]byte(c.before), []byte(c.after), o).Summary(), c.want, "%s and %s", c.before, c.after)
	}
}

// Guesses are counted also where they are too many to be listed.
func TestGuessesBeyondTheList(t *testing.T) {
	many := func(n int) []byte {
		var b strings.Builder
		for i := range MaxDifferences + 5 {
			fmt.Fprintf(&b, `,"m%d":{"tookMs":%d}`, i, n)
		}
		return []byte("{" + b.String()[1:] + "}")
	}
	if r := Values(many(1), many(2), Options{}); r.Same() || r.Guesses() != MaxDifferences+5 || r.More != 5 || r.Noise() != 0 {
		t.Errorf("%d guesses, %d more, %d noise", r.Guesses(), r.More, r.Noise())
	}
}

// What only one era has does not tell servers apart, unless both speak the same one.
func TestWhatTheProtocolAdds(t *testing.T) {
	before, after := []byte(`{"content":[]}`), []byte(`{"content":[],"resultType":"complete","x":1}`)
	if got := strings.Join(lines(Values(before, after, Options{Versions: [2]string{"2025-11-25", "2026-07-28"}})), ","); got != "added /resultType protocol,added /x" {
		t.Error(got)
	}
	assert.Equal(t, strings.Join(lines(Values(before, after, Options{Versions: [2]string{"2026-07-28", "2026-07-28"}})), ","), "added /resultType,added /x")
	server := `"io.modelcontextprotocol/serverInfo":{"name":"%s"}`
	if got := strings.Join(lines(Values(fmt.Appendf(nil, `{"_meta":{`+server+`}}`, "a"), fmt.Appendf(nil, `{"_meta":{`+server+`}}`, "b"), Options{})), ","); got != "changed /_meta/io.modelcontextprotocol~1serverInfo/name protocol" {
		t.Error(got)
	}
	if got := strings.Join(lines(Values(after, before, Options{Versions: [2]string{"2025-11-25", "2026-07-28"}})), ","); got != "removed /resultType,removed /x" {
		t.Errorf("on the wrong side: %s", got)
	}
}

// What is large, deep or long is compared in bounded time and memory, and said to be.
func TestBounds(t *testing.T) {
	large := func(c string) []byte { return []byte(`{"text":"` + strings.Repeat(c, MaxBytes) + `"}`) }
	r := Values(large("a"), large("b"), Options{})
	if r.Same() || !strings.Contains(r.Note, "too large to compare by structure (8.4 MB, 8.4 MB): sha256 ") || len(r.Differences) != 1 || r.Differences[0].Before != nil {
		t.Errorf("%+v", r.Note)
	}
	if r := Values(large("a"), large("a"), Options{}); !r.Same() || r.Note != "" {
		t.Error("equal bytes are not the same")
	}
	deep := func(s string) []byte { return []byte(strings.Repeat(`{"a":[`, 5000) + s + strings.Repeat(`]}`, 5000)) }
	if r := Values(deep("1"), deep("2"), Options{}); r.Same() {
		t.Error("a difference far down is not found")
	}
	if r := Values(deep("1"), deep(" 1"), Options{}); !r.Same() {
		t.Error("white space far down is a difference")
	}
	long := func(from int) []byte {
		var b strings.Builder
		for i := range 20000 {
			fmt.Fprintf(&b, ",%d", from+i)
		}
		return []byte("[" + b.String()[1:] + "]")
	}
	r = Values(long(0), long(1), Options{})
	if r.Same() || len(r.Differences) != MaxDifferences || r.Real() != MaxDifferences+r.More {
		t.Errorf("%d differences, %d more, %d real", len(r.Differences), r.More, r.Real())
	}
}

// random makes a value out of few parts, so that two of them have much in common.
func random(rng *rand.Rand, depth int) any {
	switch n := rng.IntN(7); {
	case n == 0:
		return nil
	case n == 1:
		return rng.IntN(3)
	case n == 2, depth == 0:
		return []string{"a", "b", `{"a":1}`}[rng.IntN(3)]
	case n < 5:
		out := map[string]any{}
		for range rng.IntN(4) {
			out[[]string{"name", "b", "c/d", "~"}[rng.IntN(4)]] = random(rng, depth-1)
		}
		return out
	default:
		out := []any{}
		for range rng.IntN(5) {
			out = append(out, random(rng, depth-1))
		}
		return out
	}
}

// Values that are equal have no difference, and others have one; each pointer leads to the value that is said to be there.
func TestPointersLeadToTheValues(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 3000 {
		a, b := random(rng, 4), random(rng, 4)
		x, _ := json.Marshal(a)
		y, _ := json.Marshal(b)
		r := Values(x, y, Options{NoGuess: true})
		if r.Same() != reflect.DeepEqual(decode(x), decode(y)) {
			t.Fatalf("%s\n%s\nsame is %v", x, y, r.Same())
		}
		for _, d := range r.Differences {
			if d.Within != "" || d.Op == Reordered {
				continue
			}
			there := d.Pointer
			if d.There != "" {
				there = d.There
			}
			if d.Op != Added && !same(at(decode(x), d.Pointer), d.Before) || d.Op != Removed && !same(at(decode(y), there), d.After) {
				t.Fatalf("%s\n%s\n%+v", x, y, d)
			}
		}
	}
}

func decode(b []byte) (v any) {
	_ = json.Unmarshal(b, &v)
	return v
}

func same(v any, raw []byte) bool { return raw != nil && reflect.DeepEqual(v, decode(raw)) }

func at(v any, pointer string) any {
	if pointer == "" {
		return v
	}
	for _, p := range strings.Split(pointer[1:], "/") {
		switch x := v.(type) {
		case map[string]any:
			v = x[jsonrpc.UnescapeToken(p)]
		case []any:
			var i int
			_, _ = fmt.Sscan(p, &i)
			if i >= len(x) {
				return "no such element"
			}
			v = x[i]
		}
	}
	return v
}

func FuzzValues(f *testing.F) {
	f.Add([]byte(`{"a":[1,{"name":"x"}]}`), []byte(`{"a":[{"name":"x"},2]}`))
	f.Fuzz(func(t *testing.T, a, b []byte) {
		now := time.Now()
		r := Values(a, b, Options{Noise: Learn(a, b), Before: now, After: now})
		if back := Values(b, a, Options{NoGuess: true}); len(back.Differences)+back.More == 0 != (len(r.Differences)+r.More == 0) {
			t.Errorf("%q and %q: different one way only", a, b)
		}
	})
}

// What is hostile takes no longer than what is large.
func BenchmarkValues(b *testing.B) {
	list := func(change int) []byte {
		var s strings.Builder
		s.WriteString(`{"tools":[`)
		for i := range 5000 {
			if i > 0 {
				s.WriteByte(',')
			}
			fmt.Fprintf(&s, `{"name":"tool%d","description":"%s","inputSchema":{"type":"object","properties":{"a":{"type":"string"},"n":{"type":"integer","minimum":%d}}}}`, i, strings.Repeat("words ", 200), i%change)
		}
		s.WriteString(`]}`)
		return []byte(s.String())
	}
	same := func(n int) []byte { return []byte(`{` + strings.Repeat(`"a":1,`, n) + `"b":1}`) }
	deep := func(s string) []byte {
		return []byte(strings.Repeat(`[`, 4<<20) + s + strings.Repeat(`]`, 3<<20+1<<20))
	}
	numbers := func(from int) []byte {
		var s strings.Builder
		for i := range 500_000 {
			fmt.Fprintf(&s, ",%d", from+i*7)
		}
		return []byte("[" + s.String()[1:] + "]")
	}
	for name, v := range map[string][2][]byte{
		"list": {list(1000), list(1001)}, "one name": {same(1 << 20), append([]byte(`{"x":0,`), same(1 << 20)[1:]...)}, "deep": {deep("1"), deep("2")}, "numbers": {numbers(1), numbers(2)},
		"squares": {[]byte("[" + strings.Repeat("1,2,", 1023) + "3]"), []byte("[" + strings.Repeat("2,1,", 1023) + "4]")},
	} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(v[0]) + len(v[1])))
			for b.Loop() {
				Values(v[0], v[1], Options{})
			}
		})
	}
}
