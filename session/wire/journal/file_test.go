package journal

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/mcphud/mcphud/session/base/mask"
	"github.com/mcphud/mcphud/session/test/require"
	"github.com/mcphud/mcphud/session/test/require/assert"
)

func TestFileIsPrivateMaskedJSONL(t *testing.T) {
	name := filepath.Join(t.TempDir(), "journal.jsonl")
	require.NoError(t, os.WriteFile(name, []byte("{\"earlier\":true}\n"), 0o644))
	j := New(Options{File: name, Memory: 100, Dir: t.TempDir()})
	frame := "{\"jsonrpc\":\"2.0\",\n \"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":\"t\",\"big\":12345678901234567890,\"1.0\":1.0}}"
	j.Append(Entry{Server: "s\u2028\"", Conn: 3, Dir: Out, Kind: Request, ID: "1", Method: "tools/call"}, []byte(frame))
	j.Append(Entry{Kind: Bad, Dir: In, Note: "not JSON"}, []byte("log \x1b[31mline\n"))
	j.Append(Entry{Kind: Bad, Dir: In}, []byte("\xff\xfe"))
	j.Append(Entry{Kind: Stderr, Dir: In}, []byte("calling https://u:hunter2@h/p?token=hunter2&x=1 with Bearer hunter2hunter2, password=hunter2"))
	head := mask.Head("POST https://h/mcp?api_key=hunter2 HTTP/1.1", http.Header{
		"Authorization": {"Bearer hunter2"}, "Cookie": {"a=hunter2"}, "X-Api-Key": {"hunter2"}, "Accept": {"application/json"},
	})
	j.Append(Entry{Kind: HTTP, Dir: Out}, head)
	j.Append(Entry{Kind: HTTP, Dir: Out}, []byte("200 OK\nSet-Cookie: s=hunter2\nAuthorization: Bearer hunter2")) // not masked by its author
	for i := range 500 {
		j.Append(Entry{Kind: State, Note: fmt.Sprint("change ", i)}, nil)
	}
	require.NoError(t, j.Close())
	if fi, err := os.Stat(name); err != nil || fi.Mode().Perm() != 0o600 && runtime.GOOS != "windows" {
		t.Errorf("mode %v, %v", fi.Mode(), err)
	}
	data, err := os.ReadFile(name)
	require.NoError(t, err)
	if bytes.Contains(data, []byte("hunter2")) {
		t.Errorf("a secret is in the file:\n%s", data[:2000])
	}
	lines := strings.Split(strings.TrimSuffix(string(data), "\n"), "\n")
	if len(lines) != 1+506 {
		t.Fatalf("%d lines", len(lines))
	}
	for i, l := range lines {
		if !json.Valid([]byte(l)) {
			t.Errorf("line %d is not JSON: %s", i, l)
		}
	}
	for i, want := range map[int]string{
		1: `"frame":` + strings.ReplaceAll(frame, "\n", " ") + `}`,
		2: `"text":"log \u001b[31mline"}`,
		3: `"base64":"//4="}`,
		4: `https://***@h/p?token=***&x=1 with Bearer ***, password=***"`,
		5: `Accept: application/json\nAuthorization: Bearer ***\nCookie: ***\n`,
		6: `Set-Cookie: ***`,
	} {
		if !strings.Contains(lines[i], want) {
			t.Errorf("line %d lacks %s:\n%s", i, want, lines[i])
		}
	}
}

func TestFileThatCannotBeOpened(t *testing.T) {
	j := New(Options{File: t.TempDir()})
	assert.ErrorContains(t, j.Err(), "journal file")
	assert.Equalf(t, j.Append(Entry{Kind: State}, nil), 1, "the journal does not work without its file")
	_ = j.Close()
}
