package audit

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/gofrs/flock"

	"github.com/mcphud/mcphud/proxy/flow"
	"github.com/mcphud/mcphud/session/base/jsonrpc"
	"github.com/mcphud/mcphud/session/test/require"
	"github.com/mcphud/mcphud/session/test/require/assert"
)

func call(method, name string) *flow.Call {
	body := append(append([]byte(`{"jsonrpc":"2.0","id":1,"method":"`+method+`","params":{"name":`), jsonrpc.Quote(name)...), `}}`...)
	env, err := jsonrpc.Scan(body)
	if err != nil {
		panic(err)
	}
	c := &flow.Call{Request: flow.Request{R: httptest.NewRequest(http.MethodPost, "/", nil), Began: time.Now(), Agent: "a"}, Message: flow.Message{Body: body, Env: env}, Outcome: flow.Outcome{Status: 200}}
	c.Params.Name = jsonrpc.Get(env.Params, "name")
	return c
}

func lines(t *testing.T, file string) (out []map[string]any) {
	t.Helper()
	raw, err := os.ReadFile(file)
	require.NoError(t, err)
	for l := range bytes.Lines(raw) {
		var v map[string]any
		if err := json.Unmarshal(l, &v); err != nil {
			t.Fatalf("%v in %q", err, l)
		}
		out = append(out, v)
	}
	return out
}

func open(t *testing.T, o Options) *Log {
	t.Helper()
	l, err := Open(o)
	require.NoError(t, err)
	t.Cleanup(func() { _ = l.Close() })
	return l
}

func TestR18_AllLinesAreThereAfterClose(t *testing.T) {
	file := filepath.Join(t.TempDir(), "a.jsonl")
	require.NoError(t, os.WriteFile(file, nil, 0o644))
	l := open(t, Options{File: file})
	h := l.Middleware(func(*flow.Call) {})
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 100 {
				h(call("tools/call", "echo"))
			}
		})
	}
	wg.Wait()
	require.NoError(t, l.Close())
	if n := len(lines(t, file)); n != 800 || l.Status().Written != 800 || l.Status().Dropped != 0 {
		t.Errorf("%d lines, %+v", n, l.Status())
	}
	if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v %v", info.Mode(), err)
	}
	h(call("tools/call", "late"))
	if l.Status().Dropped != 1 {
		t.Errorf("%+v", l.Status())
	}
}

func TestR18_AbortedCallsAreWrittenDown(t *testing.T) {
	file := filepath.Join(t.TempDir(), "a.jsonl")
	l := open(t, Options{File: file})
	func() {
		defer func() {
			if recover() == nil {
				t.Error("the panic was swallowed")
			}
		}()
		l.Middleware(func(*flow.Call) { panic(http.ErrAbortHandler) })(call("tools/call", "echo"))
	}()
	require.NoError(t, l.Close())
	assert.Equalf(t, len(lines(t, file)), 1, "lines")
}

func TestR18_FilesRotate(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "a.jsonl")
	l := open(t, Options{File: file, MaxSize: 600, Keep: 2})
	h := l.Middleware(func(*flow.Call) {})
	for i := range int64(40) {
		h(call("tools/call", "echo"))
		require.Eventually(t, "a line", func() bool { return l.Status().Written == i+1 })
	}
	require.NoError(t, l.Close())
	files, err := os.ReadDir(dir)
	if err != nil || len(files) != 3 {
		t.Fatalf("%v %v", files, err)
	}
	for _, f := range files {
		info, err := f.Info()
		if err != nil || info.Size() > 600 || info.Size() == 0 || info.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v %v", f.Name(), info, err)
		}
		lines(t, filepath.Join(dir, f.Name()))
	}
}

// While another router rotates the file, this one writes on.
func TestR18_OneRouterRotates(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "a.jsonl")
	other := flock.New(dir, flock.SetFlag(os.O_RDONLY))
	if held, err := other.TryLock(); err != nil || !held {
		t.Skip("no locks of folders here: ", err)
	}
	l := open(t, Options{File: file, MaxSize: 10})
	h := l.Middleware(func(*flow.Call) {})
	for i, want := range []int{1, 1, 2} {
		if i == 2 {
			require.NoError(t, other.Close())
		}
		h(call("tools/call", "echo"))
		require.Eventually(t, "a line", func() bool { return l.Status().Written == int64(i)+1 })
		if files, err := os.ReadDir(dir); err != nil || len(files) != want {
			t.Errorf("after line %d: %v %v", i+1, files, err)
		}
	}
	assert.Equalf(t, len(lines(t, file))+10*len(lines(t, file+".1")), 21, "lines")
}

// Several routers write to one file and rotate it, without tearing or losing a line.
func TestR18_RoutersShareAFile(t *testing.T) {
	const routers, each = 4, 400
	dir := t.TempDir()
	file := filepath.Join(dir, "a.jsonl")
	var all sync.WaitGroup
	for r := range routers {
		all.Go(func() {
			l := &Log{o: Options{File: file, MaxSize: 4000, Keep: 200, Logger: slog.New(slog.DiscardHandler)}}
			for i := range each {
				line := fmt.Appendf(nil, `{"router":%d,"line":%d}`+"\n", r, i)
				if err := l.write(append(line, line...)); err != nil {
					t.Errorf("router %d, line %d: %v", r, i, err)
				}
			}
			_ = l.reset(nil)
		})
	}
	all.Wait()
	files, err := os.ReadDir(dir)
	if err != nil || len(files) < 3 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	seen := map[[2]int]int{}
	small := 0
	for _, f := range files {
		info, err := f.Info()
		require.NoError(t, err)
		if info.Size() < 3000 {
			small++
		}
		for _, l := range lines(t, filepath.Join(dir, f.Name())) {
			seen[[2]int{int(l["router"].(float64)), int(l["line"].(float64))}]++
		}
	}
	for r := range routers {
		for i := range each {
			if n := seen[[2]int{r, i}]; n != 2 {
				t.Errorf("line %d of router %d is there %d times, want 2", i, r, n)
			}
		}
	}
	if small > 1 { // the newest one
		t.Errorf("%d files were moved away that were not full", small)
	}
}

func TestR18_AFileThatIsMovedAwayIsBegunAnew(t *testing.T) {
	file := filepath.Join(t.TempDir(), "a.jsonl")
	l := open(t, Options{File: file})
	h := l.Middleware(func(*flow.Call) {})
	h(call("tools/call", "one"))
	require.Eventually(t, "the first line", func() bool { return l.Status().Written == 1 })
	require.NoError(t, os.Rename(file, file+".old"))
	require.Eventually(t, "a new file", func() bool {
		h(call("tools/call", "two"))
		_, err := os.Stat(file)
		return err == nil
	})
}

func TestR18_AFolderThatIsNotThere(t *testing.T) {
	if _, err := Open(Options{File: filepath.Join(t.TempDir(), "no", "a.jsonl")}); err == nil {
		t.Error("opened")
	}
}

func FuzzLine(f *testing.F) {
	f.Add("tools/call", "echo", "a")
	f.Add("x\ny", "a\x1b]0;t\x07\u2028\u202e\u009b", "\xff")
	f.Add("", "\U000e0041\"\\", "a")
	f.Fuzz(func(t *testing.T, method, name, agent string) {
		c := &flow.Call{Request: flow.Request{R: httptest.NewRequest(http.MethodPost, "/", nil), Began: time.Now(), Agent: agent, Principal: name}}
		c.Env.Method, c.Params.Name = method, jsonrpc.Quote(name)
		line := Append(nil, c, time.Now())
		var v map[string]any
		if err := json.Unmarshal(line, &v); err != nil {
			t.Fatalf("%v: %q", err, line)
		}
		for _, r := range string(line[:len(line)-1]) {
			if r < ' ' || r >= 0x7f && r < 0xa0 || r == '\u2028' || r == '\u202e' || r == 0xfffd || r >= 0xe0000 && r < 0xe0080 {
				t.Fatalf("%U in %q", r, line)
			}
		}
		if len(line) > 8000 {
			t.Errorf("%d bytes", len(line))
		}
	})
}

func BenchmarkAppend(b *testing.B) {
	c := call("tools/call", "echo")
	c.Principal, c.Session, c.Trace = "alpha", "01234567", "4bf92f3577b34da6a3ce929d0e0e4736"
	var buf []byte
	b.ReportAllocs()
	for b.Loop() {
		buf = Append(buf[:0], c, time.Now())
	}
}
