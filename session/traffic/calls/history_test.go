package calls

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mcphud/mcphud/session"
	"github.com/mcphud/mcphud/session/base/failure"
	"github.com/mcphud/mcphud/session/config"
	"github.com/mcphud/mcphud/session/test/budget"
	"github.com/mcphud/mcphud/session/test/leaktest"
	"github.com/mcphud/mcphud/session/test/require"
	"github.com/mcphud/mcphud/session/test/require/assert"
	"github.com/mcphud/mcphud/session/wire/rpc"
)

// asWriter makes a process of this test write that many calls into the file of the first argument.
const asWriter = "MCPHUD_HISTORY_TEST_WRITER"

func TestMain(m *testing.M) {
	if path := os.Getenv(asWriter); path != "" {
		h := OpenHistory(path, UsualLimits)
		for i := range 50 {
			h.Record(made("tool", fmt.Sprintf(`{"pid":%d,"i":%d}`, os.Getpid(), i), `{"content":[]}`))
			time.Sleep(time.Millisecond)
			seen(h.Err())
		}
		for h.Busy() {
			time.Sleep(time.Millisecond)
			seen(h.Err())
		}
		seen(h.Close())
		os.Exit(0)
	}
	leaktest.Main(m)
}

// seen ends a writer at an error, which later calls that are kept would hide.
func seen(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func made(tool, args, result string) session.CallRecord {
	return session.CallRecord{
		Server: config.Server{Name: "files", Transport: config.Stdio, Command: "server"}, Title: "files", Version: "2025-11-25", Transport: "stdio",
		Info: json.RawMessage(`{"name":"files","version":"1.2"}`), Method: "tools/call", Target: tool, Arguments: json.RawMessage(args),
		Started: time.Now(), Took: 12 * time.Millisecond, Reply: rpc.Reply{Result: json.RawMessage(result), Request: 1},
	}
}

// keep writes calls and waits for the disk.
func keep(t *testing.T, h *History, all ...session.CallRecord) {
	t.Helper()
	for _, m := range all {
		h.Record(m)
	}
	require.Eventually(t, "the disk to have all calls", func() bool { return !h.Busy() })
}

func all(t *testing.T, h *History, q Query) []Call {
	t.Helper()
	calls, err := h.List(context.Background(), q)
	require.NoError(t, err)
	return calls
}

func newHistory(t *testing.T, l Limits) *History {
	h := OpenHistory(filepath.Join(t.TempDir(), "state", "history.db"), l)
	t.Cleanup(func() { _ = h.Close() })
	return h
}

// What was called is there after a restart, with everything about it, in a file that nobody else can read.
func TestCallsSurvive(t *testing.T) {
	ctx := context.Background()
	h := newHistory(t, UsualLimits)
	if calls := all(t, h, Query{}); len(calls) != 0 {
		t.Fatalf("%v", calls)
	}
	if _, err := os.Stat(h.Path()); err == nil {
		t.Error("reading made the file")
	}
	code := int64(-32602)
	refused := made("b", `{"x":2}`, ``)
	refused.Err = &failure.Error{Kind: failure.RpcError, Code: &code, Message: "invalid x"}
	late := made("b", `{}`, ``)
	late.Err = &failure.Error{Kind: failure.Timeout, Message: "no answer"}
	stopped := made("b", `{}`, ``)
	stopped.Err = fmt.Errorf("it was: %w", context.Canceled)
	large := `{"content":[{"type":"text","text":"` + strings.Repeat("words ", 10_000) + `"}]}`
	keep(t, h, made("a", `{"n":12345678901234567890.10}`, large), refused, late, stopped, made("c", ``, `{"isError":true,"content":[]}`))
	require.NoError(t, h.Close())
	if _, err := h.List(ctx, Query{}); !errors.Is(err, fs.ErrClosed) { // a screen that reads while the program ends; the check for goroutines sees the rest
		t.Errorf("after its end: %v", err)
	}
	h = OpenHistory(h.Path(), UsualLimits)
	defer h.Close()
	calls := all(t, h, Query{})
	var verdicts []string
	for _, c := range calls {
		verdicts = append(verdicts, c.Verdict)
	}
	if got := strings.Join(verdicts, " "); got != "isError cancelled timeout error ok" {
		t.Fatal(got)
	}
	first, second := calls[4], calls[3]
	if string(first.Arguments) != `{"n":12345678901234567890.10}` || first.Took != 12 || first.Size != int64(len(large)) || first.Server.Info != "files 1.2" ||
		first.Server.Protocol != "2025-11-25" || time.Since(first.At.Time) > time.Minute {
		t.Errorf("%+v", first)
	}
	if second.Code == nil || *second.Code != code || second.Message != "invalid x" || second.Kept {
		t.Errorf("%+v", second)
	}
	if b, err := h.Result(ctx, first); err != nil || string(b) != large {
		t.Errorf("%d bytes, %v", len(b), err)
	}
	if info, err := os.Stat(h.Path()); err != nil || info.Mode().Perm() != 0o600 || info.Size() > 50_000 {
		t.Errorf("%v, %v", info, err)
	}
	if c, err := h.Previous(ctx, calls[1]); err != nil || c.ID != calls[2].ID {
		t.Errorf("%+v, %v", c, err)
	}
	identity := first.Server.Identity()
	h.Record(made("a", `{}`, `{}`)) // waits
	if counts, rev, err := h.Counts(ctx, identity); err != nil || rev != h.Rev() || !maps.Equal(counts, map[Item]int{{"tools/call", "a"}: 2, {"tools/call", "b"}: 3, {"tools/call", "c"}: 1}) {
		t.Errorf("%v at %d, %v", counts, rev, err)
	}
	if counts, _, err := h.Counts(ctx, "another"); err != nil || len(counts) != 0 {
		t.Errorf("%v, %v", counts, err)
	}
	if found := all(t, h, Query{Search: "INVALID b"}); len(found) != 1 || found[0].ID != second.ID {
		t.Errorf("%+v", found)
	}
	if found := all(t, h, Query{Search: "%"}); len(found) != 0 {
		t.Errorf("%+v", found)
	}
}

// Nothing secret is in the file, whatever says that it is.
func TestSecretsAreNotWritten(t *testing.T) {
	h := newHistory(t, UsualLimits)
	withSchema := made("s", `{"pin":"hunter2","x":1}`, `{"structuredContent":{"pin":"hunter2"}}`)
	withSchema.Schema = json.RawMessage(`{"properties":{"pin":{"format":"password"}}}`)
	meta := made("m", `{}`, `{}`)
	meta.Meta = json.RawMessage(`{"com.example/token":"hunter2"}`)
	uri := made("https://ada:hunter2@example.com/?api_key=hunter2", ``, `{"contents":[{"uri":"https://ada:hunter2@example.com/","text":"{\"token\":\"hunter2\"}"}]}`)
	uri.Method = "resources/read"
	failed := made("f", `{}`, ``)
	failed.Err = errors.New("GET https://ada:hunter2@example.com/: refused")
	unnamed := made("u", `{}`, `{}`)
	unnamed.Server = config.OfCommand("server", "--token", "hunter2", "--api-key=hunter2")
	unnamed.Server.Env = map[string]string{"X": "hunter2"}
	repeated := made("e", `{"api_key":"hunter2","n":{"token":["hunter22"]}}`, `{"content":[{"type":"text","text":"you are hunter2, and hunter22 too"}],"structuredContent":{"said":{"it":"hunter2!"}}}`)
	refused := made("r", `{"api_key":"hunter2"}`, ``)
	refused.Err = errors.New("no such user: hunter2")
	keep(t, h, repeated, refused, made("a", `{"list":[{"api_key":"hunter2"}],"text":"Bearer hunter2hunter2"}`, `{"content":[{"type":"text","text":"{\"password\":\"hunter2\"}"}],"structuredContent":{"secret":"hunter2"}}`),
		withSchema, meta, uri, failed, unnamed)
	require.NoError(t, errors.Join(h.Err(), h.Close()))
	files, err := filepath.Glob(h.Path() + "*")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, f := range files {
		b, err := os.ReadFile(f)
		require.NoError(t, err)
		if i := bytes.Index(b, []byte("hunter2")); i >= 0 {
			t.Errorf("%s: %q", f, b[max(i-100, 0):i+50])
		}
	}
	h = OpenHistory(h.Path(), UsualLimits)
	defer h.Close()
	want := []string{"", "", "/uri", "/meta/com.example~1token", "/arguments/pin", "/arguments/list/0/api_key /arguments/text", "/arguments/api_key", "/arguments/api_key /arguments/n/token"}
	for i, c := range all(t, h, Query{}) {
		if got := strings.Join(c.Secrets, " "); got != want[i] {
			t.Errorf("%s: secrets %q, want %q", c.Target, got, want[i])
		}
	}
	if s := all(t, h, Query{})[0].Server; !s.Partial {
		t.Errorf("a server with secrets can be called again: %+v", s)
	}
}

// The oldest calls go; what is pinned or has a name stays.
func TestBounds(t *testing.T) {
	ctx := context.Background()
	h := newHistory(t, Limits{Calls: 10, Bytes: 100_000, Age: time.Hour})
	for i := range 3 {
		keep(t, h, made(fmt.Sprint("kept", i), `{}`, `{}`))
	}
	for _, err := range []error{h.Pin(ctx, 1, true), h.Rename(ctx, 2, "smoke"), h.Annotate(ctx, 3, "as documented")} {
		require.NoError(t, err)
	}
	old := made("old", `{}`, `{}`)
	old.Started = time.Now().Add(-2 * time.Hour)
	keep(t, h, old)
	for i := range 20 {
		keep(t, h, made("many", fmt.Sprintf(`{"i":%d}`, i), `{}`))
	}
	calls := all(t, h, Query{})
	if len(calls) != 12 || calls[10].Name != "smoke" || !calls[11].Pinned || calls[9].Target != "many" {
		t.Fatalf("%d calls: %+v", len(calls), calls[9:])
	}
	noise := func(i int) string { // does not compress
		var b strings.Builder
		for j := range 2000 {
			fmt.Fprintf(&b, "%x", uint64(i+1)*uint64(j+1)*0x9e3779b97f4a7c15)
		}
		return `{"x":"` + b.String() + `"}`
	}
	for i := range 20 {
		keep(t, h, made("large", `{}`, noise(i)))
	}
	calls = all(t, h, Query{})
	if len(calls) >= 12 || len(calls) < 6 || !calls[0].Kept {
		t.Errorf("%d calls", len(calls))
	}
	if b, err := h.Result(ctx, calls[0]); err != nil || string(b) != noise(19) {
		t.Errorf("%d bytes, %v", len(b), err)
	}
	keep(t, h, made("huge", `{}`, `{"x":"`+strings.Repeat("x", maxResult)+`"}`), made("wide", `{"x":"`+strings.Repeat("x", maxArguments)+`"}`, `{}`))
	calls = all(t, h, Query{})
	if c := calls[1]; c.Kept || len(c.Hash) != 64 || c.Size < maxResult {
		t.Errorf("%+v", c)
	}
	if c := calls[0]; c.Arguments != nil || len(c.Secrets) != 1 {
		t.Errorf("%+v", c)
	}
	assert.NoError(t, h.Err())
}

func TestNamesNotesAndClear(t *testing.T) {
	ctx := context.Background()
	h := newHistory(t, UsualLimits)
	other := made("z", `{}`, `{"secretly":"BANANA"}`)
	other.Server.Name = "other"
	keep(t, h, made("a", `{}`, `{}`), made("b", `{}`, `{}`), other)
	require.NoError(t, h.Rename(ctx, 1, "smoke"))
	for _, bad := range []string{"12", "a b", "../x", ".x", "-x", "a/b", "x\x00", strings.Repeat("x", 101)} {
		if h.Rename(ctx, 2, bad) == nil {
			t.Errorf("%q is a name", bad)
		}
	}
	assert.ErrorContains(t, h.Rename(ctx, 2, "smoke"), "call 1")
	assert.ErrorIs(t, h.Pin(ctx, 99, true), ErrNone)
	for word, id := range map[string]int64{"smoke": 1, "2": 2, "last": 3} {
		if c, err := h.Find(ctx, word); err != nil || c.ID != id {
			t.Errorf("%s: %+v, %v", word, c, err)
		}
	}
	if _, err := h.Find(ctx, "nix"); !errors.Is(err, ErrNone) {
		t.Error(err)
	}
	require.NoError(t, h.Delete(ctx, 2))
	if n, err := h.Clear(ctx, "other"); n != 1 || err != nil {
		t.Fatal(n, err)
	}
	if b, err := os.ReadFile(h.Path()); err != nil || bytes.Contains(b, []byte("BANANA")) {
		t.Errorf("a cleared call is still in the file; %v", err)
	}
	if calls := all(t, h, Query{}); len(calls) != 1 || calls[0].Name != "smoke" {
		t.Errorf("%+v", calls)
	}
	if n, err := h.Clear(ctx, ""); n != 1 || err != nil {
		t.Fatal(n, err)
	}
}

// Nothing of a call that was removed is left: neither in the file, nor in what is beside it while it is open.
func TestNothingStaysOfARemovedCall(t *testing.T) {
	h := newHistory(t, UsualLimits)
	keep(t, h, made("first", `{"word":"APRICOT"}`, `{"content":["PAPAYA"]}`), made("other", `{"word":"PLUM"}`, `{}`), made("third", `{"word":"APRICOT"}`, `{"content":["PAPAYA"]}`))
	has := func(word string) (where []string) {
		files, err := filepath.Glob(h.Path() + "*")
		require.NoError(t, err)
		for _, f := range files {
			if b, err := os.ReadFile(f); err == nil && bytes.Contains(b, []byte(word)) {
				where = append(where, filepath.Base(f))
			}
		}
		return where
	}
	if len(has("APRICOT")) == 0 || len(has("PAPAYA")) == 0 {
		t.Fatal("it was never there")
	}
	require.NoError(t, h.Delete(t.Context(), 1, 3))
	for _, word := range []string{"APRICOT", "PAPAYA"} {
		if where := has(word); len(where) > 0 {
			t.Errorf("%s is in %v", word, where)
		}
	}
	if len(has("PLUM")) == 0 {
		t.Error("what was not removed is gone")
	}
}

// Several processes write at once, and nothing is lost.
func TestProcesses(t *testing.T) {
	h := newHistory(t, UsualLimits)
	var wg sync.WaitGroup
	for range 3 {
		wg.Go(func() {
			cmd := exec.CommandContext(t.Context(), os.Args[0])
			cmd.Env = append(os.Environ(), asWriter+"="+h.Path())
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Errorf("%v: %s", err, out)
			}
		})
	}
	wg.Wait()
	if calls := all(t, h, Query{}); len(calls) != 150 {
		t.Errorf("%d calls; want 150", len(calls))
	}
}

// A file that is not a database, a folder that cannot be written and a file that another process holds: callers go on, and hear of it.
func TestBrokenFiles(t *testing.T) {
	t.Run("damaged", func(t *testing.T) {
		h := newHistory(t, UsualLimits)
		require.NoError(t, errors.Join(os.MkdirAll(filepath.Dir(h.Path()), 0o700), os.WriteFile(h.Path(), bytes.Repeat([]byte("no database "), 1000), 0o600)))
		keep(t, h, made("a", `{}`, `{}`))
		assert.ErrorContains(t, h.Err(), "remove it")
		if _, err := h.List(context.Background(), Query{}); err == nil {
			t.Error("a damaged file was read")
		}
		require.NoError(t, os.Remove(h.Path()))
		keep(t, h, made("a", `{}`, `{}`))
		if err := h.Err(); err != nil {
			t.Errorf("after the file was removed: %v", err)
		}
	})
	t.Run("no folder", func(t *testing.T) {
		file := filepath.Join(t.TempDir(), "file")
		require.NoError(t, os.WriteFile(file, nil, 0o600))
		h := OpenHistory(filepath.Join(file, "history.db"), UsualLimits)
		keep(t, h, made("a", `{}`, `{}`))
		assert.ErrorContains(t, h.Close(), "cannot open the history")
	})
	t.Run("full", func(t *testing.T) {
		h := newHistory(t, UsualLimits)
		keep(t, h, made("a", `{}`, `{}`))
		h.db.SetMaxOpenConns(1)
		if _, err := h.db.Exec(`PRAGMA max_page_count = 1`); err != nil { // as many as there are
			t.Fatal(err)
		}
		h.Record(made("b", `{}`, `{"x":"`+strings.Repeat("0123456789abcdef", 100)+`"}`))
		keep(t, h, made("b", `{}`, `{"x":"`+strings.Repeat("fedcba9876543210", 200)+`"}`))
		assert.ErrorContains(t, h.Err(), "full")
		if calls := all(t, h, Query{}); len(calls) == 0 || calls[len(calls)-1].Target != "a" {
			t.Errorf("%+v", calls)
		}
	})
	t.Run("held", func(t *testing.T) {
		h := newHistory(t, UsualLimits)
		keep(t, h, made("a", `{}`, `{}`))
		other := OpenHistory(h.Path(), UsualLimits)
		db, err := other.database(context.Background(), false)
		require.NoError(t, err)
		tx, err := db.BeginTx(context.Background(), nil)
		require.NoError(t, err)
		before := time.Now()
		h.Record(made("b", `{}`, `{}`))
		if took := time.Since(before); took >= lockTimeout { // it did not wait for the other
			t.Errorf("recording a call took %v", took)
		}
		if calls := all(t, h, Query{}); len(calls) != 1 {
			t.Errorf("%d calls can be read while another process writes", len(calls))
		}
		keep(t, h)
		assert.ErrorContains(t, h.Err(), "another process holds it")
		require.NoError(t, errors.Join(tx.Rollback(), other.Close()))
		keep(t, h, made("c", `{}`, `{}`))
		assert.NoError(t, h.Err())
	})
}

// A server keeps its history when its entry changes; an unnamed one is what it runs, and where only if that matters.
func TestIdentity(t *testing.T) {
	here, there := t.TempDir(), t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(here, "server.js"), nil, 0o600))
	at := func(dir string, command ...string) string {
		s := config.OfCommand(command[0], command[1:]...)
		s.Cwd = dir
		return Identity(s)
	}
	entry := func(name, file, command string) string {
		return Identity(config.Server{Name: name, Command: command, Source: config.Source{File: file}})
	}
	for i, same := range []bool{
		at(here, "npx", "x") == at(there, "npx", "x"),
		at(here, "node", "server.js") != at(there, "node", "server.js"),
		at(here, "npx", "x") != at(here, "npx", "y"),
		entry("a", "f", "x") == entry("a", "f", "y"),
		entry("a", "f", "x") != entry("b", "f", "x"),
		entry("a", "f", "x") != entry("a", "g", "x"),
	} {
		if !same {
			t.Errorf("%d is wrong", i)
		}
	}
}

// A nil history, for those who want none, does nothing.
func TestNoHistory(t *testing.T) {
	h := OpenHistory("", UsualLimits)
	h.Record(made("a", `{}`, `{}`))
	if calls := all(t, h, Query{}); calls != nil || h.Close() != nil || h.Err() != nil || h.Busy() || h.Path() != "" || h.Rev() != 0 {
		t.Error("it keeps something")
	}
}

// TestBudgetRecord: a call does not wait for its history, however large its result is.
func TestBudgetRecord(t *testing.T) {
	budget.Skip(t)
	h := newHistory(t, UsualLimits)
	m := made("tool", `{"a":1}`, `{"text":"`+strings.Repeat("x", 50_000_000)+`"}`)
	keep(t, h, made("first", `{}`, `{}`))
	budget.Ceiling(t, "a call of 50 MB handed to the history", budget.Best(func() time.Duration {
		start := time.Now()
		h.Record(m)
		took := time.Since(start)
		keep(t, h)
		return took
	}), 100*time.Microsecond)
	calls := make([]entry, 1000)
	for i := range calls {
		calls[i] = newEntry(made("tool", `{"text":"one of many"}`, `{"content":[{"type":"text","text":"an answer of usual size"}]}`))
	}
	budget.Ceiling(t, "1,000 calls written to the history", budget.Best(func() time.Duration {
		start := time.Now()
		require.NoError(t, h.add(t.Context(), calls))
		return time.Since(start)
	}), 500*time.Millisecond)
	budget.Ceiling(t, "5,000 calls of the history read", budget.Best(func() time.Duration {
		start := time.Now()
		if n := len(all(t, h, Query{Limit: 5000})); n != 5000 {
			t.Fatalf("%d calls", n)
		}
		return time.Since(start)
	}), 250*time.Millisecond)
}
