//go:build amd64 || arm64

package confine

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/mcphud/mcphud/session/test/require"
)

// A program has its runtime and its package, and never the home folder or what all programs of a user share.
func TestX5b_WhatAProgramConsistsOf(t *testing.T) {
	home := t.TempDir()
	at := func(path string) string { return filepath.Join(home, filepath.FromSlash(path)) }
	put := func(path, text string) {
		t.Helper()
		require.NoError(t, os.MkdirAll(filepath.Dir(at(path)), 0o700))
		require.NoError(t, os.WriteFile(at(path), []byte(text), 0o700))
	}
	put("package.json", "{}") // the home folder is not a package
	put("lib/x", "")
	put("bin/mine", "")
	put(".local/bin/tool", "")
	put(".local/lib/x", "")
	put(".nvm/v22/bin/node", "")
	put(".nvm/v22/lib/node_modules/npm/bin/npx-cli.js", "#!/usr/bin/env node\n")
	require.NoError(t, os.Symlink("../lib/node_modules/npm/bin/npx-cli.js", at(".nvm/v22/bin/npx")))
	put("work/server/package.json", "{}")
	put("work/server/dist/index.js", "")
	put("work/app/node_modules/pkg/index.js", "")
	put("loose.py", "")
	put("notes.txt", "")
	env := []string{"PATH=" + at(".nvm/v22/bin")}
	for _, c := range []struct {
		path       string
		args       []string
		has, never []string
	}{
		{"bin/mine", nil, []string{"bin/mine"}, []string{"", "bin", "lib"}},
		{".local/bin/tool", nil, []string{".local/bin/tool"}, []string{".local", ".local/lib"}},
		{".nvm/v22/bin/node", []string{"--flag", "work/server/dist/index.js", "notes.txt"}, []string{".nvm/v22", "work/server"}, []string{"", "work", "notes.txt", ".nvm"}},
		{".nvm/v22/bin/npx", []string{"-y", "pkg"}, []string{".nvm/v22", ".nvm/v22/lib/node_modules"}, []string{"", ".nvm"}},
		{".nvm/v22/bin/node", []string{"work/app/node_modules/pkg/index.js"}, []string{"work/app/node_modules"}, []string{"work/app", "work"}},
		{".nvm/v22/bin/node", []string{"loose.py", "work/server/dist/index.js"}, []string{"loose.py"}, []string{"", "work/server"}},
	} {
		got := needs(Program{Path: at(c.path), Args: c.args, Env: env}, home, home)
		for _, p := range c.has {
			if !slices.Contains(got, at(p)) {
				t.Errorf("%s %v: no %s in %v", c.path, c.args, p, got)
			}
		}
		for _, p := range c.never {
			if slices.Contains(got, at(p)) {
				t.Errorf("%s %v: %s is in %v", c.path, c.args, p, got)
			}
		}
	}
}
