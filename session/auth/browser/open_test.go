//go:build linux || freebsd

package browser

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/mcphud/mcphud/session/base/failure"
	"github.com/mcphud/mcphud/session/test/require"
	"github.com/mcphud/mcphud/session/test/require/assert"
)

// program writes a program that notes its arguments, one a line.
func program(t *testing.T, then string) (path, noted string) {
	t.Helper()
	dir := t.TempDir()
	path, noted = filepath.Join(dir, "open"), filepath.Join(dir, "noted")
	script := "#!/bin/sh\nprintf '%s\\n' \"$@\" > '" + noted + ".part'\nmv '" + noted + ".part' '" + noted + "'\n" + then + "\n"
	require.NoError(t, os.WriteFile(path, []byte(script), 0o700))
	return path, noted
}

const odd = "https://login.example.com/a?x=$(id)&y=`id`;z=%20'\"|&state=s"

func TestOpenUsesNoShell(t *testing.T) {
	path, noted := program(t, "")
	for browser, want := range map[string]string{
		path:                           odd + "\n",
		path + " --new-window":         "--new-window\n" + odd + "\n",
		path + " --app=%s x":           "--app=" + odd + "\nx\n",
		"/nonexistent/one:" + path:     odd + "\n",
		":" + path + " a:" + path + "": "a\n" + odd + "\n",
	} {
		t.Setenv("BROWSER", browser)
		_ = os.Remove(noted)
		if err := Open(t.Context(), odd); err != nil {
			t.Errorf("%s: %v", browser, err)
		}
		if got, err := os.ReadFile(noted); err != nil || string(got) != want {
			t.Errorf("%s: %q, %v", browser, got, err)
		}
	}
}

func TestOpenSaysWhatFailed(t *testing.T) {
	path, noted := program(t, "exit 3")
	for browser, want := range map[string]string{path: "exit status 3", "/nonexistent/one": "/nonexistent/one", "no-such-program-here": "command not found"} {
		t.Setenv("BROWSER", browser)
		if err := Open(t.Context(), odd); failure.KindOf(err) != failure.SpawnFailed || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", browser, err)
		}
	}
	_ = os.Remove(noted)
	t.Setenv("BROWSER", path)
	for _, page := range []string{"javascript:alert(1)", "file:///etc/passwd", "-h", "", "data:text/html,x", "http:/x"} {
		if err := Open(t.Context(), page); failure.KindOf(err) != failure.OAuth {
			t.Errorf("%s: %v", page, err)
		}
	}
	if _, err := os.Stat(noted); err == nil {
		t.Error("something was opened")
	}
}

// A browser that lasts is left alone.
func TestOpenLeavesABrowserThatLasts(t *testing.T) {
	end := filepath.Join(t.TempDir(), "end")
	path, noted := program(t, "while ! test -e '"+end+"'; do sleep 0.05; done; rm '"+end+"'")
	t.Setenv("BROWSER", path)
	start := time.Now()
	if err := Open(t.Context(), odd); err != nil || time.Since(start) < settled {
		t.Errorf("after %v: %v", time.Since(start), err)
	}
	if _, err := os.Stat(noted); err != nil {
		t.Error(err)
	}
	require.NoError(t, os.WriteFile(end, nil, 0o600))
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(10 * time.Millisecond) { // then goleak sees that it is reaped
		if _, err := os.Stat(end); err != nil {
			return
		}
		if time.Now().After(deadline) {
			t.Fatal("the browser did not live")
		}
	}
}

func TestWhereNothingCanBeOpened(t *testing.T) {
	for _, name := range []string{"SSH_CONNECTION", "SSH_CLIENT", "SSH_TTY", "BROWSER", "DISPLAY", "WAYLAND_DISPLAY"} {
		t.Setenv(name, "")
	}
	assert.Contains(t, Unavailable(), "display")
	t.Setenv("BROWSER", "firefox")
	assert.Equalf(t, Unavailable(), "", "with BROWSER")
	t.Setenv("DISPLAY", ":0")
	t.Setenv("SSH_CONNECTION", "1 2 3 4")
	assert.Contains(t, Unavailable(), "SSH")
}
