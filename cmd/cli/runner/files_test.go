package runner

import (
	"encoding/json"
	"io"
	"os"
	"strings"
	"testing"

	"github.com/mcphud/mcphud/cmd/cli"
	"github.com/mcphud/mcphud/cmd/cli/output"
	"github.com/mcphud/mcphud/session"
	"github.com/mcphud/mcphud/session/base/confine"
	"github.com/mcphud/mcphud/session/base/failure"
	"github.com/mcphud/mcphud/session/base/jsonrpc"
	"github.com/mcphud/mcphud/session/config"
	"github.com/mcphud/mcphud/session/test/require"
	"github.com/mcphud/mcphud/session/test/require/assert"
	"github.com/mcphud/mcphud/session/test/sessiontest"
	"github.com/mcphud/mcphud/session/traffic/calls"
)

// made is a call of the history at a server that was started by its command, in a folder.
func made(cwd string, change func(*calls.Server)) calls.File {
	s := calls.Server{Name: "node", Unnamed: true, Command: "node", Args: []string{"server.js"}, Cwd: cwd}
	if change != nil {
		change(&s)
	}
	return calls.File{Calls: []calls.Call{{Server: s, Method: calls.ToolsCall, Target: "echo"}}}
}

// Calls of the history with the same command go each to the server that they were made at: in its folder, in its sandbox, or to none.
func TestPrepareRunTellsServersOfTheHistoryApart(t *testing.T) {
	t.Parallel()
	target := func(otherwise func() (config.Server, error)) (config.Server, error) { return otherwise() }
	confined := func(s *calls.Server) { s.Sandbox = &confine.Rules{} }
	r, err := PrepareRun(t.Context(), &cli.App{}, []calls.File{made("/a", nil), made("/b", nil), made("/a", confined), made("/a", nil)}, target, nil, Flags{})
	require.NoError(t, err)
	for i, want := range []struct {
		cwd     string
		sandbox bool
	}{{"/a", false}, {"/b", false}, {"/a", true}, {"/a", false}} {
		if s := r.servers[i]; s.Cwd != want.cwd || (s.Sandbox != nil) != want.sandbox {
			t.Errorf("call %d goes to %q, sandbox %v", i, s.Cwd, s.Sandbox)
		}
	}
	partial := made("/a", func(s *calls.Server) { s.Partial = true })
	_, err = PrepareRun(t.Context(), &cli.App{}, []calls.File{made("/a", nil), partial}, target, nil, Flags{})
	if failure.KindOf(err) != failure.Usage || !strings.Contains(err.Error(), "not all kept") {
		t.Errorf("one of which not all is kept: %v", err)
	}
}

// A call that is made again after a login in the middle of it asks for no secret again.
func TestSingleKeepsItsSecrets(t *testing.T) {
	m, s := sessiontest.Open(t, session.Options{HealthInterval: -1, Dial: sessiontest.Dial(func(_ int, p *sessiontest.Peer) {
		p.Handshake(`{"prompts":{}}`)
		p.Serve(func(env jsonrpc.Envelope) { p.Answer(env, `{"messages":[]}`) })
	})}, config.Server{Name: "x"})
	out := &output.Printer{W: io.Discard}
	side := cli.NewSide(m.Journal(), nil, out, false)
	defer side.Stop()
	l := &cli.Link{Session: s, Side: side, Out: out}
	c := calls.Call{Method: calls.PromptsGet, Target: "p", Arguments: json.RawMessage(`{"key":"***"}`), Secrets: []string{"/arguments/key"}}
	r := &Run{}
	if err := r.single(t.Context(), l, &c); failure.KindOf(err) != failure.NeedsInput {
		t.Errorf("without the secret: %v", err)
	}
	t.Setenv("MCPHUD_SECRET_KEY", "k")
	assert.NoError(t, r.single(t.Context(), l, &c))
	require.NoError(t, os.Unsetenv("MCPHUD_SECRET_KEY"))
	if err := r.single(t.Context(), l, &c); err != nil {
		t.Errorf("again: %v", err)
	}
}
