package main

import (
	"bufio"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/mcphud/mcphud/session/test/require"
)

// Whoever starts a stack at a terminal learns that the router has a page, and where.
func TestUpNamesThePage(t *testing.T) {
	t.Parallel()
	cmd := command(t, "up", "--format", "text", "mcphud.stack.yaml")
	text := "agents: {one: {ephemeral: true}}\nrouter: {}\n"
	require.NoError(t, os.WriteFile(filepath.Join(cmd.Dir, "mcphud.stack.yaml"), []byte(text), 0o600))
	cmd.Env = append(cmd.Env, "TMPDIR="+cmd.Dir, "XDG_RUNTIME_DIR="+cmd.Dir)
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	said := ""
	for lines := bufio.NewScanner(out); !strings.Contains(said, "Press ctrl+c") && lines.Scan(); {
		said += lines.Text() + "\n"
	}
	if !regexp.MustCompile(`aggregate +http://\S+/mcp \(open it with mcphud URL\)`).MatchString(said) {
		t.Errorf("nothing says what opens the router's tools: %s", said)
	}
	page := regexp.MustCompile(`page +(http://\S+/) \(open it in a browser\)`).FindStringSubmatch(said)
	if page == nil {
		t.Errorf("no page in %s", said)
	} else if res, err := http.Get(page[1]); err != nil || !strings.HasPrefix(res.Header.Get("Content-Type"), "text/html") {
		t.Errorf("%s: %v %v", page[1], res, err)
	} else {
		_ = res.Body.Close()
	}
	http.DefaultClient.CloseIdleConnections()
	_ = cmd.Process.Signal(os.Interrupt)
	_, _ = io.Copy(io.Discard, out)
	_ = cmd.Wait()
}
