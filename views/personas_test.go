package views_test

import (
	"bufio"
	"context"
	"io"
	"strings"
	"testing"

	"github.com/mcphud/mcphud/session/base/jsonrpc"
	"github.com/mcphud/mcphud/session/config"
	"github.com/mcphud/mcphud/session/test/peertest"
	"github.com/mcphud/mcphud/session/test/require/assert"
	"github.com/mcphud/mcphud/session/wire/journal"
	"github.com/mcphud/mcphud/tui/tuitest"
	"github.com/mcphud/mcphud/views"
)

// choosy offers "ask" to clients with elicitation, "show" in two ways, and "plain" to those without.
func choosy(_ context.Context, in io.Reader, out io.Writer) error {
	lines := bufio.NewScanner(in)
	asked := false
	for lines.Scan() {
		env, err := jsonrpc.Scan(lines.Bytes())
		if err != nil {
			return err
		}
		reply := `"error":{"code":-32601,"message":"method not found"}`
		switch env.Method {
		case "initialize":
			asked = jsonrpc.Get(env.Params, "capabilities", "elicitation") != nil
			reply = `"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"choosy","version":"1"}}`
		case "tools/list":
			list := `{"name":"show","description":"for machines","inputSchema":{"type":"object"}},{"name":"plain","inputSchema":{"type":"object"}}`
			if asked {
				list = `{"name":"ask","inputSchema":{"type":"object"}},{"name":"show","description":"for people","inputSchema":{"type":"object"}}`
			}
			reply = `"result":{"tools":[` + list + `]}`
		}
		if len(env.ID) == 0 {
			continue
		}
		if _, err := io.WriteString(out, `{"jsonrpc":"2.0","id":`+string(env.ID)+`,`+reply+"}\n"); err != nil {
			return err
		}
	}
	return lines.Err()
}

// chooser is the server choosy.
func chooser() tuitest.Option {
	return tuitest.PeerAs(config.Server{Name: "choosy", Transport: config.Stdio, Command: "choosy", Args: []string{"--loud"}}, choosy)
}

func picker(t *testing.T, opts ...tuitest.Option) *tuitest.App {
	return tuitest.Start(t, append(opts, tuitest.Views(views.All(views.Deps{})...), chooser(), tuitest.At("servers", nil))...)
}

// hellos are the capabilities of each initialize that was sent.
func hellos(app *tuitest.App) (all []string) {
	for _, e := range wire(app, func(e journal.Entry) bool { return e.Kind == journal.Request && e.Method == "initialize" }) {
		body, err := app.Manager().Journal().Body(e.Seq)
		if err == nil {
			env, _ := jsonrpc.Scan(body)
			all = append(all, string(jsonrpc.Get(env.Params, "capabilities")))
		}
	}
	return all
}

func TestPersonaIsPresentedToTheServer(t *testing.T) {
	app := picker(t)
	app.Press(":persona").View("personas").Pane("list").Has("● mcphud", "○ cursor", "○ none")
	app.Press("down", "down", "down").Pane("detail").Has("cursor-vscode", "elicitation", "forum.cursor.com")
	app.Press("enter").Toast("connected, presented as cursor")
	app.Pane("list").Has("● cursor", "○ mcphud")
	app.Status().Has("as cursor-vscode")
	app.Press("q").View("servers").Press("y", "c").Toast("copied mcphud command")
	assert.Contains(t, app.Copied(1), "--as cursor")
	app.Pane("detail").Has("client", "cursor-vscode 1.0.0", "advertises", "elicitation")
	if got := hellos(app); len(got) != 2 || !strings.Contains(got[1], `"elicitation":{}`) {
		t.Errorf("initialize said %q", got)
	}
	app.Press(":disconnect").Press(":persona").View("personas").Pane("list").Selected("cursor")
	app.Press("g", "enter").Toast("presented as mcphud from the next connection on")
	if got := hellos(app); len(got) != 2 {
		t.Errorf("it was started: %q", got)
	}
}

func TestPersonaComparison(t *testing.T) {
	app := picker(t)
	app.Press(":persona").View("personas").Press("down", "enter").Toast("presented as claude-code").Press("q").View("servers")
	app.Press(":without").Overlay("Start a second process?").Has("choosy --loud", "a client without capabilities")
	app.Press("n").View("personas")
	if got := hellos(app); len(got) != 2 {
		t.Errorf("it was started without consent: %q", got)
	}
	app.Press("d").Overlay("Start a second process?").Press("y")
	app.Pane("detail").Has("≠ choosy offers something else to none", "tools        2", "− ask  not offered", "+ plain  only there", "~ show  differs", `-   "description": "for people"`, `+   "description": "for machines"`)
	if got := hellos(app); len(got) != 3 || got[2] != "{}" {
		t.Errorf("initialize said %q", got)
	}
	app.Status().Has("as Claude Code") // the connection is as it was
	app.Press("up", "up", "up", "up", "d").Overlay("Start a second process?").Press("y")
	app.Pane("detail").Has("✓ choosy offers the same to the client claude-code", "the same")
	app.Press("g").Pane("detail").Has("follows from who answers")
	app.Press("G").Pane("detail").Has("≠ choosy")
	app.Press("enter").Toast("presented as none").Pane("detail").Has("advertises").HasNot("≠ choosy") // it was compared with claude-code
}

func TestE2EPersonaComparison(t *testing.T) {
	app := open(t, peertest.EverythingHTTP(t).Server)
	app.Press("1").View("servers").Press(":persona").View("personas").Press("down", "down", "d")
	app.Pane("detail").Has("offers something else to vscode", "+ trigger-url-elicitation")
	intact(t, app)
}
