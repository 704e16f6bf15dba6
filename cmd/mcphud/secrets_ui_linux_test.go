package main

import (
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mcphud/mcphud/cmd/cli"
	"github.com/mcphud/mcphud/session/test/require"
)

// A call of the UI leaves no secret in what it keeps either: the history, values typed before, preferences, what was typed at the prompt.
// Nor is one in the arguments of a process, nor on stderr.
func TestTheUIKeepsNoSecret(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	arguments := map[string]string{"user": "ann-of-the-ui"}
	for name, v := range namedSecrets {
		arguments[name] = v
	}
	for what, v := range usualSecrets {
		arguments["note"] += what + " " + v + "\n"
	}
	typed, err := json.Marshal(arguments)
	require.NoError(t, err)
	s := startUIWith(t, []string{"HOME=" + home, "XDG_CONFIG_HOME=" + home + "/.config", "XDG_STATE_HOME=" + home + "/.state", cli.NoHistory + "="}, echoing(t), "--journal", filepath.Join(home, "j.jsonl"))
	s.shows("Logs in")
	s.types(t, "\r")
	s.shows("ctrl+r")
	s.types(t, "\x12")
	s.shows("raw JSON")
	s.types(t, "\x1b[200~"+string(typed)+"\x1b[201~")
	s.shows("ann-of-the-ui")
	s.types(t, "\x07")
	s.shows("welcome")
	s.types(t, "\t\t:tools api_key=a-key-of-nobody-1 "+usualSecrets["github"]+"\r")
	s.shows("api_key")
	s.types(t, "\x03")
	s.types(t, "\x03")
	if code := s.exit(); code != cli.ExitOK && code != cli.ExitInterrupted {
		t.Errorf("exit code %d", code)
	}
	after := s.end()
	looked := 0
	look := func(where, text string) {
		if strings.Contains(text, "ann-of-the-ui") {
			looked++
		}
		for what, v := range namedSecrets {
			if strings.Contains(text, v) {
				t.Errorf("%s has %s", where, what)
			}
		}
		for what, v := range usualSecrets {
			if strings.Contains(text, secretPart(v)) {
				t.Errorf("%s has %s", where, what)
			}
		}
	}
	look("what it says after its end", after)
	require.NoError(t, filepath.WalkDir(home, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := os.ReadFile(path)
		look(strings.TrimPrefix(path, home), string(b))
		return err
	}))
	if looked < 2 {
		t.Errorf("only %d files have the call", looked)
	}
}
