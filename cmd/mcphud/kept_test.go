package main

import (
	"context"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mcphud/mcphud/cmd/cli"
	"github.com/mcphud/mcphud/session/serve/kept"
	"github.com/mcphud/mcphud/session/test/require"
	"github.com/mcphud/mcphud/session/test/require/assert"
)

// keeping is a home in which sessions are kept. They are closed when the test ends.
type keeping struct {
	t    *testing.T
	home string
}

func newKeeping(t *testing.T) keeping {
	t.Helper()
	dir, err := os.MkdirTemp("", "kept") // a socket's path is short
	require.NoError(t, err)
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	k := keeping{t, dir}
	t.Cleanup(func() { k.run("session", "close", "--all") })
	return k
}

// command is a command in that home.
func (k keeping) command(args ...string) *exec.Cmd {
	k.t.Helper()
	cmd := command(k.t, args...)
	cmd.Env = append(cmd.Env, "HOME="+k.home, "XDG_CONFIG_HOME="+k.home+"/.config", "XDG_STATE_HOME="+k.home+"/.state", "MCPHUD_TAP_DIR="+k.home+"/s")
	return cmd
}

// run runs one to its end.
func (k keeping) run(args ...string) outcome {
	k.t.Helper()
	return finish(k.t, k.command(args...))
}

// open keeps a session of the bundled agent.
func (k keeping) open(name, profile string, flags ...string) kept.Status {
	k.t.Helper()
	var st kept.Status
	args := slices.Concat([]string{"session", "open", name, "-e", asMain + "=1"}, flags, ownAgent(k.t, profile))
	require.NoError(k.t, json.Unmarshal([]byte(k.run(args...).ok(k.t)), &st))
	return st
}

// list is what session list says.
func (k keeping) list() []kept.Status {
	k.t.Helper()
	var l struct{ Sessions []kept.Status }
	require.NoError(k.t, json.Unmarshal([]byte(k.run("session", "list").ok(k.t)), &l))
	return l.Sessions
}

// A session is one server for all commands: it remembers what earlier ones did, and ends when it is closed.
func TestSessionIsOneServerForAllCommands(t *testing.T) {
	t.Parallel()
	k := newKeeping(t)
	st := k.open("shop", "demo")
	for range 2 {
		k.run("tools", "call", "echo", "message=hi", "--session", "shop").prints(t, cli.ExitOK, `"text":"hi"`)
	}
	k.run("tools", "call", "reset_counter", "--session", "shop", "--yes").prints(t, cli.ExitOK, `"was":3`)
	k.run("tools", "list", "--session", "shop", "--format", "text").prints(t, cli.ExitOK, "execute_code")
	if all := k.list(); len(all) != 1 || all[0].Name != "shop" || all[0].PID != st.PID || all[0].Child != st.Child || all[0].Calls < 3 || all[0].State != "Connected" {
		t.Errorf("%+v", all)
	}
	k.run("session", "list", "--format", "text").prints(t, cli.ExitOK, "shop", "agent --stdio")
	fi, err := os.Stat(st.Socket)
	require.NoError(t, err)
	if fi.Mode().Perm()&0o077 != 0 {
		t.Errorf("others can open the socket: %v", fi.Mode())
	}
	web := http.Client{Transport: &http.Transport{DisableKeepAlives: true, DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "unix", st.Socket)
	}}}
	hello := `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"0"}}}`
	answer, err := web.Post("http://localhost/mcp", "application/json", strings.NewReader(hello))
	require.NoError(t, err)
	body, err := io.ReadAll(answer.Body)
	require.NoError(t, err)
	require.NoError(t, answer.Body.Close())
	if !strings.Contains(string(body), "cannot join it") { // a session of the legacy era is its client's alone
		t.Errorf("%s", body)
	}
	k.run("session", "close", "shop").prints(t, cli.ExitOK, `"closed":["shop"]`)
	k.run("tools", "list", "--session", "shop").exits(t, cli.ExitUnreachable, "no session of that name is open")
	if all := k.list(); len(all) != 0 {
		t.Errorf("%+v", all)
	}
}

// A call whose server asks ends with an id, and is answered later: it goes on as the same call, in either era.
func TestSessionKeepsACallThatWaits(t *testing.T) {
	t.Parallel()
	for _, era := range eras {
		t.Run(era, func(t *testing.T) {
			t.Parallel()
			k := newKeeping(t)
			k.open("ev", "everything", "--protocol", era)
			call := func(words ...string) outcome {
				return k.run(append([]string{"tools", "call", "--session", "ev"}, words...)...)
			}
			call("test_elicitation", "message=Who?").exits(t, cli.ExitNeedsInput, "mcphud answer ev-1 username=VALUE email=VALUE")
			if all := k.list(); len(all) != 1 || len(all[0].Waiting) != 1 || all[0].Waiting[0].Target != "test_elicitation" || !strings.Contains(string(all[0].Waiting[0].Asked), "Who?") {
				t.Errorf("%+v", all)
			}
			k.run("answer", "ev-1", "nope=1").exits(t, cli.ExitFailure, "nothing that waits asks for")
			k.run("answer", "ev-1", "username=Ann", "email=ann@example.com").prints(t, cli.ExitOK, `\"username\":\"Ann\"`)
			k.run("answer", "ev-1", "username=Ann").exits(t, cli.ExitTool, "no such call waits")
			call("test_elicitation", "message=Who?").exits(t, cli.ExitNeedsInput, "ev-2")
			k.run("answer", "ev-2", "--decline").prints(t, cli.ExitOK, "action=decline")
			call("test_sampling", "prompt=Name a colour").exits(t, cli.ExitNeedsInput, "mcphud answer ev-3 --json RESULT")
			k.run("answer", "ev-3").exits(t, cli.ExitNeedsInput, "ev-3")
			k.run("answer", "ev-3", "--json", colour).prints(t, cli.ExitOK, "blue")
			call("test_elicitation", "message=Who?", "--answer", `{"username":"Bo","email":"b"}`).prints(t, cli.ExitOK, `\"username\":\"Bo\"`)
			// A call that waits is no reason for others not to be asked, in any order.
			call("test_elicitation", "message=Who?").exits(t, cli.ExitNeedsInput, "ev-4")
			call("test_elicitation", "message=And who?").exits(t, cli.ExitNeedsInput, "ev-5")
			k.run("answer", "ev-5", "username=Eve", "email=e@example.com").prints(t, cli.ExitOK, `\"username\":\"Eve\"`)
			k.run("answer", "ev-4", "username=Cid", "email=c@example.com").prints(t, cli.ExitOK, `\"username\":\"Cid\"`)
			call("test_sampling", "prompt=Name a colour").exits(t, cli.ExitNeedsInput, "ev-6")
			k.run("answer", "ev-6", "colour=blue").exits(t, cli.ExitFailure, "give it by --json")
			if o := k.run("answer", "ev-6", "--decline"); o.code == cli.ExitOK {
				t.Errorf("%+v", o)
			}
			call("test_elicitation", "message=Who?").exits(t, cli.ExitNeedsInput, "ev-7")
			k.run("answer", "ev-7", "--decline").prints(t, cli.ExitOK, "action=decline")
			if all := k.list(); len(all) != 1 || len(all[0].Waiting) != 0 {
				t.Errorf("%+v", all)
			}
		})
	}
}

// A call that asks again waits under the id that it has.
func TestSessionGoesOnInRounds(t *testing.T) {
	t.Parallel()
	k := newKeeping(t)
	k.open("ev", "everything")
	k.run("tools", "call", "test_input_required_result_multi_round", "--session", "ev").exits(t, cli.ExitNeedsInput, "mcphud answer ev-1 name=VALUE")
	k.run("answer", "ev-1", "name=Ann").exits(t, cli.ExitNeedsInput, "mcphud answer ev-1 color=VALUE")
	k.run("answer", "ev-1", "color=blue").prints(t, cli.ExitOK, "Ann", "blue")
	k.run("prompts", "get", "test_input_required_result_prompt", "--session", "ev").exits(t, cli.ExitNeedsInput, "ev-2")
	k.run("answer", "ev-2", `--json`, `{"context":"a garden"}`).prints(t, cli.ExitOK, `"messages"`)
	k.run("answer", "ev").exits(t, cli.ExitTool, "no such call waits")
}

// What cannot be kept, and what is used wrongly, says so and leaves nothing behind.
func TestSessionRefuses(t *testing.T) {
	t.Parallel()
	k := newKeeping(t)
	own := ownAgent(t, "demo")
	open := func(words ...string) outcome { return k.run(append([]string{"session", "open"}, words...)...) }
	open(append([]string{"a b"}, own...)...).exits(t, cli.ExitFailure, "is not a name for a session")
	open("none", "--", k.home+"/none").exits(t, cli.ExitUnreachable, "not found")
	open("shop", "--idle", "1ms", "--", "true").exits(t, cli.ExitFailure, "at least 1s")
	k.run("session", "keep").exits(t, cli.ExitFailure, "session open")
	k.run("session", "close").exits(t, cli.ExitFailure, "no session was named")
	k.run("session", "close", "nobody").exits(t, cli.ExitUnreachable, "no session of that name is open")
	k.run("answer", "nobody-1").exits(t, cli.ExitUnreachable, "no session of that name is open")
	k.run("tools", "list", "--session", "nobody", "--url", "http://localhost:1/mcp").exits(t, cli.ExitFailure, "more than one server was named")
	k.open("shop", "demo")
	k.run("tools", "list", "--session", "shop", "--protocol", "2025-11-25").exits(t, cli.ExitFailure, "--protocol does not go with --session")
	k.run("session", "close", "shop").ok(t)
	if all := k.list(); len(all) != 0 {
		t.Errorf("%+v", all)
	}
	left, _ := os.ReadDir(k.home + "/s")
	if len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

// Of two that open one name at once one has it, and the other hears who does.
func TestTwoOpenOneName(t *testing.T) {
	t.Parallel()
	k := newKeeping(t)
	var both sync.WaitGroup
	var got [2]outcome
	for i := range got {
		both.Go(func() {
			got[i] = k.run(append([]string{"session", "open", "shop", "-e", asMain + "=1"}, ownAgent(t, "demo")...)...)
		})
	}
	both.Wait()
	first, second := got[0], got[1]
	if first.code != cli.ExitOK {
		first, second = second, first
	}
	assert.Equal(t, first.code, cli.ExitOK)
	second.exits(t, cli.ExitFailure, "a session of this name is open already")
	if all := k.list(); len(all) != 1 {
		t.Errorf("%+v", all)
	}
}

// A session that nobody uses ends by itself.
func TestSessionEndsUnused(t *testing.T) {
	t.Parallel()
	k := newKeeping(t)
	st := k.open("shop", "demo", "--idle", "1s")
	require.Eventually(t, "its socket is gone", func() bool { _, err := os.Stat(st.Socket); return os.IsNotExist(err) })
	if time.Since(st.Opened) < time.Second {
		t.Error("it ended early")
	}
}
