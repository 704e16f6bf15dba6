package contract_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mcphud/mcphud/session"
	"github.com/mcphud/mcphud/session/check/contract"
	"github.com/mcphud/mcphud/session/config"
	"github.com/mcphud/mcphud/session/test/require"
	"github.com/mcphud/mcphud/session/test/require/assert"
	"github.com/mcphud/mcphud/session/traffic/calls"
	"github.com/mcphud/mcphud/session/wire/rpc"
)

// Calls are read from a history, a journal, or a folder that has such files, each with where it is kept and what came of it.
func TestRecords(t *testing.T) {
	dir := t.TempDir()
	h := calls.OpenHistory(filepath.Join(dir, "calls.db"), calls.UsualLimits)
	for i := range 3 {
		h.Record(session.CallRecord{
			Server: config.Server{Name: "files", Transport: config.Stdio, Command: "server"}, Method: "tools/call", Target: fmt.Sprint("tool", i), Arguments: json.RawMessage(fmt.Sprintf(`{"i":%d}`, i)),
			Started: time.Now(), Reply: rpc.Reply{Result: json.RawMessage(fmt.Sprintf(`{"content":[],"n":%d}`, i)), Request: 1},
		})
	}
	for until := time.Now().Add(30 * time.Second); h.Busy() && time.Now().Before(until); {
		time.Sleep(time.Millisecond)
	}
	require.NoError(t, h.Close())
	line := func(seq int, dir, kind, method, id, frame string) string {
		return fmt.Sprintf(`{"seq":%d,"time":"2026-11-20T10:00:00Z","server":"s","conn":1,"dir":%q,"kind":%q,"method":%q,"id":%q,"frame":%s}`, seq, dir, kind, method, id, frame)
	}
	lines := []string{
		line(1, "out", "request", "tools/call", "1", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a","arguments":{"x":1}}}`), line(2, "in", "response", "tools/call", "1", `{"jsonrpc":"2.0","id":1,"result":{"content":[]}}`),
		line(3, "out", "request", "resources/read", "2", `{"jsonrpc":"2.0","id":2,"method":"resources/read","params":{"uri":"x://y"}}`), line(4, "in", "response", "resources/read", "2", `{"jsonrpc":"2.0","id":2,"error":{"code":-32002,"message":"none"}}`),
		line(5, "out", "request", "prompts/get", "3", `{"jsonrpc":"2.0","id":3,"method":"prompts/get","params":{"name":"p"}}`), line(6, "out", "request", "tools/list", "4", `{"jsonrpc":"2.0","id":4,"method":"tools/list"}`),
		line(7, "in", "request", "tools/call", "5", `{"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"name":"from the server"}}`), line(8, "out", "request", "tools/call", "6", `{"jsonrpc":"2.0","id":6,"method":"tools/call"}`),
	}
	require.NoError(t, os.WriteFile(filepath.Join(dir, "journal.jsonl"), []byte(strings.Join(lines, "\n")+"\n"), 0o600))
	read := func(path string) (*contract.Records, error) {
		r := &contract.Records{Call: func(contract.Recorded) {}}
		return r, r.Read(t.Context(), path)
	}
	want := []string{
		`files tools/call tool2 {"i":2} true history, call 3 → {"content":[],"n":2}`, `files tools/call tool1 {"i":1} true history, call 2 → {"content":[],"n":1}`, `files tools/call tool0 {"i":0} true history, call 1 → {"content":[],"n":0}`,
		`s tools/call a {"x":1} false journal.jsonl, entry 2 → {"content":[]}`, `s resources/read x://y  false journal.jsonl, entry 4 → {"code":-32002,"message":"none"}`, `s prompts/get p  false journal.jsonl, entry 5 → `,
	}
	var got []string
	r := &contract.Records{Call: func(c contract.Recorded) {
		got = append(got, fmt.Sprintf("%s %s %s %s %v %s → %s", c.Server, c.Method, c.Name, c.Arguments, c.Hidden, c.Where, c.Answer()))
	}}
	if err := r.Read(t.Context(), dir); err != nil || !slices.Equal(got, want) || r.Files != 2 || r.Broken != 1 {
		t.Errorf("%v, %d files, %d broken\n got %q\nwant %q", err, r.Files, r.Broken, got, want)
	}
	require.NoError(t, os.WriteFile(filepath.Join(dir, "other.txt"), []byte("nothing"), 0o600))
	require.NoError(t, os.Mkdir(filepath.Join(dir, "none"), 0o700))
	assert.ErrorContains(t, r.Read(t.Context(), filepath.Join(dir, "none")), "no file in it holds recorded calls")
	if _, err := read(filepath.Join(dir, "other.txt")); err == nil {
		t.Error("what is no recording was read")
	}
	if _, err := read(filepath.Join(dir, "missing")); err == nil {
		t.Error("what is not there was read")
	}
	if r, err := read(dir); err != nil || r.Broken != 2 {
		t.Errorf("%v, %d broken", err, r.Broken)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := r.Read(ctx, filepath.Join(dir, "calls.db")); err == nil {
		t.Error("it was read after its context ended")
	}
}
