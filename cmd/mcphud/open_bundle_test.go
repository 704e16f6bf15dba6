package main

import (
	"archive/zip"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mcphud/mcphud/cmd/cli"
	verbservers "github.com/mcphud/mcphud/cmd/verb/servers"
	"github.com/mcphud/mcphud/session/test/faketest"
	"github.com/mcphud/mcphud/session/test/faketest/behave"
	"github.com/mcphud/mcphud/session/test/registrytest"
	"github.com/mcphud/mcphud/session/test/require"
	"github.com/mcphud/mcphud/session/test/require/assert"
)

// bundled is a bundle with a server of ours: a script that starts it where it was given its secret.
func bundled(t *testing.T) []byte {
	t.Helper()
	fake := faketest.Stdio(t, behave.Good)
	manifest := `{"manifest_version":"0.3","name":"notes","display_name":"Notes\u001b]0;x\u0007","version":"1.2.3","description":"Keeps notes","author":{"name":"Ann"},
		"server":{"type":"binary","entry_point":"server/run","mcp_config":{"command":"server/run","args":["` + fake.Args[0] + `","${user_config.dirs}"],"env":{"NOTES_KEY":"${user_config.key}"}}},
		"user_config":{"key":{"type":"string","title":"Key","description":"k","sensitive":true,"required":true},
			"dirs":{"type":"directory","title":"Dirs","description":"d","multiple":true,"default":["${HOME}/a b","/c"]}}}`
	script := "#!/bin/sh\n[ \"$NOTES_KEY\" = " + secret + " ] && [ \"$3\" = /c ] && exec '" + fake.Command + "' \"$1\"\necho \"no key\" >&2\nexit 3\n"
	return bundleOf(t, manifest, script)
}

// bundleOf is a bundle with a program server/run.
func bundleOf(t *testing.T, manifest, run string) []byte {
	t.Helper()
	var out bytes.Buffer
	z := zip.NewWriter(&out)
	for _, f := range []struct {
		name, text string
		mode       fs.FileMode
	}{{"manifest.json", manifest, 0o644}, {"server/run", run, 0o755}} {
		h := &zip.FileHeader{Name: f.name, Method: zip.Deflate}
		h.SetMode(f.mode)
		w, err := z.CreateHeader(h)
		if err == nil {
			_, err = w.Write([]byte(f.text))
		}
		require.NoError(t, err)
	}
	require.NoError(t, z.Close())
	return out.Bytes()
}

// A bundle says what is in it and what it would run, asks for what it needs, and is a server like any other once it is saved.
func TestOpenBundle(t *testing.T) {
	b := bundled(t)
	dir := t.TempDir()
	t.Setenv("XDG_CACHE_HOME", filepath.Join(dir, "cache"))
	file := filepath.Join(dir, "notes.mcpb")
	require.NoError(t, os.WriteFile(file, b, 0o600))
	var list verbservers.BundleReport
	if o := mcphud(t, "open", file, "--list"); json.Unmarshal([]byte(o.ok(t)), &list) != nil || len(list.Entries) != 2 || list.Name != "notes" || len(list.Inputs) != 2 || list.SHA256 != sum(b) {
		t.Errorf("%s", o.out)
	}
	if o := mcphud(t, "open", file, "--list", "--format", "text"); !strings.Contains(o.ok(t), "server/run  ") || !strings.Contains(o.out, "{dirs}") ||
		!strings.Contains(o.out, "key  required; secret") || !strings.Contains(o.out, sum(b)) || strings.Contains(o.out, "\x1b") {
		t.Errorf("%q", o.out)
	}
	if left, _ := os.ReadDir(filepath.Join(dir, "cache")); len(left) > 0 {
		t.Errorf("listing left %v", left)
	}
	mcphud(t, "open", file, "--print").exits(t, cli.ExitNeedsInput, "key")
	set := []string{"--set", "key=" + secret}
	if o := mcphud(t, append([]string{"open", file, "--print", "--format", "text"}, set...)...); strings.Contains(o.ok(t), secret) || !strings.Contains(o.out, "/server/run") || !strings.Contains(o.out, `/a b" /c`) {
		t.Errorf("%s", o.out)
	}
	mcphud(t, append([]string{"open", file}, set...)...).exits(t, cli.ExitUnreachable, "not trusted yet")
	saved := filepath.Join(dir, "saved.json")
	if o := mcphud(t, append([]string{"open", file, "--save", saved}, set...)...); o.code != cli.ExitOK || strings.Contains(o.out, secret) {
		t.Fatalf("exit %d %s%s", o.code, o.out, o.stderr)
	}
	if o := mcphud(t, "tools", "list", "--config", saved, "--server", "notes"); !strings.Contains(o.ok(t), `"echo"`) {
		t.Error(o.out)
	}
	script := filepath.Join(dir, "cache", "mcphud", "bundles", sum(b), "bundle", "server", "run")
	require.NoError(t, os.WriteFile(script, []byte("#!/bin/sh\necho pwned\n"), 0o700))
	if o := mcphud(t, append([]string{"open", file, "--save", filepath.Join(dir, "again.json")}, set...)...); o.code == cli.ExitOK || !strings.Contains(o.stderr, "server/run is not what it was") {
		t.Errorf("exit %d %s", o.code, o.stderr)
	}
	write(t, filepath.Join(dir, "x.jsonl"), "")
	for want, args := range map[string][]string{
		"name a file that can be read":       {filepath.Join(dir, "gone.mcpb")},
		"a bundle has no packages":           {file, "--package", "1"},
		"--list does not apply":              {saved, "--list"},
		"is not among the inputs":            append([]string{file, "--set", "colour=red"}, set...),
		"does not apply to open":             {file, "--timeout", "3s"},
		"is not the description of a server": {filepath.Join(dir, "x.jsonl"), "--print"},
	} {
		if o := mcphud(t, append([]string{"open", "--format", "text"}, args...)...); o.code == cli.ExitOK || !strings.Contains(o.stderr, want) {
			t.Errorf("%v: exit %d %s", args, o.code, o.stderr)
		}
	}
}

func sum(b []byte) string {
	h := sha256.Sum256(b)
	return hex.EncodeToString(h[:])
}

// A bundle of a registry is downloaded once, and only opened if it is the one that was published.
func TestOpenBundleOfARegistry(t *testing.T) {
	b := bundled(t)
	dir := t.TempDir()
	t.Setenv("XDG_CACHE_HOME", filepath.Join(dir, "cache"))
	asked := 0
	files := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked++
		if r.URL.Path == "/moved.mcpb" {
			http.Redirect(w, r, "/notes.mcpb", http.StatusFound)
			return
		}
		_, _ = w.Write(b)
	}))
	t.Cleanup(files.Close)
	r := registrytest.Start(t)
	for name, digest := range map[string]string{"good": sum(b), "bad": sum([]byte("other"))} {
		r.Put(t, `{"name":"com.example/`+name+`","description":"d","version":"1.2.3","packages":[{"registryType":"mcpb","identifier":"`+files.URL+`/moved.mcpb","fileSha256":"`+digest+`","transport":{"type":"stdio"}}]}`)
	}
	t.Setenv("MCPHUD_REGISTRY", r.URL)
	saved := filepath.Join(dir, "saved.json")
	for range 2 {
		if o := mcphud(t, "open", "com.example/good", "--save", saved, "--set", "key="+secret); o.code != cli.ExitOK {
			t.Fatalf("exit %d %s", o.code, o.stderr)
		}
		_ = os.Remove(saved)
	}
	assert.Equalf(t, asked, 2, "requests for one download")
	if o := mcphud(t, "open", "com.example/good", "--list", "--format", "text"); !strings.Contains(o.ok(t), "server/run") {
		t.Error(o.out)
	}
	if o := mcphud(t, "open", "com.example/good", "--print"); o.code == cli.ExitOK || !strings.Contains(o.stderr, "not downloaded yet") {
		t.Errorf("exit %d %s", o.code, o.stderr)
	}
	o := mcphud(t, "open", "com.example/bad", "--save", saved, "--set", "key="+secret)
	if _, err := os.Stat(saved); err == nil || o.code != cli.ExitProtocol || !strings.Contains(o.stderr, "is not the one that was published") {
		t.Errorf("exit %d %s", o.code, o.stderr)
	}
	if left, _ := filepath.Glob(filepath.Join(dir, "cache", "mcphud", "bundles", "downloads", "*")); len(left) != 1 {
		t.Errorf("%q is left", left)
	}
}
