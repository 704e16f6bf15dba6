package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/mcphud/mcphud/session/config"
	"github.com/mcphud/mcphud/session/test/faketest"
	"github.com/mcphud/mcphud/session/test/faketest/behave"
	"github.com/mcphud/mcphud/session/test/require"
)

// markedEntry is an entry of a server that leaves a file when it is started.
func markedEntry(t *testing.T, name string, mode behave.Mode) (entry, mark string) {
	t.Helper()
	mark = filepath.Join(t.TempDir(), name)
	script := fmt.Sprintf("touch '%s'; exec '%s' %s", mark, faketest.Binary(t), mode)
	return fmt.Sprintf("  %s: {command: sh, args: [-c, %q]}\n", name, script), mark
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// With auto_discover: true in a file that the user names, its servers are connected when the UI starts; a broken one keeps
// none from it. Without it, or with false, nothing starts.
func TestS11_S15_AutoDiscoverConnectsAtStart(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		Setting string
		starts  bool
	}{{"auto_discover: true\n", true}, {"auto_discover: false\n", false}, {"", false}} {
		good, goodMark := markedEntry(t, "good", behave.Good)
		broken, brokenMark := markedEntry(t, "broken", behave.ExitAtOnce)
		file := filepath.Join(t.TempDir(), "mcp.yaml")
		require.NoError(t, os.WriteFile(file, []byte(c.Setting+"servers:\n"+broken+good), 0o600))
		s := startUI(t, "--config", file)
		s.shows("good")
		if c.starts {
			require.Eventually(t, "both servers to be started", func() bool { return exists(goodMark) && exists(brokenMark) })
			s.shows("Connected")
		} else {
			time.Sleep(300 * time.Millisecond) // what would be started would be by now
			if exists(goodMark) || exists(brokenMark) {
				t.Errorf("%q starts servers", c.Setting)
			}
		}
		if _, err := s.f.WriteString("q"); err != nil {
			t.Fatal(err)
		}
		if code := s.exit(); code != 0 {
			t.Errorf("%q: exit %d", c.Setting, code)
		}
	}
}

// A file connects its own servers and no others, a file of the working folder only those that are trusted, and none more
// than the pool takes.
func TestS11_AutoDiscoverKeepsToTrustedServersOfItsFile(t *testing.T) {
	yes := true
	mine, foreign := config.Source{File: "/home/me/mcphud.yaml"}, config.Source{File: "/p/mcp.yaml", Project: true}
	set := config.Set{
		Settings: config.Settings{AutoDiscover: &yes, Given: map[string][]config.Given{"auto_discover": {{File: mine.File}}}},
		Servers: []config.Server{
			{Name: "a", Source: mine},
			{Name: "off", Source: mine, Disabled: true},
			{Name: "wrong", Source: mine, Problem: os.ErrInvalid},
			{Name: "foreign", Source: foreign},
			{Name: "other", Source: config.Source{File: "/home/me/.claude.json"}},
			{Name: "twice", Source: config.Source{File: "/home/me/.claude.json"}, Also: []config.Source{mine}},
		},
	}
	trust := config.OpenTrust(t.TempDir())
	expect := func(want string) {
		t.Helper()
		if got := strings.Join(autoDiscover(set, trust), " "); got != want {
			t.Errorf("connects %q, want %q", got, want)
		}
	}
	expect("a twice")
	set.Settings.Pool.MaxConnections = 1
	expect("a")
	set.Settings.Given["auto_discover"][0].File = foreign.File
	expect("")
	require.NoError(t, trust.Trust(set.Servers[3]))
	expect("foreign")
	set.Settings.AutoDiscover = nil
	expect("")
}
