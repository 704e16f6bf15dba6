package files

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/mcphud/mcphud/agentsrv/check/checktest"
	"github.com/mcphud/mcphud/session/base/jsonrpc"
	"github.com/mcphud/mcphud/session/test/require"
	"github.com/mcphud/mcphud/session/test/require/assert"
)

const secret = "the secret outside"

// tree is a root with something next to it that nobody may see.
func tree(t *testing.T) (f *Files, root string) {
	t.Helper()
	top := t.TempDir()
	root = filepath.Join(top, "root")
	write := func(name, content string) {
		t.Helper()
		file := filepath.Join(root, filepath.FromSlash(name))
		require.NoError(t, os.MkdirAll(filepath.Dir(file), 0o755))
		require.NoError(t, os.WriteFile(file, []byte(content), 0o600))
	}
	write("../secret.txt", secret)
	write("code/main.js", "console.log('grüß')\n")
	write("binary.dat", "\x00\x01\xff")
	write("empty", "")
	write("a b.txt", "spaces")
	write("..dots", "dots")
	f, err := Open(root)
	require.NoError(t, err)
	t.Cleanup(func() { _ = f.Close() })
	return f, root
}

func (f *Files) call(t *testing.T, tool string, args any) *mcp.CallToolResult {
	t.Helper()
	raw, err := json.Marshal(args)
	require.NoError(t, err)
	for _, s := range f.Tools() {
		if s.Tool.Name != tool {
			continue
		}
		res, err := checktest.Call(t, s, string(raw))
		if f, ok := jsonrpc.AsRequestError(err); ok && f.Kind == jsonrpc.KindInvalidParams {
			return mcp.NewToolResultError(f.Message)
		}
		require.NoError(t, err)
		return res
	}
	t.Fatalf("no tool %s", tool)
	return nil
}

func said(r *mcp.CallToolResult) string { return r.Content[0].(mcp.TextContent).Text }

func TestReadFile(t *testing.T) {
	f, _ := tree(t)
	var p Part
	require.NoError(t, json.Unmarshal(f.call(t, "read_file", map[string]any{"path": "code/main.js"}).RawStructuredContent, &p))
	if want := (Part{"code/main.js", 22, 0, 22, UTF8, "console.log('grüß')\n", 0}); p != want {
		t.Errorf("%+v, want %+v", p, want)
	}
	// The piece ends before the ü that would be cut in two, and the next one begins there.
	if p, err := f.Read("code/main.js", 0, 16); err != nil || p.Content != "console.log('gr" || p.Next != 15 {
		t.Errorf("%+v %v", p, err)
	}
	if p, err := f.Read("code/main.js", 15, 100); err != nil || p.Content != "üß')\n" || p.Next != 0 {
		t.Errorf("%+v %v", p, err)
	}
	if p, err := f.Read("code/main.js", 16, 100); err != nil || p.Encoding != Base64 {
		t.Errorf("%+v %v", p, err)
	}
	if p, err := f.Read("code/main.js", 1<<40, 100); err != nil || p.Content != "" || p.Size != 22 {
		t.Errorf("%+v %v", p, err)
	}
	if p, err := f.Read("binary.dat", 0, 100); err != nil || p.Encoding != Base64 || p.Content != base64.StdEncoding.EncodeToString([]byte("\x00\x01\xff")) {
		t.Errorf("%+v %v", p, err)
	}
	if p, err := f.Read("empty", 0, 100); err != nil || p.Encoding != UTF8 || p.Content != "" {
		t.Errorf("%+v %v", p, err)
	}
	for _, args := range []map[string]any{
		{},
		{"path": 1},
		{"path": "code/main.js", "offset": -1},
		{"path": "code/main.js", "limit": 0},
		{"path": "code/main.js", "limit": MaxRead + 1},
		{"path": "code/main.js", "offset": 1.5},
		{"path": "code"},
		{"path": "none"},
	} {
		if r := f.call(t, "read_file", args); !r.IsError || said(r) == "" {
			t.Errorf("%v: %+v", args, r)
		}
	}
}

// A file is read whole by following next_offset, however the pieces fall.
func TestPiecesMakeTheFile(t *testing.T) {
	f, root := tree(t)
	whole := strings.Repeat("aü€🙂\n", 300)
	require.NoError(t, os.WriteFile(filepath.Join(root, "big"), []byte(whole), 0o600))
	for _, limit := range []int64{4, 5, 7, 64, 1000} {
		var got bytes.Buffer
		for at := int64(0); ; {
			p, err := f.Read("big", at, limit)
			if err != nil || p.Encoding != UTF8 || p.Bytes > int(limit) {
				t.Fatalf("%d: %+v %v", limit, p, err)
			}
			got.WriteString(p.Content)
			if at = p.Next; at == 0 {
				break
			}
		}
		if got.String() != whole {
			t.Errorf("pieces of %d bytes make another file", limit)
		}
	}
}

func TestT9_NothingOutsideTheRootIsRead(t *testing.T) {
	f, root := tree(t)
	link := func(name, to string) {
		t.Helper()
		if err := os.Symlink(to, filepath.Join(root, name)); err != nil {
			t.Skip("no symbolic links here:", err)
		}
	}
	link("abs", filepath.Join(root, "..", "secret.txt"))
	link("rel", "../secret.txt")
	link("up", "..")
	link("loop", "loop")
	link("chain", "rel")
	link("inside", "code/main.js")
	link("null", "/dev/null")
	link("zero", "/dev/zero")
	for _, p := range []string{
		"../secret.txt", "code/../../secret.txt", "./../secret.txt", "..", "/etc/passwd", filepath.Join(root, "..", "secret.txt"), root + "/../secret.txt", root + "-other/main.js",
		filepath.Join(root, "up/secret.txt"), filepath.Join(root, "rel"),
		"abs", "rel", "up/secret.txt", "loop", "chain", "null", "zero", "", "code/main.js\x00", "code\x00/../../secret.txt",
		strings.Repeat("a", 10_000), strings.Repeat("a/", 5000), strings.Repeat("a", 300), "/proc/self/environ", "//etc/passwd", `..\secret.txt`,
		"code/main.js/..//../../secret.txt", "file:///etc/passwd",
	} {
		r := f.call(t, "read_file", map[string]string{"path": p})
		if !r.IsError || strings.Contains(said(r), secret) || strings.Contains(said(r), filepath.Dir(root)) && !strings.HasPrefix(p, "/") || len(said(r)) > 700 {
			t.Errorf("%.60q: %.300s", p, said(r))
		}
		if r := f.call(t, "list_dir", map[string]string{"path": p}); !r.IsError && p != "" { // "" is the root itself
			t.Errorf("listed %.60q: %.300s", p, said(r))
		}
	}
	other := filepath.Join(t.TempDir(), "link")
	require.NoError(t, os.Symlink(root, other))
	linked, err := Open(other)
	require.NoError(t, err)
	defer linked.Close()
	for _, p := range []string{filepath.Join(root, "code/main.js"), filepath.Join(other, "code/main.js")} {
		if r := linked.call(t, "read_file", map[string]string{"path": p}); r.IsError {
			t.Errorf("%s: %s", p, said(r))
		}
	}
	for _, p := range []string{filepath.Join(root, "code/main.js"), filepath.Join(root, "code/./main.js"), root + "//code/../a b.txt"} {
		if r := f.call(t, "read_file", map[string]string{"path": p}); r.IsError {
			t.Errorf("%s: %s", p, said(r))
		}
	}
	if r := f.call(t, "list_dir", map[string]string{"path": root}); r.IsError {
		t.Errorf("%s", said(r))
	}
	for _, p := range []string{"inside", "..dots", "code/../code/main.js", "./code//main.js", "a b.txt"} {
		if r := f.call(t, "read_file", map[string]string{"path": p}); r.IsError {
			t.Errorf("%s: %s", p, said(r))
		}
	}
	for uri, want := range map[string]string{
		"file:///code/main.js": "grüß", "file://localhost/code/main.js": "grüß", "file:///a%20b.txt": "spaces",
		"file://" + filepath.ToSlash(root) + "/code/main.js": "grüß", "file://" + filepath.ToSlash(root) + "/../secret.txt": "", "file://" + filepath.ToSlash(root) + "/link": "",
		"file:///../secret.txt": "", "file:///%2e%2e/secret.txt": "", "file:///code/..%2f..%2fsecret.txt": "", "file:////etc/passwd": "",
		"file://evil.example/code/main.js": "", "file:///code/main.js%00": "", "file:///code/main.js?x": "", "file:///rel": "", "file:///zero": "",
		"http://127.0.0.1/code/main.js": "", "file:///%zz": "", "file:///" + strings.Repeat("a", 20_000): "", "file:///none": "", "file:///code": "", "file://": "",
	} {
		var r mcp.ReadResourceRequest
		r.Params.URI = uri
		c, err := f.Templates()[0].Handler(t.Context(), r)
		if want != "" {
			if err != nil || !strings.Contains(c[0].(mcp.TextResourceContents).Text, want) || c[0].(mcp.TextResourceContents).URI != uri {
				t.Errorf("%s: %+v %v", uri, c, err)
			}
			continue
		}
		if e, ok := jsonrpc.AsRequestError(err); !ok || e.Kind != jsonrpc.KindResourceNotFound || strings.Contains(err.Error(), root) && !strings.Contains(uri, root) {
			t.Errorf("%.60s: %+v %v", uri, c, err)
		}
	}
}

// A path that is swapped for a link while it is read never leads outside.
func TestSwappedLinksDoNotLeadOutside(t *testing.T) {
	f, root := tree(t)
	name := filepath.Join(root, "swap")
	stop := make(chan struct{})
	done := make(chan struct{})
	go func() {
		defer close(done)
		for i := 0; ; i++ {
			select {
			case <-stop:
				return
			default:
			}
			_ = os.Remove(name)
			if i%2 == 0 {
				_ = os.Symlink("../secret.txt", name)
			} else {
				_ = os.WriteFile(name, []byte("mine"), 0o600)
			}
		}
	}()
	good := 0
	for end := time.Now().Add(10 * time.Second); good < 200 && time.Now().Before(end); {
		p, err := f.Read("swap", 0, 100)
		if strings.Contains(p.Content, secret) {
			t.Error("read the file outside")
			break
		}
		if err == nil {
			good++
		}
	}
	close(stop)
	<-done
	if good == 0 {
		t.Error("the file was never there, which proves nothing")
	}
}

func TestResourceKinds(t *testing.T) {
	f, root := tree(t)
	read := func(uri string) ([]mcp.ResourceContents, error) {
		var r mcp.ReadResourceRequest
		r.Params.URI = uri
		return f.Templates()[0].Handler(t.Context(), r)
	}
	c, err := read("file:///binary.dat")
	if b, ok := c[0].(mcp.BlobResourceContents); err != nil || !ok || b.Blob != "AAH/" {
		t.Errorf("%+v %v", c, err)
	}
	require.NoError(t, os.Truncate(filepath.Join(root, "empty"), MaxResource+1))
	_, err = read("file:///empty")
	if e, ok := jsonrpc.AsRequestError(err); !ok || e.Kind != jsonrpc.KindInvalidParams {
		t.Errorf("%v", err)
	}
}

func TestListDir(t *testing.T) {
	f, root := tree(t)
	list := func(args map[string]string) (l Listing) {
		t.Helper()
		require.NoError(t, json.Unmarshal(f.call(t, "list_dir", args).RawStructuredContent, &l))
		return l
	}
	names := func(l Listing) (out string) {
		for _, e := range l.Entries {
			out += fmt.Sprintf("%s:%s:%d ", e.Name, e.Type, e.Size)
		}
		return out
	}
	if got, want := names(list(nil)), "..dots:file:4 a b.txt:file:6 binary.dat:file:3 code:dir:0 empty:file:0 "; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	assert.Equal(t, names(list(map[string]string{"path": "code"})), "main.js:file:22 ")
	for i := range 2500 {
		require.NoError(t, os.WriteFile(filepath.Join(root, "code", fmt.Sprintf("f%04d", i)), nil, 0o600))
	}
	var all []string
	after := ""
	for pages := 1; ; pages++ {
		l := list(map[string]string{"path": "code", "after": after})
		if l.Total != 2501 || len(l.Entries) > MaxEntries {
			t.Fatalf("%d entries of %d", len(l.Entries), l.Total)
		}
		for _, e := range l.Entries {
			if len(all) > 0 && e.Name <= all[len(all)-1] {
				t.Fatalf("%s after %s", e.Name, all[len(all)-1])
			}
			all = append(all, e.Name)
		}
		if after = l.Next; after == "" {
			assert.Equalf(t, pages, 3, "pages")
			break
		}
	}
	assert.Equalf(t, len(all), 2501, "names")
}

func TestOpenSaysWhatIsWrong(t *testing.T) {
	_, err := Open(filepath.Join(t.TempDir(), "none"))
	if !errors.Is(err, os.ErrNotExist) || !strings.Contains(err.Error(), "name an existing folder") {
		t.Error(err)
	}
}
