package kb

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mcphud/mcphud/session/base/jsonrpc"
	"github.com/mcphud/mcphud/session/test/require"
)

func TestReadUnknownURIs(t *testing.T) {
	k := open(t, Options{Dir: folder(t, map[string]string{"a.md": "# A\n\ntext\n"})})
	require.NoError(t, k.Reindex(t.Context()))
	for _, uri := range []string{
		"resource://kb/none.md", "resource://kb/", "resource://kb", "resource://other/a.md", "resource://kb/../a.md", "resource://kb/%2e%2e/a.md",
		"resource://kb/a.md?line=2", "resource://kb/a.md?line=x", "resource://kb/a.md?line=1&part=1", "resource://kb/a.md?line=1&part=x", "resource://kb/a.md?offset=-1", "resource://kb/a.md?offset=999", "resource://kb/a.md?offset=9999999999999999999",
		"resource://kb/a%00.md", "resource://kb/%zz", "file:///etc/passwd", "resource://kb//etc/passwd", "resource://kb/" + strings.Repeat("a", 10_000),
	} {
		_, err := k.Read(t.Context(), uri)
		if f, ok := jsonrpc.AsRequestError(err); !ok || f.Kind != jsonrpc.KindResourceNotFound || f.Data["uri"] == "" {
			t.Errorf("%.60s: %v", uri, err)
		}
	}
	if c, err := k.Read(t.Context(), "resource://kb/a.md"); err != nil || c.Text != "# A\n\ntext\n" || c.MIMEType != "text/markdown" || c.Meta != nil {
		t.Errorf("%+v, %v", c, err)
	}
}

func TestTemplateMatchesItsSources(t *testing.T) {
	k := open(t, Options{})
	re := NewLibrary(k, nil).Templates()[0].Template.URITemplate.Regexp()
	for _, uri := range []string{sourceURI("a/b c.md", 3, 0), sourceURI("a.js", 3, 2), sourceURI("ü/#?.txt", 0, 0), "resource://kb/a.md?offset=65536"} {
		if !re.MatchString(uri) {
			t.Errorf("%s does not match", uri)
		}
	}
}

// Pages of a large file, put together, are the file.
func TestReadInPages(t *testing.T) {
	var b strings.Builder
	for i := 0; b.Len() < 5*PageSize; i++ {
		fmt.Fprintf(&b, "line %d grüßt 🙂 und noch mehr\n", i)
	}
	k := open(t, Options{Dir: folder(t, map[string]string{"a b/ü#.txt": b.String()})})
	require.NoError(t, k.Reindex(t.Context()))
	var got strings.Builder
	uri := sourceURI("a b/ü#.txt", 0, 0)
	for pages := 0; uri != ""; pages++ {
		c, err := k.Read(t.Context(), uri)
		if err != nil || len(c.Text) > PageSize || pages > 6 {
			t.Fatalf("%s: %d bytes, %v", uri, len(c.Text), err)
		}
		got.WriteString(c.Text)
		uri, _ = c.Meta["next"].(string)
	}
	if got.String() != b.String() {
		t.Errorf("%d bytes came, %d are there", got.Len(), b.Len())
	}
}

// Each passage of an endless line has a source of its own.
func TestSourcesOfOneLine(t *testing.T) {
	k := open(t, Options{Dir: folder(t, map[string]string{"min.js": strings.Repeat("filler words ", 300) + "albatross " + strings.Repeat("more of them ", 300)})})
	require.NoError(t, k.Reindex(t.Context()))
	h := find(t, k, "albatross", SearchOptions{})[0]
	if c, err := k.Read(t.Context(), h.Source); err != nil || c.Text != h.Content || !strings.HasSuffix(h.Source, "?line=1&part=2") {
		t.Errorf("%s: %v, %d bytes", h.Source, err, len(c.Text))
	}
}

func folder(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		write(t, filepath.Join(dir, name), text)
	}
	return dir
}

func write(t *testing.T, name, text string) {
	t.Helper()
	require.NoError(t, os.MkdirAll(filepath.Dir(name), 0o755))
	require.NoError(t, os.WriteFile(name, []byte(text), 0o600))
}
