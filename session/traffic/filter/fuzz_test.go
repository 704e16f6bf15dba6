package filter_test

import (
	"errors"
	"testing"
	"unicode/utf8"

	"github.com/mcphud/mcphud/session/traffic/filter"
)

// Every text is a filter or has an error that points into it; what comes before the error is a filter, and every completion
// lies in its text.
func FuzzParse(f *testing.F) {
	for _, s := range []string{
		"", `echo -"a b" method:=tools/call tool:/x/i >10kb <=1.5s at:10:31..2026-11-22 status:ok,late`, `tool:"a\"b`, "text:/(/", "-:", "-\"", ">=", "at:..", "größe:ß", "id:\xff,",
	} {
		f.Add(s, len(s)/2)
	}
	j := recorded(f)
	var seen filter.Seen
	seen.Update(j)
	entries := j.Snapshot(0, nil)
	f.Fuzz(func(t *testing.T, s string, cursor int) {
		got, err := filter.Parse(s)
		var bad *filter.SyntaxError
		switch {
		case err == nil:
			for i := range entries {
				got.Match(j, &entries[i])
			}
		case !errors.As(err, &bad):
			t.Fatalf("%q: %v", s, err)
		case bad.Col < 1 || bad.Col > utf8.RuneCountInString(s)+1 || bad.Message == "":
			t.Errorf("%q: %v", s, err)
		default:
			if _, err := filter.Parse(s[:bad.Valid]); err != nil {
				t.Errorf("%q: what comes before its error: %v", s, err)
			}
		}
		for _, c := range seen.Complete(s, cursor) {
			if c.Cursor < 0 || c.Cursor > len(c.Text) || c.Label == "" || c.Text == s {
				t.Errorf("%q at %d: %+v", s, cursor, c)
			}
		}
	})
}
