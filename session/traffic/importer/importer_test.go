package importer_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/mcphud/mcphud/session/test/leaktest"
	"github.com/mcphud/mcphud/session/test/require"
	"github.com/mcphud/mcphud/session/test/require/assert"
	"github.com/mcphud/mcphud/session/traffic/importer"
	"github.com/mcphud/mcphud/session/wire/journal"
)

func TestMain(m *testing.M) { leaktest.Main(m) }

// opened opens a file and waits until it is read.
func opened(t *testing.T, name string) *importer.File {
	t.Helper()
	f, err := importer.Open(name)
	require.NoError(t, err)
	t.Cleanup(func() { _ = f.Close() })
	loaded(t, f)
	return f
}

func loaded(t *testing.T, f *importer.File) {
	t.Helper()
	ctx, stop := context.WithTimeout(t.Context(), time.Minute)
	defer stop()
	require.NoError(t, f.Wait(ctx))
}

// rows are the entries as one line each.
func rows(f *importer.File) string {
	var b strings.Builder
	f.Each(0, func(e *journal.Entry) bool {
		fmt.Fprintf(&b, "%s %s %s %s %s %s #%s ^%d %s", e.Time.UTC().Format("05.000"), e.Server, e.Dir, e.Kind, e.Method, e.Tool, e.ID, e.Root, e.Status)
		if e.Note != "" {
			b.WriteString(" (" + e.Note + ")")
		}
		b.WriteByte('\n')
		return true
	})
	return b.String()
}

func write(t *testing.T, name, text string) string {
	t.Helper()
	if !filepath.IsAbs(name) {
		name = filepath.Join(t.TempDir(), name)
	}
	require.NoError(t, os.WriteFile(name, []byte(text), 0o600))
	return name
}

// ownFile is a file that --journal wrote.
func ownFile(t *testing.T) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "s.jsonl")
	j := journal.New(journal.Options{File: name})
	j.Append(journal.Entry{Server: "s", Dir: journal.Out, Kind: journal.Request, Method: "tools/call", ID: "1"},
		[]byte(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo"}}`))
	j.Append(journal.Entry{Server: "s", Dir: journal.In, Kind: journal.Response, ID: "1"}, []byte(`{"jsonrpc":"2.0","id":1,"result":{}}`))
	j.Append(journal.Entry{Server: "s", Dir: journal.In, Kind: journal.Stderr}, []byte("a line"))
	require.NoError(t, j.Close())
	return name
}

// A file that --journal writes opens as what it was written from. A line that is none is counted and named, and so is a last line
// without an end.
func TestOwnFile(t *testing.T) {
	name := ownFile(t)
	b, err := os.ReadFile(name)
	require.NoError(t, err)
	f := opened(t, write(t, "s.jsonl", string(b)+"{\"seq\":4,\"kin\n{\"seq\":5"))
	if n := f.Len(); n != 4 {
		t.Fatalf("%d entries", n)
	}
	e, _ := f.Get(2)
	if e.Peer != 1 || e.Tool != "echo" || e.Method != "tools/call" || e.Status != journal.OK {
		t.Errorf("%+v", e)
	}
	if body, err := f.Body(3); string(body) != "a line" {
		t.Errorf("%s, %v", body, err)
	}
	p := f.Progress()
	if p.Bad != 1 || p.First == nil || !strings.Contains(p.First.Error(), "s.jsonl:4: ") || !p.Done || p.Partial != int64(len(`{"seq":5`)) {
		t.Errorf("%+v", p)
	}
}

// Compressed, and through a pipe, it is the same.
func TestOwnFileCompressed(t *testing.T) {
	name := ownFile(t)
	b, err := os.ReadFile(name)
	require.NoError(t, err)
	want := rows(opened(t, name))
	var z bytes.Buffer
	w := gzip.NewWriter(&z)
	_, _ = w.Write(b)
	_ = w.Close()
	assert.Equal(t, rows(opened(t, write(t, "s.jsonl.gz", z.String()))), want)
	f, err := importer.Read(io.NopCloser(bytes.NewReader(b)), "standard input")
	require.NoError(t, err)
	defer f.Close()
	loaded(t, f)
	assert.Equal(t, rows(f), want)
	// A compressed file that was cut: what is there, and why it ends.
	f, err = importer.Read(io.NopCloser(bytes.NewReader(z.Bytes()[:z.Len()-20])), "cut.gz")
	if err == nil {
		defer f.Close()
		err = f.Wait(t.Context())
	}
	assert.ErrorContains(t, err, "cut.gz", "unexpected EOF")
}

// What other programs recorded becomes the entries that mcphud would have recorded: in the order of time, and linked.
func TestForeignFiles(t *testing.T) {
	for name, want := range map[string]string{
		"mcpsnoop.jsonl": `
16.871 everything  state   # ^0  (started: server-everything everything)
16.871 everything out request server/discover  #1 ^2 error
17.182 everything in stderr   # ^0 
17.199 everything in error server/discover  #1 ^2 error
17.199 everything out request initialize  #2 ^5 ok
17.202 everything in response initialize  #2 ^5 ok
17.203 everything out notification notifications/initialized  # ^0 
17.204 everything in notification notifications/tools/list_changed  # ^0 
17.204 everything out request tools/list  #3 ^9 ok
17.210 everything out request tools/call echo #4 ^10 ok
17.210 everything in response tools/list  #3 ^9 ok
17.212 everything in response tools/call echo #4 ^10 ok
`,
		"inspector-protocol-everything-2026-11-20T10-11-12.345Z.json": `
10.000 everything out request initialize  #0 ^1 ok
10.012 everything in response initialize  #0 ^1 ok
10.015 everything out notification notifications/initialized  # ^0 
11.000 everything out request tools/call ask #1 ^4 ok
11.100 everything in request elicitation/create  #1 ^5 ok
11.150 everything in notification notifications/message  # ^0 
11.800 everything out response elicitation/create  #1 ^5 ok
11.900 everything in response tools/call ask #1 ^4 ok
11.900 everything  state   # ^0  (the Inspector refused this answer: resultType is missing)
`,
		"inspector-network.json": `
10.000 127.0.0.1:3001 out request tools/list  #7 ^1 ok
10.000 127.0.0.1:3001 out http tools/list  #7 ^1  (POST /mcp)
10.025 127.0.0.1:3001 in http tools/list  #7 ^1  (200 OK)
10.025 127.0.0.1:3001 in response tools/list  #7 ^1 ok
11.000 127.0.0.1:3001 out http   # ^0  (GET /.well-known/oauth-protected-resource)
11.003 127.0.0.1:3001 in http   # ^0  (404 Not Found)
11.003 127.0.0.1:3001 in http   # ^0  (body of 404 Not Found)
12.000 127.0.0.1:3001 out request ping  #8 ^8 pending
12.000 127.0.0.1:3001 out http ping  #8 ^8  (POST /mcp)
12.000 127.0.0.1:3001 in http ping  #8 ^8 error (fetch failed)
`,
		"browser.har": `
10.000 localhost:3001 out request tools/call longRunning #3 ^1 ok
10.000 localhost:3001 out http tools/call longRunning #3 ^1  (POST /mcp)
10.010 localhost:3001 in http tools/call longRunning #3 ^1  (200 OK)
10.010 localhost:3001 in notification notifications/progress longRunning # ^1 
11.000 localhost:3001 out request ping  #4 ^5 ok
11.000 localhost:3001 out http ping  #4 ^5  (POST /mcp)
11.004 localhost:3001 in http ping  #4 ^5  (200 OK)
11.005 localhost:3001 in response ping  #4 ^5 ok
12.010 localhost:3001 in response tools/call longRunning #3 ^1 ok
`,
	} {
		t.Run(name, func(t *testing.T) {
			f := opened(t, filepath.Join("testdata", name))
			if got := rows(f); got != strings.TrimPrefix(want, "\n") {
				t.Errorf("got\n%s\nwant%s", got, want)
			}
			p := f.Progress()
			if p.Bad != 0 || !p.Done || p.Read != p.Total || (p.Other != 0) != (name == "browser.har") {
				t.Errorf("%+v", p)
			}
			f.Each(0, func(e *journal.Entry) bool {
				if body, err := f.Body(e.Seq); err != nil || bytes.Contains(body, []byte("topsecret")) {
					t.Errorf("%d: %v: %s", e.Seq, err, body)
				}
				return true
			})
		})
	}
}

// mcpsnoop keeps some headers: one that contradicts its message is told, and a refusal is.
func TestHTTPOfMcpsnoop(t *testing.T) {
	const line = `{"session_id":"s","server_label":"web","seq":1,"ts":"2026-11-20T10:00:00Z","transport":"http","direction":`
	f := opened(t, write(t, "s.jsonl", line+`"c2s","raw":{"jsonrpc":"2.0","id":1,"method":"ping"},"mcp_method":"ping","mcp_protocol_version":"2026-07-28"}
`+line+`"s2c","raw":{"jsonrpc":"2.0","id":1,"result":{}},"status":200}
`+line+`"c2s","raw":{"jsonrpc":"2.0","id":2,"method":"ping"},"mcp_method":"tools/list"}
`+line+`"s2c","status":401,"auth_challenge":"Bearer realm=\"x\""}
`))
	want := `00.000 web out request ping  #1 ^1 ok
00.000 web in response ping  #1 ^1 ok
00.000 web out request ping  #2 ^3 pending (the header Mcp-Method says tools/list)
00.000 web in http   # ^0  (401 Unauthorized)
`
	assert.Equal(t, rows(f), want)
}

// Of a file that was cut anywhere, what is before is there; where nothing is, the error says what was expected.
func TestCutFiles(t *testing.T) {
	files, err := filepath.Glob("testdata/*")
	if err != nil || len(files) < 4 {
		t.Fatal(files, err)
	}
	for _, name := range files {
		whole, err := os.ReadFile(name)
		require.NoError(t, err)
		most := opened(t, name).Len()
		for _, at := range []int{1, 10, 100, len(whole) / 2, len(whole) * 4 / 5, len(whole) - 10} {
			f, err := importer.Open(write(t, "cut-"+filepath.Base(name), string(whole[:at])))
			if err != nil {
				if at > len(whole)/2 {
					t.Errorf("%s cut at %d: %v", name, at, err)
				}
				if !strings.Contains(err.Error(), "cut-") {
					t.Errorf("%s cut at %d: %v does not name the file", name, at, err)
				}
				continue
			}
			loaded(t, f)
			if p := f.Progress(); f.Len() > most+1 || p.Bad == 0 && p.Partial == 0 || p.Bad > 0 && p.First == nil {
				t.Errorf("%s cut at %d: %d entries, %+v", name, at, f.Len(), p)
			}
			_ = f.Close()
		}
	}
}

// What is not a recording is refused, with what would be one.
func TestRefused(t *testing.T) {
	dir, tmp := t.TempDir(), t.TempDir()
	t.Setenv("TMPDIR", tmp)
	for name, c := range map[string]struct{ text, says string }{
		"text":      {"hello\nworld\n", "expected lines of a mcphud journal"},
		"config":    {`{"mcpServers":{}}`, "expected lines of a mcphud journal"},
		"array":     {`[1,2,3]`, "MCP Inspector export"},
		"objects":   {`[{"a":1}]`, "MCP Inspector export"},
		"other log": {`{"log":{"version":"1.2"}}`, `no member "entries"`},
		"log text":  {`{"log":"x"}`, "expected an object"},
		"binary":    {"\x00\x01\x02\xff", "expected lines of a mcphud journal"},
		"gzip":      {"\x1f\x8b\x08\x00", "unexpected EOF"},
	} {
		f, err := importer.Open(write(t, filepath.Join(dir, name), c.text))
		if err == nil {
			_ = f.Close()
		}
		if err == nil || !strings.Contains(err.Error(), c.says) || !strings.Contains(err.Error(), filepath.Join(dir, name)) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := importer.Open(dir); err == nil || !strings.Contains(err.Error(), "folder") {
		t.Error(err)
	}
	if _, err := importer.Open(filepath.Join(dir, "nowhere")); !os.IsNotExist(err) {
		t.Error(err)
	}
	if left, _ := filepath.Glob(filepath.Join(tmp, "*")); len(left) > 0 {
		t.Errorf("temporary files stay: %v", left)
	}
}

// A part that is not an entry is counted and shown, and what comes after it is read.
func TestBadParts(t *testing.T) {
	b, err := os.ReadFile("testdata/browser.har")
	require.NoError(t, err)
	text := strings.Replace(string(b), `"startedDateTime": "2026-11-20T10:11:10.000Z"`, `"startedDateTime": "yesterday"`, 1)
	f := opened(t, write(t, "x.har", text))
	if p := f.Progress(); p.Bad != 1 || !strings.Contains(fmt.Sprint(p.First), "element 2: expected a HAR entry: startedDateTime") || !strings.Contains(rows(f), "ping") {
		t.Errorf("%+v\n%s", f.Progress(), rows(f))
	}
	if b, err = os.ReadFile("testdata/mcpsnoop.jsonl"); err != nil {
		t.Fatal(err)
	}
	text = strings.Replace(string(b), `"direction":"stderr"`, `"direction":"up"`, 1)
	f = opened(t, write(t, "x.jsonl", text))
	if p := f.Progress(); p.Bad != 1 || !strings.Contains(fmt.Sprint(p.First), "x.jsonl:3: ") || strings.Count(rows(f), "\n") != 12 {
		t.Errorf("%+v\n%s", f.Progress(), rows(f))
	}
}
