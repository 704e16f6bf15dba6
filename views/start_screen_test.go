package views_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/mark3labs/mcp-go/server"

	"github.com/mcphud/mcphud/session"
	"github.com/mcphud/mcphud/session/config"
	"github.com/mcphud/mcphud/session/test/faketest"
	"github.com/mcphud/mcphud/session/test/faketest/behave"
	"github.com/mcphud/mcphud/session/test/require"
	"github.com/mcphud/mcphud/session/test/require/assert"
	"github.com/mcphud/mcphud/tui/tuitest"
)

// shellServer is a server that a script of the shell starts; "$0" in it is the good fake one.
func shellServer(t *testing.T, script string) config.Server {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("needs a POSIX shell")
	}
	good := faketest.Stdio(t, behave.Good)
	s := config.OfCommand("sh", append([]string{"-c", script, good.Command}, good.Args...)...)
	s.Name, s.Env = "slow", good.Env
	return s
}

// starting opens the tools screen at 80x24 while somebody else connects the server.
func starting(t *testing.T, s config.Server) *tuitest.App {
	t.Helper()
	app := start(t, tuitest.Target(s), tuitest.At("tools", nil), tuitest.NoConnect(), tuitest.SessionOptions(func(o *session.Options) { o.Patient = true }), tuitest.Size(80, 24))
	over := make(chan struct{})
	go func() {
		defer close(over)
		_ = app.Manager().Connect(context.Background(), s.Name) // the screen shows the outcome
	}()
	t.Cleanup(func() {
		_ = app.Manager().Disconnect(s.Name)
		<-over
	})
	return app
}

// TestAStartThatTakesLong: the screen goes on saying what the child says, at full width, until it answers.
func TestAStartThatTakesLong(t *testing.T) {
	t.Parallel()
	gate := filepath.Join(t.TempDir(), "gate")
	s := shellServer(t, `printf 'one\ntwo\nthree\nnpm warn exec \033[31mThe following package will be installed\n' >&2; until [ -e '`+gate+`' ]; do sleep 0.05; done; exec "$0" "$@"`)
	app := starting(t, s)
	shows(app, "list", "Starting slow…", "$ sh -c", "stderr │ two", "npm warn exec", "The following package will be installed", "press x to give up")
	app.Pane("list").HasNot("stderr │ one", "\x1b")
	if l := app.State().Layout; l.Panes[0].W != 80 || !l.Panes[1].Empty() {
		t.Errorf("the panes are %+v", l.Panes)
	}
	require.NoError(t, os.WriteFile(gate, nil, 0o600))
	state(app, session.Connected)
	shows(app, "list", "echo")
	app.Status().Has("Fake server, mode good")
	assert.Contains(t, app.Title(), "Fake server, mode good")
	app.Press("6").View("traffic").Press("/").Type("mode-good").Press("enter").Pane("list").Has("Nothing matches")
	app.Press("/", "ctrl+u").Type("mode good").Press("enter").Pane("list").Has("tools/list") // by the title, as by the name
}

// TestAStartIsGivenUp: x ends an attempt that somebody else began, quitting does not ask, and r starts again.
func TestAStartIsGivenUp(t *testing.T) {
	t.Parallel()
	s := shellServer(t, `echo installing >&2; while read -r line; do :; done`)
	app := starting(t, s)
	shows(app, "list", "Starting slow…", "stderr │ installing")
	app.Hints().Has("x give up").HasNot("cancel")
	app.Press("x")
	state(app, session.Disconnected)
	shows(app, "list", "slow is not connected", "Press r to connect")
	app.Hints().Has("r connect").HasNot("reload", "give up")
	app.Press("r")
	state(app, session.Connecting)
	app.Press("q")
	assert.NoError(t, app.Ended())
}

// TestAStartForWantOfAVariable: the screen shows the command, what stderr says, and E asks for the value and starts again.
func TestAStartForWantOfAVariable(t *testing.T) {
	t.Parallel()
	for view, pane := range map[string]string{"tools": "list", "servers": "detail"} {
		t.Run(view, func(t *testing.T) {
			t.Parallel()
			s := shellServer(t, `if [ "${#MY_TOKEN}" != 6 ]; then echo 'Error: MY_TOKEN environment variable is required' >&2; exit 1; fi; exec "$0" "$@"`)
			app := start(t, tuitest.Target(s), tuitest.At(view, nil), tuitest.SessionOptions(patient))
			state(app, session.Failed)
			app.Hints().Has("r start again").HasNot("reload", "reconnect")
			if view == "servers" {
				app.Whole().HasNot("1 for the servers")
			}
			shows(app, pane, "✗ slow: the variable MY_TOKEN is missing", "exited with status 1 before it answered", "sh -c", "stderr │ Error: MY_TOKEN environment variable is required", "e set MY_TOKEN and start again",
				"In the shell: mcphud -e MY_TOKEN=…")
			app.Status().Has("✗ the variable MY_TOKEN is missing")
			app.Press("e")
			assert.Equalf(t, app.State().Prompt, "MY_TOKEN: ", "the prompt")
			app.Press("enter").Type("wrong").Press("enter")
			state(app, session.Failed)
			app.Whole().Has("In the shell: mcphud -e MY_TOKEN=…").HasNot("-e 'MY_TOKEN=***'")
			app.Press("e").Type("sesame")
			assert.NotContains(t, app.Screen(), "sesame")
			app.Press("enter")
			state(app, session.Connected)
			app.View("tools")
			shows(app, "list", "echo")
		})
	}
}

// TestAChildThatFloodsStderrWhileStarting: neither empty lines nor one that does not end nor many keep keys from working.
func TestAChildThatFloodsStderrWhileStarting(t *testing.T) {
	t.Parallel()
	size := 20_000_000
	if racing {
		size /= 10
	}
	s := shellServer(t, fmt.Sprintf(`head -c 500000 /dev/zero | tr '\0' '\n' >&2; head -c %[1]d /dev/zero >&2; yes 'installing a package that nobody asked for' | head -c %[1]d >&2; exec "$0" "$@"`, size))
	app := starting(t, s)
	begin := time.Now()
	app.Press("1").View("servers").Press("2").View("tools")
	if took := time.Since(begin); took > 20*time.Second && !racing { // the race detector makes reading slow, which says nothing of keys
		t.Errorf("two keys took %v", took)
	}
	state(app, session.Connected)
	shows(app, "list", "echo")
}

// TestAHostileName: what a server calls itself is text wherever it is shown, and short.
func TestAHostileName(t *testing.T) {
	t.Parallel()
	cfg := config.Server{Name: "plain", Unnamed: true, Transport: config.Stdio, Command: "memory"}
	app := start(t, tuitest.Memory(cfg, server.NewMCPServer("evil\x1b]0;pwned\x07\x1b[31m\u202e"+strings.Repeat("x", 5000), "1", server.WithToolCapabilities(true))),
		tuitest.At("servers", nil), tuitest.SessionOptions(patient))
	state(app, session.Connected)
	app.Status().Has("evil")
	app.Press("2").View("tools").Press("6").View("traffic")
	for where, text := range map[string]string{"the output": string(app.Output()), "the title": app.Title(), "the screen": app.Screen()} {
		if strings.Contains(text, "\x1b]0;pwned") || strings.Contains(text, "\u202e") || strings.Contains(text, strings.Repeat("x", 70)) {
			t.Errorf("%s has the name as it came", where)
		}
	}
}
