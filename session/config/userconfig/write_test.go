package userconfig

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mcphud/mcphud/session/test/require"
	"github.com/mcphud/mcphud/session/test/require/assert"
)

// Each kind of value is written in the way in which it is read, and all else of the file stays as it was.
func TestWrite(t *testing.T) {
	const before = "# mine\ntheme: light # for the day\n\nlayout: {split: 30} # narrow\nkeys:\n  # as in vim\n  app.zoom: [z, f11]\n"
	for _, c := range []struct {
		key, texts, want string // texts: "-" for none
		from             string
	}{
		{"theme", "dark", "# mine\ntheme: dark # for the day", before},
		{"theme", "-", "# mine\n\nlayout", before},
		{"layout.split", "40", "layout: {split: 40} # narrow", before},
		{"layout.wrap", "false", "layout: {split: 30, wrap: false} # narrow", before},
		{"keys.app.zoom", "f11", "  # as in vim\n  app.zoom: [f11]\n", before},
		{"keys.app.theme", "", "  app.zoom: [z, f11]\n  app.theme: []\n", before},
		{"history.size", "5MB", "history:\n  size: 5MB\n", before},
		{"editor", "code --wait", "\neditor: \"code --wait\"\n", before},
		{"redaction.names", "X-*|pin", "redaction:\n  names: [\"X-*\", pin]\n", before},
		{"mouse", "false", "# only remarks\nmouse: false\n", "# only remarks\n"},
		{"theme", "dark", header + "theme: dark\n", ""},
	} {
		path := filepath.Join(t.TempDir(), "new", FileName)
		if c.from != "" {
			require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
			require.NoError(t, os.WriteFile(path, []byte(c.from), 0o600))
		}
		var texts []string
		if c.texts != "-" {
			texts = strings.FieldsFunc(c.texts, func(r rune) bool { return r == '|' })
		}
		require.NoError(t, Write(t.Context(), path, c.key, texts))
		b, err := os.ReadFile(path)
		require.NoError(t, err)
		assert.Contains(t, string(b), c.want)
		info, err := os.Stat(path)
		require.NoError(t, err)
		assert.Equal(t, info.Mode().Perm(), os.FileMode(0o600))
		if c.from == before {
			assert.Contains(t, string(b), "# mine\n", "# narrow", "# as in vim")
		}
	}
}

// What cannot be written leaves the file as it was.
func TestWriteRefused(t *testing.T) {
	for _, c := range []struct{ from, key, text, want string }{
		{"theme: [", "theme", "dark", "config.yaml:1"},
		{"theme: light\ntheme: dark\n", "theme", "dark", "theme"},
		{"theme: light\n", "layout.split", "95", "layout.split cannot be 95"},
		{"layout: wide\n", "layout.split", "30", "layout"},
		{"- a\n", "theme", "dark", "theme"},
	} {
		path := filepath.Join(t.TempDir(), FileName)
		require.NoError(t, os.WriteFile(path, []byte(c.from), 0o600))
		err := Write(t.Context(), path, c.key, []string{c.text})
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q: %v, want %q", c.from, err, c.want)
		}
		b, err := os.ReadFile(path)
		require.NoError(t, err)
		assert.Equal(t, string(b), c.from)
	}
}
