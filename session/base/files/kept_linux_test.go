package files

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/mcphud/mcphud/session/test/require"
	"github.com/mcphud/mcphud/session/test/require/assert"
)

// Extended attributes stay, lists of access rights among them, and with them the mode.
func TestRewriteKeepsAttributes(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	writeMode(t, file, "old", 0o640)
	const name, value = "user.mcphud.kept", "by hand"
	if err := unix.Setxattr(file, name, []byte(value), 0); errors.Is(err, unix.ENOTSUP) {
		t.Skip("no extended attributes here: ", err)
	} else if err != nil {
		t.Fatal(err)
	}
	require.NoError(t, unix.Setxattr(file, "user.mcphud.empty", nil, 0))
	// user::rw- user:12345:r-- group::r-- mask::r-- other::---
	list := "\x02\x00\x00\x00" + "\x01\x00\x06\x00\xff\xff\xff\xff" + "\x02\x00\x04\x00\x39\x30\x00\x00" + "\x04\x00\x04\x00\xff\xff\xff\xff" + "\x10\x00\x04\x00\xff\xff\xff\xff" + "\x20\x00\x00\x00\xff\xff\xff\xff"
	listed := unix.Setxattr(file, accessList, []byte(list), 0) == nil
	lost, err := Rewrite(file, []byte("old"), []byte("new"))
	if err != nil || len(lost) > 0 || content(t, file) != "new" {
		t.Fatalf("%v %v", lost, err)
	}
	has := func(name string) string {
		b := make([]byte, 200)
		n, err := unix.Getxattr(file, name, b)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			return ""
		}
		return string(b[:n])
	}
	assert.Equal(t, has(name)+has("user.mcphud.empty"), value)
	if listed && has(accessList) != list {
		t.Errorf("%q, want %q", has(accessList), list)
	}
	if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o640 {
		t.Errorf("%v %v", info.Mode(), err)
	}
}

// What cannot be kept is said: another name of the file keeps the old text.
func TestRewriteSaysWhatIsLost(t *testing.T) {
	dir := t.TempDir()
	file, other := filepath.Join(dir, "file"), filepath.Join(dir, "other")
	writeMode(t, file, "old", 0o600)
	assert.Equalf(t, Apart(file), "", "of a file with one name")
	if err := os.Link(file, other); err != nil {
		t.Skip("no hard links here: ", err)
	}
	require.NoError(t, os.Symlink("file", filepath.Join(dir, "link")))
	before := Apart(filepath.Join(dir, "link"))
	lost, err := Rewrite(file, []byte("old"), []byte("new"))
	if err != nil || len(lost) != 1 || lost[0] != before || !strings.Contains(before, file+" is one of 2 names of a file (hard links)") {
		t.Errorf("%q, before %q, %v", lost, before, err)
	}
	if a, b := content(t, file), content(t, other); a != "new" || b != "old" {
		t.Errorf("%s, %s", a, b)
	}
}
