package mcpb

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mcphud/mcphud/session/test/require"
)

const minimal = `{"manifest_version":"0.3","name":"notes","version":"1.2.3","description":"d","author":{"name":"Ann"},
	"server":{"type":"node","entry_point":"server/index.js","mcp_config":{"command":"node","args":["${__dirname}/server/index.js"]}}}`

// part is an entry to pack.
type part struct {
	name, text string
	mode       fs.FileMode
}

// pack makes a bundle; of a name there can be several.
func pack(t *testing.T, parts ...part) string {
	t.Helper()
	var out bytes.Buffer
	z := zip.NewWriter(&out)
	for _, p := range parts {
		h := &zip.FileHeader{Name: p.name, Method: zip.Deflate}
		if p.mode == 0 {
			p.mode = 0o644
		}
		h.SetMode(p.mode)
		w, err := z.CreateHeader(h)
		if err == nil && p.text != "" {
			_, err = io.WriteString(w, p.text)
		}
		require.NoError(t, err)
	}
	require.NoError(t, z.Close())
	return save(t, out.Bytes())
}

func save(t *testing.T, b []byte) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "notes.mcpb")
	require.NoError(t, os.WriteFile(file, b, 0o600))
	return file
}

func open(t *testing.T, path string) *Bundle {
	t.Helper()
	b, err := Open(path)
	require.NoError(t, err)
	t.Cleanup(func() { _ = b.Close() })
	return b
}

// good are the parts of a bundle that can be unpacked.
func good(manifest string) []part {
	return []part{
		{"manifest.json", manifest, 0}, {"server/", "", fs.ModeDir | 0o755}, {"server/index.js", "// it", 0}, {"server/run", "#!/bin/sh\n", 0o755},
	}
}

// What must not be unpacked is refused before anything is written.
func TestHostileBundles(t *testing.T) {
	with := func(more ...part) string { return pack(t, append(good(minimal), more...)...) }
	ok, err := os.ReadFile(with())
	require.NoError(t, err)
	edit := func(f func(b []byte) []byte) string { return save(t, f(bytes.Clone(ok))) }
	central := bytes.LastIndex(ok, []byte("PK\x01\x02")) // of the last entry
	end := bytes.LastIndex(ok, []byte("PK\x05\x06"))
	first := bytes.Index(ok, []byte("PK\x01\x02"))
	for want, file := range map[string]string{
		`"../up" has a path that leads elsewhere`:               with(part{"../up", "x", 0}),
		`"a/../../up" has a path`:                               with(part{"a/../../up", "x", 0}),
		`"./a" has a path`:                                      with(part{"./a", "x", 0}),
		`"a//b" has a path`:                                     with(part{"a//b", "x", 0}),
		`"a./b" has a path`:                                     with(part{"a./b", "x", 0}),
		`"/etc/x" has an absolute path`:                         with(part{"/etc/x", "x", 0}),
		`"C:/x" has a name with a backslash or a colon`:         with(part{"C:/x", "x", 0}),
		`"..\\up" has a name with a backslash`:                  with(part{`..\up`, "x", 0}),
		`"file:stream" has a name`:                              with(part{"file:stream", "x", 0}),
		`"a/nul.txt" has the name of a device`:                  with(part{"a/nul.txt", "x", 0}),
		`characters in its name that cannot be seen`:            with(part{"a\x1b]0;x\a", "x", 0}),
		`"evil\u202egpj.exe" has characters`:                    with(part{"evil\u202egpj.exe", "x", 0}),
		`has a name that is not UTF-8`:                          with(part{"a\xff", "x", 0}),
		`has a name of more than 1000 bytes`:                    with(part{strings.Repeat("a", 1001), "x", 0}),
		`is too deep`:                                           with(part{strings.Repeat("a/", 41) + "x", "x", 0}),
		`"link" is a link`:                                      with(part{"link", "/etc/passwd", fs.ModeSymlink | 0o777}),
		`"dev" is neither a file nor a folder`:                  with(part{"dev", "", fs.ModeDevice | 0o600}),
		`"pipe" is neither a file nor a folder`:                 with(part{"pipe", "", fs.ModeNamedPipe | 0o600}),
		`"server/index.js" and "server/index.js"`:               with(part{"server/index.js", "other", 0}),
		`"server/index.js" and "SERVER/Index.js" have the same`: with(part{"SERVER/Index.js", "other", 0}),
		`"server/index.js/x" is inside of "server/index.js"`:    with(part{"server/index.js/x", "x", 0}),
		`nothing real is packed so well`:                        with(part{"zeros", strings.Repeat("\x00", 80<<20), 0}),
		`is not a zip file`:                                     save(t, []byte("MZ and more")),
		`not a regular file`:                                    t.TempDir(),
		`has no manifest.json at its top`:                       pack(t, part{"x/manifest.json", minimal, 0}),
		`manifest.json has more than`:                           pack(t, part{"manifest.json", minimal + strings.Repeat(" ", 1<<20), 0}),
		`"server/run" is encrypted`:                             edit(func(b []byte) []byte { b[central+8] |= 1; return b }),
		`a method that is not known`:                            edit(func(b []byte) []byte { b[central+10] = 12; return b }),
		`would become more than`:                                edit(func(b []byte) []byte { binary.LittleEndian.PutUint32(b[central+24:], 1<<32-2); return b }),
		`is cut off`:                                            edit(func(b []byte) []byte { binary.LittleEndian.PutUint32(b[central+20:], 1<<31); return b }),
		`share their bytes`:                                     edit(func(b []byte) []byte { copy(b[central+42:central+46], b[first+42:first+46]); return b }),
		`has more than 65000 entries`:                           edit(func(b []byte) []byte { binary.LittleEndian.PutUint16(b[end+10:], 65535); return b }),
		`a list of them that is larger`:                         edit(func(b []byte) []byte { binary.LittleEndian.PutUint32(b[end+12:], 1<<31); return b }),
		`the end of a signature without its beginning`:          edit(func(b []byte) []byte { return append(b, signatureEnd...) }),
		`a signature of another length`:                         edit(func(b []byte) []byte { return append(b, signatureBegin+"\x09\x00\x00\x00sig"+signatureEnd...) }),
	} {
		b, err := Open(file)
		if err == nil {
			_ = b.Close()
			t.Errorf("opened, although %s", want)
		} else if !strings.Contains(err.Error(), want) {
			t.Errorf("%v lacks %s", err, want)
		}
	}
}

// A wrong manifest is refused with what is wrong.
func TestWrongManifests(t *testing.T) {
	for want, change := range map[string][2]string{
		"it has no manifest_version":      {`"manifest_version":"0.3",`, ``},
		`version "9.1" is not one`:        {`"0.3"`, `"9.1"`},
		"needs a name and a version":      {`"name":"notes"`, `"name":""`},
		`of the type "ruby"`:              {`"type":"node"`, `"type":"ruby"`},
		"uv, which version 0.3 does not":  {`"type":"node"`, `"type":"uv"`},
		"does not say what to start":      {`"command":"node"`, `"command":""`},
		`entry_point "../x" has a path`:   {`"server/index.js","mcp`, `"../x","mcp`},
		"duplicate":                       {`"name":"notes"`, `"name":"notes","name":"other"`},
		"manifest.json":                   {`{"manifest_version"`, `["manifest_version"`},
		"user_config.k is of no type":     {`"author"`, `"user_config":{"k":{"type":"secret"}},"author"`},
		"user_config.n is of no type":     {`"author"`, `"user_config":{"n":null},"author"`},
		"cannot be the name of a setting": {`"author"`, `"user_config":{"a}b":{"type":"string"}},"author"`},
	} {
		b, err := Open(pack(t, good(strings.Replace(minimal, change[0], change[1], 1))...))
		if err == nil {
			_ = b.Close()
			t.Errorf("read, although %s", want)
		} else if !strings.Contains(err.Error(), want) {
			t.Errorf("%v lacks %s", err, want)
		}
	}
}

// A bundle is unpacked once, for its owner alone, and looked at again before it is used.
func TestUnpack(t *testing.T) {
	path := pack(t, good(minimal)...)
	b, err := os.ReadFile(path)
	require.NoError(t, err)
	signed := save(t, append(b, signatureBegin+"\x03\x00\x00\x00sig"+signatureEnd...))
	if s := open(t, signed); s.Signature != len(signatureBegin)+4+3+len(signatureEnd) || len(s.Entries) != 4 {
		t.Errorf("%d bytes of signature, %d entries", s.Signature, len(s.Entries))
	}
	one := open(t, path)
	cache := filepath.Join(t.TempDir(), "bundles")
	dir, err := one.Unpack(cache)
	require.NoError(t, err)
	for name, mode := range map[string]fs.FileMode{"": 0o700, "server": 0o700, "server/index.js": 0o600, "server/run": 0o700} {
		info, err := os.Stat(filepath.Join(dir, name))
		if err != nil || info.Mode().Perm() != mode {
			t.Errorf("%s: %v, %v", name, info, err)
		}
	}
	if left, _ := filepath.Glob(filepath.Join(cache, ".unpack-*")); len(left) > 0 || !strings.Contains(dir, one.SHA256) {
		t.Errorf("%s, and %q is left", dir, left)
	}
	added := filepath.Join(dir, "server", "cache.pyc")
	script := filepath.Join(dir, "server", "index.js")
	for step, f := range []func() error{
		func() error { return os.WriteFile(added, []byte("x"), 0o600) },
		func() error { return os.WriteFile(script, []byte("// is"), 0o600) },
		func() error { return os.WriteFile(script, []byte("// it"), 0o600) },
		func() error { return os.Remove(script) },
		func() error { return os.Symlink(added, script) },
		func() error { return os.Chmod(filepath.Dir(dir), 0o755) },
	} {
		require.NoError(t, f())
		again, err := open(t, path).Unpack(cache)
		if good := step == 0 || step == 2; good && (err != nil || again != dir) || !good && (err == nil || !strings.Contains(err.Error(), "was changed")) {
			t.Errorf("step %d: %q, %v", step, again, err)
		}
	}
	broken := bytes.Clone(b)
	broken[bytes.LastIndex(broken, []byte("PK\x01\x02"))+16] ^= 1 // the checksum of the last entry
	other := filepath.Join(t.TempDir(), "bundles")
	if _, err := open(t, save(t, broken)).Unpack(other); err == nil || !strings.Contains(err.Error(), "cannot be unpacked") {
		t.Error(err)
	}
	if left, _ := os.ReadDir(other); len(left) > 0 {
		t.Errorf("%v is left", left)
	}
	edited := open(t, path)
	require.NoError(t, os.WriteFile(path, append(bytes.Clone(b), 0), 0o600))
	b2 := bytes.Clone(b)
	b2[len(b2)-1] ^= 0
	require.NoError(t, os.WriteFile(path, b2, 0o600))
	if _, err := edited.Unpack(filepath.Join(t.TempDir(), "bundles")); err != nil {
		t.Errorf("the same content again: %v", err)
	}
}
