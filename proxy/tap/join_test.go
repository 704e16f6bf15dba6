package tap

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mcphud/mcphud/session/test/require"
	"github.com/mcphud/mcphud/session/test/require/assert"
	"github.com/mcphud/mcphud/session/wire/journal"
	"github.com/mcphud/mcphud/session/wire/unixsocket"
)

// watch joins what is in dir.
func watch(t *testing.T, dir string) (*Joiner, *journal.Journal) {
	t.Helper()
	j := journal.New(journal.Options{Dir: t.TempDir()})
	ctx, stop := context.WithCancel(context.Background())
	w := Join(ctx, j, dir)
	t.Cleanup(func() {
		stop()
		w.Close()
		_ = j.Close()
	})
	<-w.Scanned()
	return w, j
}

// said are the frames of a journal, without what the joiner says itself.
func said(j *journal.Journal) (out []journal.Entry) {
	return slices.DeleteFunc(j.Snapshot(0, nil), func(e journal.Entry) bool { return e.Kind == journal.State })
}

func states(j *journal.Journal) (out []string) {
	for _, e := range j.Snapshot(0, nil) {
		if e.Kind == journal.State {
			out = append(out, e.Server+": "+e.Note)
		}
	}
	return out
}

// In the folder are sockets of other kinds, too, which are neither joined nor taken away.
func TestTapLeavesOtherSocketsAlone(t *testing.T) {
	dir := socketDir(t)
	ln, path, err := unixsocket.Listen([]string{dir}, "manage-8088.sock")
	require.NoError(t, err)
	defer func() { _ = ln.Close() }()
	long := time.Now().Add(-time.Hour)
	require.NoError(t, os.Chtimes(path, long, long))
	open(t, Options{Dir: dir})
	w, _ := watch(t, dir)
	require.Eventually(t, "the producer", func() bool { return len(w.Producers()) == 1 })
	assert.Equalf(t, w.Found(), 1, "producers")
	if _, err := os.Lstat(path); err != nil {
		t.Error(err)
	}
}

// Two producers, one before and one after the joiner came, with the same ids on both sides: everything is in the order of
// time, and answers belong to their own requests.
func TestTapTwoProducersJoined(t *testing.T) {
	dir := socketDir(t)
	a := open(t, Options{Name: "files", Kind: Wrapped, Dir: dir})
	ask := func(p *Producer, server string) {
		p.Append(journal.Entry{Server: server, Dir: journal.Out}, []byte(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"t"}}`))
	}
	answer := func(p *Producer, server string) {
		p.Append(journal.Entry{Server: server, Dir: journal.In}, []byte(`{"jsonrpc":"2.0","id":1,"result":{}}`))
	}
	ask(a, "")
	w, j := watch(t, dir)
	b := open(t, Options{Name: "router", Kind: Router, Dir: dir})
	ask(b, "kb")
	require.Eventually(t, "both producers", func() bool { return len(w.Producers()) == 2 })
	answer(a, "")
	answer(b, "kb")
	require.Eventually(t, "four entries", func() bool { return len(said(j)) == 4 })
	got := said(j)
	for i, want := range []string{"files request", "kb request", "files response", "kb response"} {
		assert.Equalf(t, got[i].Server+" "+got[i].Kind.String(), want, "entry %d", i)
	}
	for i, peer := range []int{2, 3, 0, 1} {
		if got[i].Peer != got[peer].Seq || got[i].Status != journal.OK || got[i].Tool != "t" {
			t.Errorf("entry %d: %+v", i, got[i])
		}
	}
	if !slices.IsSortedFunc(got, func(a, b journal.Entry) int { return a.Time.Compare(b.Time) }) {
		t.Error("not in the order of time")
	}
	if body, err := j.Body(got[0].Seq); err != nil || !strings.HasPrefix(string(body), `{"jsonrpc"`) {
		t.Errorf("%s %v", body, err)
	}
	_ = b.Close()
	require.Eventually(t, "the end of one to be told", func() bool { return slices.Contains(states(j), "router: ended") })
	require.Eventually(t, "one producer", func() bool { return len(w.Producers()) == 1 })
}

func TestTapReplaysOfSeveralAreMerged(t *testing.T) {
	dir := socketDir(t)
	var ps []*Producer
	for i := range 3 {
		ps = append(ps, open(t, Options{Name: fmt.Sprint("p", i), Kind: Wrapped, Dir: dir}))
	}
	for i := range 60 {
		frame(ps[i%3], fmt.Sprintf(`{"jsonrpc":"2.0","method":"m%d"}`, i))
	}
	_, j := watch(t, dir)
	require.Eventually(t, "all", func() bool { return len(said(j)) == 60 })
	for i, e := range said(j) {
		if e.Method != fmt.Sprint("m", i) || e.Server != fmt.Sprint("p", i%3) {
			t.Fatalf("entry %d is %s of %s", i, e.Method, e.Server)
		}
	}
}

func TestTapProducersOfOneName(t *testing.T) {
	dir := socketDir(t)
	a, b := open(t, Options{Name: "npx", Kind: Wrapped, Dir: dir}), open(t, Options{Name: "npx", Kind: Wrapped, Dir: dir})
	_, j := watch(t, dir)
	frame(a, `{"jsonrpc":"2.0","method":"m"}`)
	frame(b, `{"jsonrpc":"2.0","method":"m"}`)
	require.Eventually(t, "both", func() bool { return len(said(j)) == 2 })
	names := []string{said(j)[0].Server, said(j)[1].Server}
	slices.Sort(names)
	if names[0] != "npx" || names[1] != "npx (2)" {
		t.Errorf("%q", names)
	}
}

// A connection that breaks is made again, and nothing comes twice.
func TestTapJoinsAgain(t *testing.T) {
	t.Parallel()
	p := open(t, Options{Name: "files", Kind: Wrapped})
	w, j := watch(t, filepath.Dir(p.Path()))
	frame(p, `{"jsonrpc":"2.0","method":"before"}`)
	require.Eventually(t, "the first entry", func() bool { return len(said(j)) == 1 })
	p.mu.Lock()
	for r := range p.readers {
		_ = r.c.Close()
	}
	p.mu.Unlock()
	require.Eventually(t, "the loss", func() bool { return !p.Watched() })
	frame(p, `{"jsonrpc":"2.0","method":"between"}`)
	require.Eventually(t, "the second entry", func() bool { return len(said(j)) >= 2 })
	frame(p, `{"jsonrpc":"2.0","method":"after"}`)
	require.Eventually(t, "the third entry", func() bool { return len(said(j)) >= 3 })
	var got []string
	for _, e := range said(j) {
		got = append(got, e.Method+" of "+e.Server)
	}
	if strings.Join(got, ", ") != "before of files, between of files, after of files" {
		t.Errorf("%q", got)
	}
	if s := states(j); !slices.ContainsFunc(s, func(s string) bool { return strings.HasPrefix(s, "files: rejoined") }) {
		t.Errorf("%q", s)
	}
	if len(w.Producers()) != 1 {
		t.Errorf("%+v", w.Producers())
	}
}

// What is not a producer, or one of another version, does not stop the others.
func TestTapHostileSockets(t *testing.T) {
	dir := socketDir(t)
	p := open(t, Options{Name: "good", Kind: Wrapped, Dir: dir})
	serve := func(name, bytes string) {
		ln, err := net.Listen("unix", filepath.Join(dir, name))
		require.NoError(t, err)
		done := make(chan struct{})
		go func() {
			defer close(done)
			for {
				c, err := ln.Accept()
				if err != nil {
					return
				}
				_, _ = c.Write([]byte(bytes))
				_ = c.Close()
			}
		}()
		t.Cleanup(func() {
			_ = ln.Close()
			<-done
		})
	}
	serve("tap-1-aaaaaa.sock", "h\xff\xff\xff\xff\xff\xff\xff\xff")
	serve("tap-1-bbbbbb.sock", "GET / HTTP/1.1\r\n\r\n")
	serve("tap-1-cccccc.sock", "")
	var future strings.Builder
	bw := bufio.NewWriter(&future)
	_ = write(bw, msgHello, Hello{Version: 99, Name: "future", PID: 1}, nil)
	_ = bw.Flush()
	serve("tap-1-dddddd.sock", future.String())
	require.NoError(t, os.Mkdir(filepath.Join(dir, "tap-1-eeeeee.sock"), 0o700))
	w, j := watch(t, dir)
	frame(p, `{"jsonrpc":"2.0","method":"m"}`)
	require.Eventually(t, "the good one's entry", func() bool { return len(said(j)) == 1 })
	require.Eventually(t, "the other version to be told", func() bool {
		return slices.ContainsFunc(states(j), func(s string) bool { return strings.Contains(s, "incompatible version") })
	})
	require.Eventually(t, "the others to be gone", func() bool { return len(w.Producers()) == 1 })
}

// A producer that was killed leaves its socket behind. That it is gone is told once.
func TestTapKilledProducer(t *testing.T) {
	t.Parallel()
	dir := socketDir(t)
	open(t, Options{Name: "first", Kind: Wrapped, Dir: dir})
	ln, err := net.ListenUnix("unix", &net.UnixAddr{Name: filepath.Join(dir, "tap-1-aaaaaa.sock"), Net: "unix"})
	require.NoError(t, err)
	ln.SetUnlinkOnClose(false)
	w, j := watch(t, dir)
	c, err := ln.Accept()
	require.NoError(t, err)
	bw := bufio.NewWriter(c)
	require.NoError(t, write(bw, msgHello, Hello{Version: Version, Name: "srv", Instance: "x", PID: 1}, nil))
	_ = bw.Flush()
	require.Eventually(t, "it to be joined", func() bool { return len(w.Producers()) == 2 })
	_, _ = ln.Close(), c.Close()
	require.Eventually(t, "its socket to be swept away", func() bool {
		_, err := os.Lstat(ln.Addr().String())
		return err != nil
	})
	open(t, Options{Name: "other", Kind: Wrapped, Dir: dir})
	require.Eventually(t, "another one", func() bool {
		return slices.ContainsFunc(states(j), func(s string) bool { return strings.HasPrefix(s, "other: joined") })
	})
	if n := strings.Count(strings.Join(states(j), "\n"), "srv: ended"); n != 1 {
		t.Errorf("%d times: %q", n, states(j))
	}
}

// A folder that is somebody else's, or that comes later.
func TestTapFolders(t *testing.T) {
	t.Parallel()
	base := filepath.Dir(socketDir(t))
	late, file := filepath.Join(base, "late"), filepath.Join(base, "file")
	require.NoError(t, os.WriteFile(file, nil, 0o600))
	j := journal.New(journal.Options{Dir: t.TempDir()})
	defer j.Close()
	w := Join(context.Background(), j, filepath.Join(base, "first"), late, file)
	defer w.Close()
	<-w.Scanned()
	if fi, err := os.Stat(filepath.Join(base, "first")); err != nil || fi.Mode().Perm() != 0o700 {
		t.Errorf("the first folder is not made: %v", err)
	}
	require.Eventually(t, "the complaint", func() bool { return len(states(j)) == 1 && strings.Contains(states(j)[0], "is not a folder") })
	p := open(t, Options{Name: "p", Dir: late})
	frame(p, `{"jsonrpc":"2.0","method":"m"}`)
	require.Eventually(t, "a producer in a folder that came later", func() bool { return len(said(j)) == 1 })
}

// Many entries of several producers at once arrive whole, each producer's in its own order.
func TestTapFlood(t *testing.T) {
	dir := socketDir(t)
	ps := []*Producer{open(t, Options{Name: "a", Kind: Wrapped, Dir: dir}), open(t, Options{Name: "b", Kind: Wrapped, Dir: dir})}
	w, j := watch(t, dir)
	require.Eventually(t, "both", func() bool { return len(w.Producers()) == 2 })
	const n = 5000
	for i := range n {
		for _, p := range ps {
			frame(p, fmt.Sprintf(`{"jsonrpc":"2.0","method":"m","params":{"i":%d}}`, i))
		}
		if i%100 == 99 { // as fast as it can be read: dropping is another test's
			require.Eventually(t, "the entries so far", func() bool { return len(said(j)) >= 2*(i+1-liveRecords/4) })
		}
	}
	require.Eventually(t, "all", func() bool { return len(said(j)) == 2*n })
	last := map[string]time.Time{}
	next := map[string]int{}
	for _, e := range said(j) {
		body, err := j.Body(e.Seq)
		if want := fmt.Sprintf(`{"jsonrpc":"2.0","method":"m","params":{"i":%d}}`, next[e.Server]); err != nil || string(body) != want {
			t.Fatalf("%s of %s, want %s: %v", body, e.Server, want, err)
		}
		next[e.Server]++
		if e.Time.Before(last[e.Server]) {
			t.Fatal("time runs backwards")
		}
		last[e.Server] = e.Time
	}
}

// Requests that a producer leaves without an answer are over when it ended; those that were answered stay as they were.
func TestRequestsOfAnEndedProducerAreUnanswered(t *testing.T) {
	dir := socketDir(t)
	p := open(t, Options{Dir: dir, Name: "files", Kind: Wrapped})
	_, j := watch(t, dir)
	require.Eventually(t, "the producer", func() bool { return len(states(j)) > 0 })
	for _, frame := range []struct {
		dir  journal.Dir
		text string
	}{
		{journal.Out, `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`},
		{journal.Out, `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"read"}}`},
		{journal.In, `{"jsonrpc":"2.0","id":1,"result":{}}`},
		{journal.In, `{"jsonrpc":"2.0","id":1,"method":"roots/list"}`},
	} {
		p.Append(journal.Entry{Dir: frame.dir, Conn: 1}, []byte(frame.text))
	}
	require.NoError(t, p.Close())
	got := func() string {
		var out []string
		for _, e := range said(j) {
			if e.Kind == journal.Request {
				out = append(out, e.Method+" "+e.Status)
			}
		}
		return strings.Join(out, ", ")
	}
	require.Eventually(t, "the end of all", func() bool { return got() == "tools/list ok, tools/call error, roots/list error" })
}
