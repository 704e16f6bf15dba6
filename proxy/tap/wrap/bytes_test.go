//go:build unix

package wrap

import (
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mcphud/mcphud/proxy/tap"
	"github.com/mcphud/mcphud/session/test/budget"
	"github.com/mcphud/mcphud/session/test/require"
	"github.com/mcphud/mcphud/session/test/require/assert"
	"github.com/mcphud/mcphud/session/wire/journal"
)

// payloads are bytes that a wrapper could get wrong.
func payloads() map[string][]byte {
	random := make([]byte, 300_000)
	src := rand.NewChaCha8([32]byte{7})
	_, _ = src.Read(random)
	size := 10 << 20
	if budget.All() && !budget.Race() {
		size = 100 << 20
	}
	big := bytes.Repeat([]byte("0123456789abcdef"), size/16)
	copy(big, `{"jsonrpc":"2.0","id":1,"result":"`)
	return map[string][]byte{
		"nothing":            nil,
		"one frame":          []byte(`{"jsonrpc":"2.0","id":1,"method":"ping"}` + "\n"),
		"no line end":        []byte(`{"jsonrpc":"2.0","id":1,"meth`),
		"CRLF":               []byte("{}\r\n\r\n{}\r\n"),
		"CR only":            []byte("{}\r{}\r"),
		"invalid UTF-8":      []byte("{\"a\":\"\xff\xfe\xc0\x80\"}\n\xed\xa0\x80\n"),
		"NUL and escapes":    []byte("\x00\x1b[2J\x1b]52;c;AAAA\x07\n\x00"),
		"byte order mark":    []byte("\xef\xbb\xbf{}\n"),
		"many empty lines":   bytes.Repeat([]byte("\n"), 100_000),
		"random":             random,
		"a large frame":      append(big, "\"}\n"...),
		"large, no end":      big,
		"a pipe's worth":     bytes.Repeat([]byte("x"), 65536),
		"a pipe's worth + 1": bytes.Repeat([]byte("x"), 65537),
	}
}

// Byte for byte, in both directions at once: what the server says is what it was told.
func TestTapWrapPassesBytesUnchanged(t *testing.T) {
	for name, data := range payloads() {
		t.Run(name, func(t *testing.T) {
			r := prepare(t, "wrapper", "cat", "0").start()
			go func() {
				_, _ = io.Copy(r.in, bytes.NewReader(data))
				_ = r.in.Close()
			}()
			h := sha256.New()
			n, err := io.Copy(h, r.out)
			if err != nil || n != int64(len(data)) || [32]byte(h.Sum(nil)) != sha256.Sum256(data) {
				t.Errorf("%d of %d bytes came back, %v", n, len(data), err)
			}
			if code := r.wait(); code != 0 || r.stderr.String() != "" {
				t.Errorf("exit %d, stderr %q", code, r.stderr)
			}
		})
	}
}

// Each piece arrives when it is sent, not when a line or a buffer is full.
func TestTapWrapPassesPiecesAtOnce(t *testing.T) {
	r := prepare(t, "wrapper", "cat", "0").start()
	for _, piece := range []string{"{", "\"jsonrpc\":", "\r", "\n", "\xff", "{}\n{"} {
		if _, err := io.WriteString(r.in, piece); err != nil {
			t.Fatal(err)
		}
		got := make([]byte, len(piece))
		if _, err := io.ReadFull(r.out, got); err != nil || string(got) != piece {
			t.Fatalf("%q came as %q, %v", piece, got, err)
		}
	}
	_ = r.in.Close()
	if rest, err := io.ReadAll(r.out); err != nil || len(rest) > 0 {
		t.Errorf("and %q, %v", rest, err)
	}
	if code := r.wait(); code != 0 {
		t.Errorf("exit %d", code)
	}
}

// With a reader that does not read, and with none, the server's speed is its own, and memory stays bounded.
func TestTapWrapSlowReader(t *testing.T) {
	const n = 400_000
	r := prepare(t, "wrapper", "flood", fmt.Sprint(n))
	require.NoError(t, os.Mkdir(r.dir, 0o700))
	r.start()
	stuck := make(chan struct{})
	defer func() { <-stuck }()
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	go func() { // connects, and never reads
		defer close(stuck)
		holdSocket(ctx, r.dir)
	}()
	for i := range n {
		if s, err := r.out.ReadSlice('\n'); err != nil || i%1000 == 0 && string(s) != fmt.Sprintf(`{"jsonrpc":"2.0","method":"m","params":{"i":%d}}`+"\n", i) {
			t.Fatalf("line %d: %s, %v", i, s, err)
		}
	}
	if runtime.GOOS == "linux" {
		if peak := budget.Status(t, r.cmd.Process.Pid, "VmHWM"); peak > 100<<20 {
			t.Errorf("the wrapper took %d MB", peak>>20)
		}
	}
	_ = r.in.Close()
	if code := r.wait(); code != 0 {
		t.Errorf("exit %d: %s", code, r.stderr)
	}
}

// What passes is in the tap: frames both ways, stderr, start and end, in order, requests with their answers.
func TestTapWrapIsWatched(t *testing.T) {
	r := prepare(t, "wrapper", "cat", "9")
	j := journal.New(journal.Options{Dir: t.TempDir()})
	defer j.Close()
	w := tap.Join(context.Background(), j, r.dir)
	defer w.Close()
	<-w.Scanned()
	r.start()
	require.Eventually(t, "the wrapper", func() bool { return len(w.Producers()) == 1 })
	if h := w.Producers()[0]; h.Kind != tap.Wrapped || h.PID != r.cmd.Process.Pid || h.Name != "srv" {
		t.Errorf("%+v", h)
	}
	ask := `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"` + strings.Repeat("y", 10_000) + `"}}`
	cut := `{"jsonrpc":"2.0","result":{"x":"` + strings.Repeat("z", 3*tap.MaxBody) + `"},"id":77}`
	go func() {
		fmt.Fprintf(r.in, "%s\r\nlog line\n\n%s\nrest", ask, cut)
		_ = r.in.Close()
	}()
	_, _ = io.Copy(io.Discard, r.out)
	r.wait()
	var got []journal.Entry
	require.Eventually(t, "the end", func() bool {
		got = j.Snapshot(0, nil)
		return slices.ContainsFunc(got, func(e journal.Entry) bool { return e.Note == "ended" })
	})
	var out, in []string
	for _, e := range got {
		if e.Server != "srv" {
			t.Errorf("of %s: %+v", e.Server, e)
		}
		word := fmt.Sprintf("%s %s", e.Kind, e.ID)
		switch e.Dir {
		case journal.Out:
			out = append(out, word)
		case journal.In:
			in = append(in, word)
		}
		if e.Kind == journal.Request {
			if body, err := j.Body(e.Seq); err != nil || string(body) != ask {
				t.Errorf("%d bytes, %v", len(body), err)
			}
		}
		if e.Kind == journal.Response && e.Dir == journal.Out && (e.ID != "77" || !strings.Contains(e.Note, fmt.Sprint(len(cut)))) {
			t.Errorf("a frame that is too long: %+v", e)
		}
	}
	want := "request 1, bad , response 77, bad , state 1" // the request that cat sent back, and its copy, were never answered
	if strings.Join(out, ", ") != want || strings.Join(in, ", ") != want {
		t.Errorf("out %q, in %q", out, in)
	}
	if !slices.ContainsFunc(got, func(e journal.Entry) bool { return e.Note == "exited with status 9" }) {
		t.Errorf("%+v", got[len(got)-1])
	}
}

func TestTapWrapWorksWithoutATap(t *testing.T) {
	r := prepare(t, "wrapper", "cat", "0")
	if err := os.WriteFile(r.dir, nil, 0o600); err != nil { // where the folder would be
		t.Fatal(err)
	}
	r.start()
	fmt.Fprint(r.in, "hello")
	_ = r.in.Close()
	if out, err := io.ReadAll(r.out); err != nil || string(out) != "hello" {
		t.Errorf("%q %v", out, err)
	}
	if code := r.wait(); code != 0 {
		t.Errorf("exit %d", code)
	}
	if s := r.stderr.String(); !strings.HasPrefix(s, "mcphud: the server runs, but its traffic cannot be watched: ") || strings.Count(s, "\n") != 1 {
		t.Errorf("stderr %q", s)
	}
}

// The median of many round trips through the wrapper, against the same server alone.
func TestTapWrapLatency(t *testing.T) {
	median := func(kind string) time.Duration {
		r := prepare(t, kind, "cat", "0").start()
		defer func() {
			_ = r.in.Close()
			_, _ = io.ReadAll(r.out)
			r.wait()
		}()
		var took []time.Duration
		for range 300 {
			start := time.Now()
			fmt.Fprintln(r.in, `{"jsonrpc":"2.0","id":1,"method":"ping"}`)
			r.line()
			took = append(took, time.Since(start))
		}
		slices.Sort(took)
		return took[len(took)/2]
	}
	best := time.Hour
	for end := time.Now().Add(30 * time.Second); best > time.Millisecond && time.Now().Before(end); {
		best = min(best, median("wrapper")-median("server"))
	}
	t.Logf("a round trip takes %v longer", best)
	if best > time.Millisecond {
		t.Errorf("a round trip takes %v longer", best)
	}
}

func TestTapWrapNames(t *testing.T) {
	for line, want := range map[string]string{
		"npx -y @modelcontextprotocol/server-everything@1.2 stdio": "server-everything",
		"uvx --from x mcp-server-git":                              "mcp-server-git",
		"node /opt/files/index.js":                                 "index",
		"/usr/bin/my-server --port 1":                              "my-server",
		"python3 -m mcp_server":                                    "mcp_server",
		"env A=1 npx foo":                                          "foo",
		"npx":                                                      "npx",
		"./.js":                                                    ".js",
	} {
		assert.Equalf(t, NameOf(strings.Fields(line)), want, "%s", line)
	}
	if filepath.Separator == '/' && NameOf([]string{""}) == "" {
		t.Error("an empty name")
	}
}
