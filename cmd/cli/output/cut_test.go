package output

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/mcphud/mcphud/session/test/require"
	"github.com/mcphud/mcphud/session/test/require/assert"
	"github.com/mcphud/mcphud/session/traffic/expect"
)

// cuttable are values with each thing that can be cut.
var cuttable = []string{
	`"` + strings.Repeat("a", 100) + `"`,
	`"` + strings.Repeat("é€😀", 20) + `"`,
	`"` + strings.Repeat(`\n\"\u0001\ud83d\ude00`, 20) + `"`,
	`[` + strings.Repeat("1,", 50) + `1]`,
	`[[],{},"",null,true,` + strings.Repeat(`{"a":[1,2,"three"]},`, 20) + `false]`,
	`{"content":[{"type":"text","text":"` + strings.Repeat("long ", 60) + `"}],"structuredContent":{"of":"` + strings.Repeat("x", 200) + `"},"isError":false}`,
	`{"tools":[{"name":"a","description":"` + strings.Repeat("d", 80) + `"},{"name":"b"},{"name":"c","description":"` + strings.Repeat("e", 80) + `"}],"nextCursor":"x"}`,
	`{"` + strings.Repeat("k", 100) + `":{"a b":{"and":["` + strings.Repeat("x", 90) + `"]}}}`,
	`{` + strings.Repeat(`"m":1,`, 100) + `"n":"` + strings.Repeat("x", 50) + `"}`,
	`{"":"` + strings.Repeat("x", 99) + `"}`,
	strings.Repeat("[", 60) + `"` + strings.Repeat("deep", 20) + `"` + strings.Repeat("]", 60),
	`12345678901234567890.123456789`,
	`[]`,
	`{}`,
}

// Whatever the room is, what is printed is JSON of that size at most, and what it lacks is said.
func TestCutJSON(t *testing.T) {
	t.Parallel()
	for _, whole := range cuttable {
		some := false
		for most := range len(whole) + 1 {
			out, cuts := cutJSON([]byte(whole), most)
			if out == nil {
				continue
			}
			some = true
			if len(out) > most || !json.Valid(out) || (len(cuts) > 0) != (len(out) < len(whole)) || (len(cuts) > 0) != strings.Contains(string(out), "…") {
				t.Fatalf("%d bytes of %s: %s, %+v", most, whole, out, cuts)
			}
			for _, c := range cuts {
				if c.rest != "" {
					restOf(t, whole, string(out), c)
				}
			}
		}
		if !some {
			t.Errorf("nothing ever fits of %s", whole)
		}
	}
}

// restOf fails the test unless the expression of a cut gives what is missing there, and what was kept is its beginning.
func restOf(t *testing.T, whole, out string, c cut) {
	t.Helper()
	get := func(expr, of string) string {
		q, err := expect.Parse(expr)
		require.NoError(t, err)
		v, err := q.Value(t.Context(), []byte(of))
		require.NoError(t, err)
		return string(v)
	}
	full, kept, rest := get(c.at, whole), get(c.at, out), get(c.rest, whole)
	if full[0] == '"' {
		var texts [3]string
		for i, s := range []string{full, kept, rest} {
			require.NoError(t, json.Unmarshal([]byte(s), &texts[i]))
		}
		before, _, _ := strings.Cut(texts[1], "… ")
		assert.Equal(t, before+texts[2], texts[0])
		return
	}
	var all, some, more []json.RawMessage
	for s, to := range map[string]*[]json.RawMessage{full: &all, kept: &some, rest: &more} {
		require.NoError(t, json.Unmarshal([]byte(s), to))
	}
	whole = get(c.at+"[-1]", out)
	if n := len(all) - len(more); n > len(some)-1 || !strings.Contains(whole, "more") {
		t.Errorf("%s and the rest, %s, of %s", kept, rest, full)
	}
}

// The members of an object share what room there is, and the small ones are whole.
func TestCutShares(t *testing.T) {
	t.Parallel()
	whole := `{"a":"` + strings.Repeat("a", 1000) + `","b":[1,2,3],"c":"` + strings.Repeat("c", 1000) + `","d":false}`
	out, cuts := cutJSON([]byte(whole), 400)
	var is struct {
		A, C string
		B    []int
		D    *bool
	}
	require.NoError(t, json.Unmarshal(out, &is))
	if len(is.B) != 3 || is.D == nil || len(is.A) < 60 || len(is.C) < 60 || len(out) < 300 || len(cuts) != 2 || cuts[0].at != ".a" || cuts[1].at != ".c" {
		t.Errorf("%s %+v", out, cuts)
	}
	// One that is large gets what the small ones leave.
	out, cuts = cutJSON([]byte(`{"big":"`+strings.Repeat("b", 1000)+`","small":1,"other":2}`), 400)
	if len(out) < 360 || len(cuts) != 1 || cuts[0].rest == "" {
		t.Errorf("%s %+v", out, cuts)
	}
	out, cuts = cutJSON([]byte(" [ 1,\n2 ] "), 5)
	if string(out) != "[1,2]" || cuts != nil {
		t.Errorf("%s %+v", out, cuts)
	}
	if out, cuts = cutJSON([]byte(`{"broken":`), 5); out != nil || cuts != nil {
		t.Errorf("%s %+v", out, cuts)
	}
}

func FuzzCutJSON(f *testing.F) {
	for _, c := range cuttable {
		f.Add(c, 50)
	}
	f.Fuzz(func(t *testing.T, whole string, most int) {
		out, _ := cutJSON([]byte(whole), most)
		if out != nil && (len(out) > most || !json.Valid(out)) {
			t.Errorf("%d bytes of %q: %q", most, whole, out)
		}
		if utf8.ValidString(whole) && !utf8.Valid(out) {
			t.Errorf("%q of %q", out, whole)
		}
	})
}
