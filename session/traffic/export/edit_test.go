package export_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/mcphud/mcphud/session/test/require"
	"github.com/mcphud/mcphud/session/test/require/assert"
	"github.com/mcphud/mcphud/session/traffic/export"
	"github.com/mcphud/mcphud/session/traffic/filter"
	"github.com/mcphud/mcphud/session/wire/journal"
)

var start = time.Date(2026, 11, 20, 10, 0, 0, 0, time.UTC)

// calls is a journal of n calls over HTTP, one a second, each with a line of stderr after it.
func calls(t *testing.T, server string, n int) *journal.Journal {
	t.Helper()
	j := journal.New(journal.Options{Dir: t.TempDir()})
	t.Cleanup(func() { _ = j.Close() })
	for i := range n {
		at := start.Add(time.Duration(i) * time.Second)
		id := fmt.Sprint(i + 1)
		e := journal.Entry{Server: server, Conn: 1, Dir: journal.Out, ID: id, Method: "tools/call", Time: at}
		e.Kind = journal.Request
		j.Append(e, fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"t%d"}}`, i+1, i%3))
		e.Kind, e.Note = journal.HTTP, "POST /"
		sent := j.Append(e, []byte("POST http://h/ HTTP/1.1\n"))
		e.Dir, e.Note, e.Peer, e.Time = journal.In, "200 OK", sent, at.Add(10*time.Millisecond)
		j.Append(e, []byte("HTTP/1.1 200 OK\n"))
		e.Kind, e.Note, e.Peer = journal.Response, "", 0
		j.Append(e, fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%d,"result":{}}`, i+1))
		j.Append(journal.Entry{Server: server, Dir: journal.In, Kind: journal.Stderr, Time: at.Add(20 * time.Millisecond)}, []byte("line"))
	}
	return j
}

// written opens what Write wrote.
func written(t *testing.T, sources ...*export.Source) *journal.Journal {
	t.Helper()
	var b bytes.Buffer
	if _, err := export.WriteSelection(context.Background(), &b, sources...); err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(t.TempDir(), "out.jsonl")
	require.NoError(t, os.WriteFile(name, b.Bytes(), 0o600))
	j, err := journal.Open(name, journal.Options{})
	require.NoError(t, err)
	t.Cleanup(func() { _ = j.Close() })
	require.Eventually(t, "the file to be read", func() bool { return j.Loaded().Done })
	return j
}

// Of an exchange all or nothing is kept, its HTTP heads with it, and what refers to others still does.
func TestSelectKeepsWholeExchanges(t *testing.T) {
	for expr, c := range map[string]struct {
		q    export.Query
		want string // ids of the requests, and how many entries stand alone
	}{
		"tool:t1":                {export.Query{}, "2 5 8 +0"},
		"kind:res tool:t1":       {export.Query{}, "2 5 8 +0"},
		"tool:t1 ":               {export.Query{First: 2}, "2 5 +0"},
		"tool:t1  ":              {export.Query{Last: 1}, "8 +0"},
		"":                       {export.Query{Last: 3}, "9 +2"},
		" ":                      {export.Query{First: 3}, "1 2 +1"},
		"at:10:00:03..10:00:04":  {export.Query{}, "4 5 +2"},
		"-tool:t0 -tool:t1":      {export.Query{First: 4}, "3 +3"},
		"kind:stderr":            {export.Query{}, "+9"},
		"method:nothing/like/it": {export.Query{}, "+0"},
	} {
		j := calls(t, "s", 9)
		f, err := filter.Parse(expr)
		require.NoError(t, err)
		c.q.Filter = f
		keep, err := export.Select(context.Background(), j, c.q)
		require.NoError(t, err)
		out := written(t, &export.Source{Journal: j, Keep: keep})
		var ids []string
		alone := 0
		out.Each(0, func(e *journal.Entry) bool {
			switch {
			case e.Kind == journal.Request:
				ids = append(ids, e.ID)
				if n := len(out.Frames(e.Seq)); n != 4 || e.Status != journal.OK || e.Took != 10*time.Millisecond {
					t.Errorf("%q: request %s has %d frames, is %s after %v", expr, e.ID, n, e.Status, e.Took)
				}
			case e.Root == 0:
				alone++
			case e.Kind == journal.HTTP && e.Dir == journal.In && e.Peer != e.Seq-1:
				t.Errorf("%q: the response %d belongs to %d", expr, e.Seq, e.Peer)
			}
			return true
		})
		assert.Equalf(t, strings.Join(append(ids, fmt.Sprintf("+%d", alone)), " "), c.want, "%q, %+v", expr, c.q)
	}
}

// Several journals come out as one, by time, with the clock of one put right and the servers told apart.
func TestMerge(t *testing.T) {
	a, b, c := calls(t, "files", 3), calls(t, "files", 3), calls(t, "web", 1)
	sources := []*export.Source{{Journal: a}, {Journal: b, Offset: -500 * time.Millisecond}, {Journal: c, Offset: time.Hour}}
	export.Label(sources, []string{"here", "there", "far"})
	out := written(t, sources...)
	var got []string
	last := time.Time{}
	out.Each(0, func(e *journal.Entry) bool {
		if e.Time.Before(last) {
			t.Errorf("%d is at %v, after %v", e.Seq, e.Time, last)
		}
		last = e.Time
		if e.Kind == journal.Request {
			got = append(got, fmt.Sprintf("%s#%s %d", e.Server, e.ID, len(out.Frames(e.Seq))))
		}
		return true
	})
	want := "files@there#1 4, files@here#1 4, files@there#2 4, files@here#2 4, files@there#3 4, files@here#3 4, web#1 4"
	assert.Equal(t, strings.Join(got, ", "), want)
}

// What was written opens as the same bytes.
func TestWriteIsStable(t *testing.T) {
	var first, second bytes.Buffer
	j := calls(t, "s", 20)
	if _, err := export.WriteSelection(context.Background(), &first, &export.Source{Journal: written(t, &export.Source{Journal: j})}); err != nil {
		t.Fatal(err)
	}
	if n, err := export.WriteSelection(context.Background(), &second, &export.Source{Journal: j}); err != nil || n != 100 {
		t.Fatal(n, err)
	}
	assert.Equal(t, first.String(), second.String())
}

// An interrupt ends it.
func TestInterrupted(t *testing.T) {
	ctx, stop := context.WithCancel(context.Background())
	stop()
	j := calls(t, "s", 500)
	if _, err := export.WriteSelection(ctx, &bytes.Buffer{}, &export.Source{Journal: j}); err == nil {
		t.Error("Write went on")
	}
	if _, err := export.Select(ctx, j, export.Query{First: 1}); err == nil {
		t.Error("Select went on")
	}
}
