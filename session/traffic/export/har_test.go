package export_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/mcphud/mcphud/session/test/require/assert"
	"github.com/mcphud/mcphud/session/traffic/export"
	"github.com/mcphud/mcphud/session/traffic/importer"
	"github.com/mcphud/mcphud/session/wire/journal"

	"github.com/mcphud/mcphud/session/test/leaktest"
	"github.com/mcphud/mcphud/session/test/require"
)

func TestMain(m *testing.M) { leaktest.Main(m) }

// said fills a journal with what there is: exchanges over a pipe and over HTTP, progress, a question of the server's, what stands
// alone, and what was given up.
func said(t *testing.T) *journal.Journal {
	t.Helper()
	j := journal.New(journal.Options{Dir: t.TempDir()})
	t.Cleanup(func() { _ = j.Close() })
	at := time.Date(2026, 11, 20, 10, 0, 0, 123456789, time.UTC)
	add := func(e journal.Entry, body string) uint64 {
		at = at.Add(1234567 * time.Nanosecond)
		e.Time = at
		return j.Append(e, []byte(body))
	}
	out, in := journal.Out, journal.In
	pipe := func(d journal.Dir, k journal.Kind, method, id, body string) {
		add(journal.Entry{Server: "files", Conn: 1, Dir: d, Kind: k, Method: method, ID: id}, body)
	}
	pipe(out, journal.Request, "initialize", "0", `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{}}`)
	pipe(in, journal.Response, "", "0", `{"jsonrpc":"2.0","id":0,"result":{"big":12345678901234567890,  "x":1.0}}`)
	pipe(out, journal.Notification, "notifications/initialized", "", `{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	pipe(in, journal.Stderr, "", "", "ready")
	pipe(out, journal.Request, "tools/call", "1", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"ask </script>","_meta":{"progressToken":1}}}`)
	pipe(in, journal.Notification, "notifications/progress", "", `{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":1,"progress":1}}`)
	pipe(in, journal.Request, "elicitation/create", "1", `{"jsonrpc":"2.0","id":1,"method":"elicitation/create","params":{}}`)
	pipe(out, journal.Response, "", "1", `{"jsonrpc":"2.0","id":1,"result":{"action":"decline"}}`)
	pipe(in, journal.Notification, "notifications/message", "", `{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"x"}}`)
	pipe(in, journal.Response, "", "1", `{"jsonrpc":"2.0","id":1,"result":{"content":[],"isError":true}}`)
	pipe(out, journal.Request, "tools/call", "\"a\"", `{"jsonrpc":"2.0","id":"a","method":"tools/call","params":{"name":"slow"}}`)
	pipe(out, journal.Notification, "notifications/cancelled", "", `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"a"}}`)
	pipe(in, journal.Response, "", "\"a\"", `{"jsonrpc":"2.0","id":"a","result":{}}`)
	pipe(out, journal.Request, "tools/call", "7", `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"never"}}`)
	add(journal.Entry{Server: "files", Conn: 1, Dir: out, Kind: journal.State, ID: "7", Status: journal.Failed, Note: "timed out"}, "")

	web := func(d journal.Dir, k journal.Kind, method, id, note, body string, peer uint64) uint64 {
		return add(journal.Entry{Server: "web", Conn: 2, Dir: d, Kind: k, Method: method, ID: id, Note: note, Peer: peer}, body)
	}
	post := "POST http://127.0.0.1:3000/mcp?a=1&b=2 HTTP/1.1\nAccept: application/json\nContent-Type: application/json\n"
	web(out, journal.Request, "tools/list", "1", "", `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`, 0)
	n := web(out, journal.HTTP, "tools/list", "1", "POST /mcp", post, 0)
	web(in, journal.HTTP, "tools/list", "1", "401 Unauthorized", "HTTP/1.1 401 Unauthorized\nContent-Type: text/plain\nWww-Authenticate: Bearer\n", n)
	web(in, journal.HTTP, "tools/list", "1", "body of 401 Unauthorized", "log in", 0)
	n = web(out, journal.HTTP, "tools/list", "1", "POST /mcp", post, 0)
	web(in, journal.HTTP, "tools/list", "1", "200 OK", "HTTP/1.1 200 OK\nContent-Type: text/event-stream\n", n)
	web(in, journal.Response, "", "1", "", `{"jsonrpc":"2.0","id":1,"result":{"tools":[]}}`, 0)
	web(out, journal.Notification, "notifications/initialized", "", "", `{"jsonrpc":"2.0","method":"notifications/initialized"}`, 0)
	n = web(out, journal.HTTP, "notifications/initialized", "", "POST /mcp", post, 0)
	web(in, journal.HTTP, "notifications/initialized", "", "202 Accepted", "HTTP/1.1 202 Accepted\n", n)
	n = web(out, journal.HTTP, "", "", "GET /mcp", "GET http://127.0.0.1:3000/mcp HTTP/1.1\nAccept: text/event-stream\nMcp-Protocol-Version: 2025-11-25\n", 0)
	web(in, journal.HTTP, "", "", "405 Method Not Allowed", "HTTP/1.1 405 Method Not Allowed\n", n)
	web(out, journal.Request, "ping", "2", "", `{"jsonrpc":"2.0","id":2,"method":"ping"}`, 0)
	web(out, journal.HTTP, "ping", "2", "POST /mcp", post, 0)
	return j
}

// A resumption that failed does not take what came before with it.
func TestHAROfAFailedResumption(t *testing.T) {
	j := journal.New(journal.Options{Dir: t.TempDir()})
	t.Cleanup(func() { _ = j.Close() })
	add := func(d journal.Dir, k journal.Kind, note, body string, peer uint64) uint64 {
		return j.Append(journal.Entry{Server: "web", Conn: 1, Dir: d, Kind: k, Method: "tools/list", ID: "1", Note: note, Peer: peer}, []byte(body))
	}
	add(journal.Out, journal.Request, "", `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`, 0)
	n := add(journal.Out, journal.HTTP, "POST /mcp", "POST http://127.0.0.1:3000/mcp HTTP/1.1\n", 0)
	add(journal.In, journal.HTTP, "200 OK", "HTTP/1.1 200 OK\nContent-Type: text/event-stream\n", n)
	j.Append(journal.Entry{Server: "web", Conn: 1, Dir: journal.In, Kind: journal.Response, ID: "1"}, []byte(`{"jsonrpc":"2.0","id":1,"result":{"tools":[]}}`))
	add(journal.Out, journal.HTTP, "GET /mcp", "GET http://127.0.0.1:3000/mcp HTTP/1.1\nLast-Event-Id: 1\n", 0)
	var b bytes.Buffer
	left, err := export.HAR(t.Context(), &b, j, nil, "test")
	if err != nil || left != "" {
		t.Fatal(left, err)
	}
	assert.Contains(t, b.String(), `\"result\":{\"tools\":[]}`)
}

// messages are all messages of a journal, each with the exchange that it is a part of.
func messages(j *journal.Journal) string {
	var b strings.Builder
	names := map[uint64]string{}
	j.Each(0, func(e *journal.Entry) bool {
		if e.Kind == journal.Request {
			names[e.Seq] = fmt.Sprintf("%s/%d %s #%s", e.Server, e.Conn, e.Dir, e.ID)
		}
		if e.Kind <= journal.Notification {
			body, err := j.Body(e.Seq)
			fmt.Fprintf(&b, "%s %s %d %s %s %s %s #%s %s [%s] %s %v\n", e.Time.UTC().Format(time.RFC3339Nano), e.Server, e.Conn, e.Dir, e.Kind, e.Method, e.Tool, e.ID, e.Status, names[e.Root], body, err)
		}
		return true
	})
	return b.String()
}

// An archive that is read again has the same exchanges, at the same times.
func TestHARRoundTrip(t *testing.T) {
	j := said(t)
	var b bytes.Buffer
	left, err := export.HAR(context.Background(), &b, j, nil, "1.2.3")
	require.NoError(t, err)
	assert.Equal(t, left, "left out, since an HTTP archive cannot hold them: 1 stderr")
	f, err := importer.Read(io.NopCloser(bytes.NewReader(b.Bytes())), "x.har")
	require.NoError(t, err)
	defer f.Close()
	require.NoError(t, f.Wait(t.Context()))
	if got, want := messages(f.Journal), messages(j); got != want {
		t.Errorf("got\n%s\nwant\n%s\nby\n%s", got, want, b.String())
	}
	var heads strings.Builder
	f.Each(0, func(e *journal.Entry) bool {
		if e.Kind == journal.HTTP {
			fmt.Fprintf(&heads, "%s %s ", e.Dir, e.Note)
		}
		return true
	})
	want := "out POST /mcp?a=1&b=2 in 401 Unauthorized in body of 401 Unauthorized out POST /mcp?a=1&b=2 in 200 OK " +
		"out POST /mcp?a=1&b=2 in 202 Accepted out GET /mcp in 405 Method Not Allowed out POST /mcp?a=1&b=2 in no response was recorded "
	assert.Equal(t, heads.String(), want)
}

// The same journal gives the same bytes.
func TestHARIsTheSameEachTime(t *testing.T) {
	j := said(t)
	first := ""
	for range 20 {
		var b bytes.Buffer
		if _, err := export.HAR(t.Context(), &b, j, nil, "1.2.3"); err != nil {
			t.Fatal(err)
		}
		if first == "" {
			first = b.String()
		}
		if b.String() != first {
			t.Fatalf("first\n%.200s\nthen\n%.200s", first, b.String())
		}
	}
}

// What browsers ask of an archive (https://w3c.github.io/web-performance/specs/HAR/Overview.html): the members that must be there,
// and a time that is the sum of its parts.
func TestHARIsValid(t *testing.T) {
	var b bytes.Buffer
	if _, err := export.HAR(context.Background(), &b, said(t), nil, "1.2.3"); err != nil {
		t.Fatal(err)
	}
	var whole struct {
		Log struct {
			Version string
			Creator struct{ Name, Version string }
			Entries []map[string]any
		}
	}
	require.NoError(t, json.Unmarshal(b.Bytes(), &whole, json.MatchCaseInsensitiveNames(true)))
	if l := whole.Log; l.Version != "1.2" || l.Creator.Name != "mcphud" || l.Creator.Version == "" || len(l.Entries) != 12 {
		t.Errorf("%+v: %d entries", l.Creator, len(l.Entries))
	}
	for i, e := range whole.Log.Entries {
		var typed importer.HAREntry
		raw, _ := json.Marshal(e)
		require.NoError(t, json.Unmarshal(raw, &typed))
		for path, names := range map[string][]string{
			"":         {"startedDateTime", "time", "request", "response", "cache", "timings"},
			"request":  {"method", "url", "httpVersion", "cookies", "headers", "queryString", "headersSize", "bodySize"},
			"response": {"status", "statusText", "httpVersion", "cookies", "headers", "content", "redirectURL", "headersSize", "bodySize"},
			"timings":  {"send", "wait", "receive"},
		} {
			in := e
			if path != "" {
				in, _ = e[path].(map[string]any)
			}
			for _, name := range names {
				if v, ok := in[name]; !ok || v == nil {
					t.Errorf("entry %d has no %s %s", i, path, name)
				}
			}
		}
		if sum := typed.Timings.Send + typed.Timings.Wait + typed.Timings.Receive; sum-typed.Time > 1e-9 || typed.Time-sum > 1e-9 || typed.Time < 0 {
			t.Errorf("entry %d: time %v, sum %v", i, typed.Time, sum)
		}
		if synthetic := typed.Server == "files"; typed.Made != synthetic || strings.HasPrefix(typed.Request.URL, "mcp://") != synthetic || synthetic != (typed.Comment != "") {
			t.Errorf("entry %d: %+v", i, typed)
		}
	}
}

// What a browser exported comes out with the same messages.
func TestHAROfABrowser(t *testing.T) {
	f, err := importer.Open(filepath.Join("..", "importer", "testdata", "browser.har"))
	require.NoError(t, err)
	defer f.Close()
	require.NoError(t, f.Wait(t.Context()))
	name := filepath.Join(t.TempDir(), "again.har")
	w, err := os.Create(name)
	require.NoError(t, err)
	if _, err := export.HAR(context.Background(), w, f.Journal, nil, "1.2.3"); err != nil {
		t.Fatal(err)
	}
	_ = w.Close()
	again, err := importer.Open(name)
	require.NoError(t, err)
	defer again.Close()
	require.NoError(t, again.Wait(t.Context()))
	if got, want := messages(again.Journal), messages(f.Journal); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}
