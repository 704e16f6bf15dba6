package filter_test

import (
	"bytes"
	"fmt"
	"testing"
	"time"

	"github.com/mcphud/mcphud/session/test/budget"
	"github.com/mcphud/mcphud/session/test/require"
	"github.com/mcphud/mcphud/session/traffic/filter"
	"github.com/mcphud/mcphud/session/wire/journal"
)

func TestBudgetFilter(t *testing.T) {
	budget.Skip(t)
	const frames = 1_000_000
	j := journal.New(journal.Options{Dir: t.TempDir(), Entries: frames, Memory: 256 << 20})
	defer func() { _ = j.Close() }()
	body := append(bytes.Repeat([]byte("abcdefghij "), 12), "Needles"...)
	for i := range frames / 2 {
		id := fmt.Sprint(i)
		j.Append(journal.Entry{Server: "server", Conn: 1, Dir: journal.Out, Kind: journal.Request, ID: id, Method: "tools/call", Tool: fmt.Sprint("tool", i%50)}, body)
		j.Append(journal.Entry{Server: "server", Conn: 1, Dir: journal.In, Kind: journal.Response, ID: id}, body)
	}
	for _, x := range []struct {
		what, expr string
		want       int
		ceiling    time.Duration
	}{
		{"fields", "tool:=tool7 kind:req", frames / 100, 500 * time.Millisecond},
		{"a word", "tool49", frames / 50, 500 * time.Millisecond},
		{"a bound and a time", ">1h at:00:00..", 0, 500 * time.Millisecond},
		{"a text of the body", "text:needle", frames, 750 * time.Millisecond},
		{"a regular expression in the body", "text:/Need(le)+s$/", frames, time.Second},
	} {
		f, err := filter.Parse(x.expr)
		require.NoError(t, err)
		budget.Ceiling(t, "1,000,000 frames filtered: "+x.what, budget.Best(func() time.Duration {
			return budget.Time(func() {
				n := 0
				j.Each(0, func(e *journal.Entry) bool {
					if f.Match(j, e) {
						n++
					}
					return true
				})
				if n != x.want {
					t.Errorf("%s: %d entries, not %d", x.expr, n, x.want)
				}
			})
		}), x.ceiling)
	}
}
