package contract_test

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/mcphud/mcphud/session/check"
	"github.com/mcphud/mcphud/session/check/contract"
	"github.com/mcphud/mcphud/session/test/require"
	"github.com/mcphud/mcphud/session/test/require/assert"
	"github.com/mcphud/mcphud/session/wire/journal"
)

// record is one request as somebody recorded it.
type record struct {
	file, server, hop, trace, query string
	conn                            uint64
	id, minute, second              int
}

// hops writes what several recorded, each to its file, and returns the files' folder.
func hops(t *testing.T, all []record) string {
	t.Helper()
	dir := t.TempDir()
	files := map[string]*journal.Journal{}
	for _, r := range all {
		j := files[r.file]
		if j == nil {
			j = journal.New(journal.Options{File: filepath.Join(dir, r.file+".jsonl")})
			files[r.file] = j
		}
		meta := ""
		if r.trace != "" {
			meta = fmt.Sprintf(`,"_meta":{"traceparent":"00-%s-00f067aa0ba902b7-01"}`, r.trace)
		}
		j.Append(journal.Entry{
			Time: time.Date(2026, 11, 20, 10, r.minute, 30+r.second, 0, time.UTC), Server: r.server, Conn: r.conn, Dir: journal.Out, Kind: journal.Request, Method: "tools/call", ID: fmt.Sprint(r.id), Hop: r.hop,
		}, fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"search","arguments":{"query":%q}%s}}`, r.id, r.query, meta))
	}
	for _, j := range files {
		require.NoError(t, j.Close())
	}
	return dir
}

// A call counts once, however many on its way recorded it; calls that are made again count each.
func TestEvidenceOfSeveralHops(t *testing.T) {
	const one, two = "0af7651916cd43dd8448eb211c80319c", "1af7651916cd43dd8448eb211c80319c"
	const process = uint64(1) << 32
	for _, c := range []struct {
		name    string
		records []record
		want    int
	}{
		{"client, router and agent in one file", []record{
			{file: "a", server: "s", conn: 1, id: 4, trace: one, query: "x"},
			{file: "a", server: "s", conn: process + 1, id: 4, hop: "router", trace: one, query: "x"},
			{file: "a", server: "s", conn: 2*process + 1, id: 9, hop: "agent", trace: one, query: "x"},
		}, 1},
		{"client and router in two files, the id is another", []record{
			{file: "a", server: "s", conn: 1, id: 4, trace: one, query: "x"},
			{file: "b", server: "s", conn: process + 1, id: 7, hop: "router", trace: one, query: "x"},
		}, 1},
		{"two taps of one router", []record{
			{file: "a", server: "s", conn: process + 1, id: 4, hop: "router", trace: one, query: "x"},
			{file: "b", server: "s", conn: process + 1, id: 4, hop: "router", trace: one, query: "x"},
		}, 1},
		{"a router behind a router", []record{
			{file: "a", server: "s", conn: process + 1, id: 4, hop: "router", trace: one, query: "x"},
			{file: "a", server: "s", conn: 2*process + 1, id: 5, hop: "router", trace: one, query: "x"},
		}, 1},
		{"another name at the router", []record{
			{file: "a", server: "mine", conn: 1, id: 4, trace: one, query: "x"},
			{file: "a", server: "s", conn: process + 1, id: 4, hop: "router", trace: one, query: "x"},
		}, 1},
		{"twice in one trace, each at two hops", []record{
			{file: "a", server: "s", conn: 1, id: 4, trace: one, query: "x"},
			{file: "a", server: "s", conn: 1, id: 5, trace: one, query: "x"},
			{file: "a", server: "s", conn: process + 1, id: 4, hop: "router", trace: one, query: "x"},
			{file: "a", server: "s", conn: process + 1, id: 5, hop: "router", trace: one, query: "x"},
		}, 2},
		{"other arguments, and another trace", []record{
			{file: "a", server: "s", conn: 1, id: 4, trace: one, query: "x"},
			{file: "a", server: "s", conn: process + 1, id: 4, hop: "router", trace: one, query: "y"},
			{file: "a", server: "s", conn: process + 2, id: 4, hop: "router", trace: two, query: "x"},
		}, 3},
		{"a wrapped server, without a trace", []record{
			{file: "a", server: "s", conn: 1, id: 4, query: "x"},
			{file: "a", server: "s", conn: process + 1, id: 4, hop: "server", query: "x"},
		}, 1},
		{"a wrapped server, before and after a full minute", []record{
			{file: "a", server: "s", conn: 1, id: 4, query: "x", second: 29},
			{file: "a", server: "s", conn: process + 1, id: 4, hop: "server", query: "x", second: 30},
		}, 1},
		{"a wrapped server, seconds before and after a full minute", []record{
			{file: "a", server: "s", conn: process + 1, id: 4, hop: "server", query: "x", second: 31},
			{file: "a", server: "s", conn: 1, id: 4, query: "x", second: 20},
		}, 1},
		{"a wrapped server, hours apart", []record{
			{file: "a", server: "s", conn: 1, id: 4, query: "x"},
			{file: "a", server: "s", conn: process + 1, id: 4, hop: "server", query: "x", minute: 59},
		}, 2},
		{"two clients whose calls are the same", []record{
			{file: "a", server: "s", conn: 1, id: 4, query: "x"},
			{file: "b", server: "s", conn: 1, id: 4, query: "x"},
		}, 2},
	} {
		rep := run(t, &contract.Section{NoLock: true, Evidence: &contract.Recordings{Files: []string{hops(t, c.records)}}}, tools(t, withLimit))
		want := fmt.Sprintf("%d of %d recorded calls would be refused: `limit` is required", c.want, c.want)
		if len(rep.Findings) != 1 || rep.Findings[0].Message != want {
			t.Errorf("%s: %+v, want %s", c.name, rep.Findings, want)
		}
		if want := fmt.Sprintf(`"calls":%d,"refused":%d,`, c.want, c.want); !strings.Contains(string(rep.Sections[1].Figures), want) {
			t.Errorf("%s: %s, want %s", c.name, rep.Sections[1].Figures, want)
		}
	}
}

// A file is read once for all who want it, and its calls are what each of them gets.
func TestRecordingsAreReadOnce(t *testing.T) {
	dir := hops(t, []record{{file: "a", server: "s", conn: 1, id: 4, query: "x"}, {file: "b", server: "s", conn: 1, id: 5, query: "y"}})
	r := &contract.Recordings{Files: []string{filepath.Join(dir, "a.jsonl"), filepath.Join(dir, "b.jsonl")}}
	var order []string
	takes := func(name string) *contract.Records {
		w := &contract.Records{Call: func(c contract.Recorded) { order = append(order, name+" "+string(c.Arguments)) }}
		r.Want(w)
		return w
	}
	first, second := takes("first"), takes("second")
	steps := 0
	for _, w := range []*contract.Records{second, first} {
		if err := r.Read(t.Context(), w, func(int, int, string) { steps++ }); err != nil || w.Files != 2 || w.Broken != 0 {
			t.Errorf("%v, %d files", err, w.Files)
		}
	}
	if got := strings.Join(order, ", "); steps != 2 || got != `first {"query":"x"}, second {"query":"x"}, first {"query":"y"}, second {"query":"y"}` {
		t.Errorf("%d steps: %s", steps, got)
	}
	// Whoever comes later has them read again.
	third := takes("third")
	if err := r.Read(t.Context(), third, func(int, int, string) {}); err != nil || len(order) != 6 {
		t.Errorf("%v: %q", err, order)
	}
	r.Files = []string{filepath.Join(dir, "none")}
	first, second = takes("first"), takes("second")
	for _, w := range []*contract.Records{first, second} {
		if err := r.Read(t.Context(), w, func(int, int, string) {}); err == nil {
			t.Error("a file that is not there was read")
		}
	}
}

// Sections whose Run was never called read nothing.
func TestEvidenceWithoutRun(t *testing.T) {
	s := &contract.Section{Evidence: &contract.Recordings{Files: []string{"none"}}}
	assert.NoError(t, s.After(context.Background(), &check.Subject{}, check.NewRecorder(s, check.Watch{})))
}
