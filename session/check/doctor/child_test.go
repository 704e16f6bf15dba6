package doctor_test

import (
	"context"
	"debug/elf"
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"github.com/mcphud/mcphud/session/base/failure"
	"github.com/mcphud/mcphud/session/check/doctor"
	"github.com/mcphud/mcphud/session/config"
	"github.com/mcphud/mcphud/session/test/faketest"
	"github.com/mcphud/mcphud/session/test/faketest/behave"
	"github.com/mcphud/mcphud/session/test/require"
	"github.com/mcphud/mcphud/session/test/require/assert"
	"github.com/mcphud/mcphud/session/wire/process"
)

func TestAHealthyChild(t *testing.T) {
	t.Parallel()
	for _, mode := range []behave.Mode{behave.Good, behave.Modern, behave.ExitDiscover} {
		s := faketest.Stdio(t, mode)
		r := diagnose(t, s)
		healthy(t, r)
		want(t, r, "spawn", doctor.OK, "started, process ", "argv: "+s.Command+" "+string(mode))
		want(t, r, "capabilities", doctor.OK, "tools/list: ", "prompts/list: ")
		want(t, r, "latency", doctor.OK, "5 round trips: min ")
		want(t, r, "shutdown", doctor.OK, "after the end of its input", "exited with status 0")
		want(t, r, "runtime", doctor.Skipped)
	}
}

func TestAChildThatEnds(t *testing.T) {
	t.Parallel()
	r := diagnose(t, faketest.Stdio(t, behave.ExitAtOnce))
	fails(t, r, "spawn", failure.SpawnFailed, "exited with status 3")
	want(t, r, "handshake", doctor.Skipped, "ended before it answered")
	want(t, r, "stderr", doctor.Failed, "/etc/fakemcp.conf does not exist", "fakemcp: giving up")
	want(t, r, "era", doctor.Skipped, "not connected")
	fails(t, diagnose(t, faketest.Stdio(t, behave.ExitInitialize)), "spawn", failure.SpawnFailed, "exited with status 4")
}

func TestWhatAChildWritesSaysWhy(t *testing.T) {
	t.Parallel()
	unix(t)
	s := script(t, "#!/bin/sh\necho \"started with token=hunter2\" >&2\necho \"Error: Cannot find module 'express'\" >&2\nexit 1\n")
	r := diagnose(t, s)
	want(t, r, "stderr", doctor.Failed, "started with token=***")
	fails(t, r, "spawn", failure.SpawnFailed, "exited with status 1", "the module express is missing")
	want(t, r, "stderr", doctor.Failed, "the module express is missing", "install it where the server is")
}

func TestOnlyWhatIsNotSetIsMissing(t *testing.T) {
	t.Parallel()
	unix(t)
	s := script(t, "#!/bin/sh\necho 'Please set SLACK_BOT_TOKEN and SLACK_TEAM_ID environment variables' >&2\nexit 1\n")
	s.Env = map[string]string{"SLACK_BOT_TOKEN": "xoxb-1", "SLACK_TEAM_ID": ""}
	r := diagnose(t, s)
	fails(t, r, "spawn", failure.SpawnFailed, "the variable SLACK_TEAM_ID is missing")
	want(t, r, "stderr", doctor.Failed, "the variable SLACK_TEAM_ID is missing")
	assert.NotContains(t, said(r), "SLACK_BOT_TOKEN is missing")
}

func TestAPaintedReason(t *testing.T) {
	t.Parallel()
	unix(t)
	r := diagnose(t, script(t, "#!/bin/sh\nprintf '\\033[31m\\033[0m\\n\\033[1mError:\\033[0m the licence ended\\n' >&2\nexit 1\n"))
	want(t, r, "stderr", doctor.Failed, "Error: the licence ended")
	assert.NotContains(t, said(r), "\x1b")
}

// A server that ended on what came after its first answer did not end before it answered.
func TestAChildThatEndsAfterAnAnswer(t *testing.T) {
	t.Parallel()
	unix(t)
	r := diagnose(t, script(t, "#!/bin/sh\nread one\necho '{\"jsonrpc\":\"2.0\",\"id\":1,\"error\":{\"code\":-32601,\"message\":\"no\"}}'\nread two\necho 'Error: no database' >&2\nexit 1\n"))
	fails(t, r, "spawn", failure.SpawnFailed, "exited with status 1 after it answered server/discover")
	want(t, r, "handshake", doctor.Skipped, "ended after it answered server/discover")
	assert.NotContains(t, said(r), "before it answered")
}

// A server that ends on the first list has failed, whatever cannot be asked any more, for the reason that it wrote.
func TestAChildThatEndsOnItsFirstList(t *testing.T) {
	t.Parallel()
	unix(t)
	r := diagnose(t, script(t, "#!/bin/sh\nread a; echo '{\"jsonrpc\":\"2.0\",\"id\":1,\"error\":{\"code\":-32601,\"message\":\"no\"}}'\n"+
		"read b; echo '{\"jsonrpc\":\"2.0\",\"id\":2,\"result\":{\"protocolVersion\":\"2025-06-18\",\"serverInfo\":{\"name\":\"x\",\"version\":\"1\"},\"capabilities\":{\"tools\":{},\"resources\":{}}}}'\n"+
		"read c; read d; echo 'Error: connect ECONNREFUSED 127.0.0.1:3306' >&2; exit 1\n"))
	fails(t, r, "capabilities", failure.ChannelClosed, "the list could not be read: tools/list: nothing listens at 127.0.0.1:3306", "start what the server connects to")
	assert.NotContains(t, said(r), "resources/list is declared")
}

// answering is a server that lists tools, and does something else when it is asked for what it does not declare.
func answering(t *testing.T, undeclared string, args ...string) config.Server {
	t.Helper()
	s := script(t, "#!/bin/sh\nwhile read -r line; do\n"+
		"id=$(echo \"$line\" | sed -n 's/.*\"id\":\\([0-9]*\\).*/\\1/p')\n"+
		"case $line in\n"+
		"*'\"initialize\"'*) echo '{\"jsonrpc\":\"2.0\",\"id\":'$id',\"result\":{\"protocolVersion\":\"2025-06-18\",\"serverInfo\":{\"name\":\"x\",\"version\":\"1\"},\"capabilities\":{\"tools\":{}}}}' ;;\n"+
		"*'\"tools/list\"'*) echo '{\"jsonrpc\":\"2.0\",\"id\":'$id',\"result\":{\"tools\":[]}}' ;;\n"+
		"*'\"resources/list\"'*) "+undeclared+" ;;\n"+
		"*) [ -z \"$id\" ] || echo '{\"jsonrpc\":\"2.0\",\"id\":'$id',\"error\":{\"code\":-32601,\"message\":\"no\"}}' ;;\nesac\ndone\n")
	s.Args = args
	return s
}

// A server that ends on a method that it does not declare is asked for nothing more.
func TestAChildThatEndsOnAnUndeclaredList(t *testing.T) {
	t.Parallel()
	unix(t)
	r := diagnose(t, answering(t, "exit 1"))
	want(t, r, "capabilities", doctor.Warning, "resources/list is not declared, and the server ended instead of refusing it")
	assert.NotContains(t, said(r), "prompts/list is not declared")
}

// Whoever ends the diagnosis is why there is no answer.
func TestCancellingAnUndeclaredList(t *testing.T) {
	t.Parallel()
	unix(t)
	ctx, cancel := cancelled(t)
	asked := filepath.Join(t.TempDir(), "asked")
	go func() {
		for ctx.Err() == nil {
			if _, err := os.Stat(asked); err == nil {
				cancel()
			}
			time.Sleep(5 * time.Millisecond)
		}
	}()
	r := doctor.Run(ctx, doctor.Target{Server: answering(t, `: > "$1"`, asked)}, doctor.Options{Timeout: 2 * time.Minute}, nil)
	want(t, r, "capabilities", doctor.Skipped, "the diagnosis ended before resources/list was answered")
}

// A message without a line end is said to be one: no client sees it.
func TestAMessageWithoutALineEnd(t *testing.T) {
	t.Parallel()
	unix(t)
	s := script(t, "#!/bin/sh\nread one\nprintf '{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}'\nexec sleep 60\n")
	s.ConnectTimeout = 2 * time.Second
	r := diagnose(t, s)
	fails(t, r, "handshake", failure.Timeout, "it wrote a message without a line end", "end each message with a line feed")
	want(t, r, "stdout", doctor.Failed, "a message without a line end", "end each message with a line feed", `\"jsonrpc\"`)
	assert.NotContains(t, said(r), "not JSON-RPC")
	// Text without a line end is not a message that lacks one.
	s = script(t, "#!/bin/sh\nread one\nprintf 'listening'\nexec sleep 60\n")
	s.ConnectTimeout = 2 * time.Second
	want(t, diagnose(t, s), "stdout", doctor.Failed, "1 lines that are not JSON-RPC")
}

func TestASilentChild(t *testing.T) {
	t.Parallel()
	s := faketest.Stdio(t, behave.NoAnswer)
	s.ConnectTimeout = 4 * time.Second // initialize follows after the silence that server/discover is given
	r := diagnose(t, s)
	fails(t, r, "handshake", failure.Timeout, "no answer to initialize within 4s", "server/discover, protocol version 2026-07-28: not answered", "initialize, protocol version 2025-11-25: not answered")
	want(t, r, "stdout", doctor.OK, "nothing was written")
}

func TestNoiseOnStandardOutput(t *testing.T) {
	t.Parallel()
	r := diagnose(t, faketest.Stdio(t, behave.Noise))
	want(t, r, "stdout", doctor.Warning, "lines that are not JSON-RPC", "before the handshake: ", "after the handshake: ", "standard error")
	if r.Err() != nil || r.Status() != doctor.Warning {
		t.Error(said(r))
	}
}

func TestNothingButNoise(t *testing.T) {
	t.Parallel()
	unix(t)
	s := script(t, "#!/bin/sh\necho Server is running\nexec sleep 60\n")
	s.ConnectTimeout = 4 * time.Second
	r := diagnose(t, s)
	fails(t, r, "handshake", failure.Timeout)
	want(t, r, "stdout", doctor.Failed, "1 lines that are not JSON-RPC: 1 before", `"Server is running"`)
}

func TestDeclaredAndNotImplemented(t *testing.T) {
	t.Parallel()
	r := diagnose(t, faketest.Stdio(t, behave.Liar))
	want(t, r, "capabilities", doctor.Warning, "resources/list is declared, and not implemented", "prompts/list is declared, and not implemented", "the other lists work")
	if r.Err() != nil {
		t.Error(said(r))
	}
	want(t, r, "rules", doctor.Warning, "warning: capability-empty: ")
	want(t, diagnose(t, faketest.Stdio(t, behave.Bare)), "capabilities", doctor.Warning, "tools/list is answered, and tools is not declared")
}

// That the other lists work is said only where one did.
func TestNoListIsImplemented(t *testing.T) {
	t.Parallel()
	unix(t)
	r := diagnose(t, script(t, "#!/bin/sh\nwhile read -r line; do\n"+
		"id=$(echo \"$line\" | sed -n 's/.*\"id\":\\([0-9]*\\).*/\\1/p')\n"+
		"case $line in\n"+
		"*'\"initialize\"'*) echo '{\"jsonrpc\":\"2.0\",\"id\":'$id',\"result\":{\"protocolVersion\":\"2025-06-18\",\"serverInfo\":{\"name\":\"x\",\"version\":\"1\"},\"capabilities\":{\"resources\":{},\"prompts\":{}}}}' ;;\n"+
		"*) [ -z \"$id\" ] || echo '{\"jsonrpc\":\"2.0\",\"id\":'$id',\"error\":{\"code\":-32601,\"message\":\"no\"}}' ;;\nesac\ndone\n"))
	want(t, r, "capabilities", doctor.Warning, "resources/list is declared, and not implemented", "prompts/list is declared, and not implemented")
	assert.NotContains(t, said(r), "the other lists work")
}

// What stands behind a server may be down: a list that could not be read breaks none of the rules.
func TestListsThatCannotBeRead(t *testing.T) {
	t.Parallel()
	r := diagnose(t, faketest.Stdio(t, behave.ListError))
	fails(t, r, "capabilities", failure.Protocol, "the list could not be read: tools/list: ", "the list could not be read: prompts/list: ", "start what the server needs")
}

func TestToolsThatAreBroken(t *testing.T) {
	t.Parallel()
	want(t, diagnose(t, faketest.Stdio(t, behave.Malformed)), "schemas", doctor.Warning, "correct the")
}

func TestChildrenThatStay(t *testing.T) {
	t.Parallel()
	unix(t)
	r := diagnose(t, faketest.Stdio(t, behave.IgnoreTerm))
	want(t, r, "shutdown", doctor.Warning, "did not exit within 5s", "KILL ended it", "exit when its standard input ends")
	if runtime.GOOS == "linux" {
		want(t, diagnose(t, faketest.Stdio(t, behave.Fork)), "shutdown", doctor.Warning, "left a process behind")
	}
}

func TestProgramsThatCannotRun(t *testing.T) {
	t.Parallel()
	unix(t)
	r := diagnose(t, config.OfCommand("mcphud-no-such-program", "x"))
	fails(t, r, "program", failure.SpawnFailed, `command "mcphud-no-such-program" not found`, "not in ", "extend PATH")
	want(t, r, "spawn", doctor.Skipped, "no program to start")

	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "mcp-server-tiny"), []byte("#!/bin/sh\n"), 0o700))
	typo := config.OfCommand("mcp-server-tniy")
	typo.Env = map[string]string{"PATH": dir}
	fails(t, diagnose(t, typo), "program", failure.SpawnFailed, "did you mean mcp-server-tiny?")

	one := config.OfCommand("sh -c true")
	fails(t, diagnose(t, one), "program", failure.SpawnFailed, "write the program alone as the command")

	fails(t, diagnose(t, script(t, "#!/bin/sh\r\nexit\r\n")), "program", failure.SpawnFailed, "ends in CR LF", "LF line ends")
	fails(t, diagnose(t, script(t, "#!/no/such/python3\n")), "program", failure.SpawnFailed, "the interpreter /no/such/python3")

	plain := script(t, "#!/bin/sh\n")
	require.NoError(t, os.Chmod(plain.Command, 0o600))
	if os.Geteuid() != 0 || runtime.GOOS == "linux" { // LookPath wants a bit that says so, of root as well
		fails(t, diagnose(t, plain), "program", failure.SpawnFailed, "make the file executable")
	}

	gone := config.OfCommand("sh", filepath.Join(dir, "server.js"))
	r = diagnose(t, gone)
	want(t, r, "program", doctor.Warning, "an argument names a file that does not exist", "server.js")
	fails(t, r, "spawn", failure.SpawnFailed)
}

func TestAProgramForAnotherProcessor(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("programs of other systems look different")
	}
	b, err := os.ReadFile("/proc/self/exe")
	require.NoError(t, err)
	binary.LittleEndian.PutUint16(b[18:], uint16(elf.EM_RISCV)) // e_machine, of both classes
	fails(t, diagnose(t, script(t, string(b))), "program", failure.SpawnFailed, "for another processor (EM_RISCV", "the build for this machine")
}

func TestVersionsOfRuntimes(t *testing.T) {
	t.Parallel()
	unix(t)
	dir := t.TempDir()
	for name, text := range map[string]string{
		"node": "#!/bin/sh\n[ \"$1\" = --version ] && echo v18.19.1 && exit\nexec " + faketest.Binary(t) + " good\n",
		"npx":  "#!/bin/sh\n[ \"$1\" = --version ] && echo 10.2.4 && exit\nexec " + faketest.Binary(t) + " good\n",
		"uvx":  "#!/bin/sh\n[ \"$1\" = --version ] && exec /bin/sleep 60\nexec " + faketest.Binary(t) + " good\n",
	} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o700))
	}
	require.NoError(t, os.WriteFile(filepath.Join(dir, "package.json"), []byte(`{"engines":{"node":">=20 <23"}}`), 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "server.js"), nil, 0o600))
	of := func(command string, args ...string) config.Server {
		s := config.OfCommand(command, args...)
		s.Env = map[string]string{"PATH": dir}
		return s
	}
	want(t, diagnose(t, of("npx", "-y", "x")), "runtime", doctor.OK, "npx 10.2.4", "node 18.19.1")
	want(t, diagnose(t, of("node", filepath.Join(dir, "server.js"))), "runtime", doctor.Warning, "node 18.19.1 is not what the server wants: >=20 <23", "wanted by ")
	want(t, diagnose(t, of("uvx", "x")), "runtime", doctor.Warning, "no answer within 5s")
}

func TestCancelling(t *testing.T) {
	t.Parallel()
	ctx, cancel := cancelled(t)
	defer cancel()
	pid := 0
	r := doctor.Run(ctx, doctor.Target{Server: faketest.Stdio(t, behave.NoAnswer)}, doctor.Options{}, func(s doctor.Step) {
		if s.ID == "spawn" && s.Status == doctor.OK {
			_, _ = fmt.Sscanf(s.Evidence[0], "started, process %d", &pid)
		}
		if s.ID == "handshake" && s.Status == doctor.Running {
			cancel()
		}
	})
	if !r.Cancelled || r.Err() != nil {
		t.Error(said(r))
	}
	want(t, r, "latency", doctor.Skipped, "cancelled")
	if pid == 0 || process.Alive(pid) {
		t.Errorf("the child %d is still there", pid)
	}
	ctx, cancel = context.WithCancel(t.Context())
	cancel()
	if r := doctor.Run(ctx, doctor.Target{Server: config.OfCommand("true")}, doctor.Options{}, nil); !r.Cancelled || r.First(doctor.OK) != nil {
		t.Error(said(r))
	}
}

func TestTheWholeIsBounded(t *testing.T) {
	t.Parallel()
	start := time.Now()
	r := diagnose(t, faketest.Stdio(t, behave.NoAnswer), func(o *doctor.Options) { o.Timeout = 5 * time.Second })
	fails(t, r, "handshake", failure.Timeout)
	if took := time.Since(start); took > 60*time.Second {
		t.Errorf("it took %v", took)
	}
}

func TestSecretsAreMasked(t *testing.T) {
	t.Parallel()
	unix(t)
	home := t.TempDir()
	s := script(t, "#!/bin/sh\necho \"bad key $API_KEY in $1\" >&2\necho \"$API_KEY\"\n"+
		"printf '%0392d%s\\n' 0 \"$API_KEY\" >&2\nprintf '%0150d%s\\n' 0 \"$API_KEY\"\nexit 1\n") // where what is shown ends
	s.Env = map[string]string{"API_KEY": "abcdef-123456"}
	s.Args = []string{filepath.Join(home, "data"), "--token", "hunter2hunter2"}
	r := diagnose(t, s, func(o *doctor.Options) { o.Home = home })
	raw, err := r.MarshalJSON()
	require.NoError(t, err)
	for _, secret := range []string{"abcdef", "hunter2hunter2", home} {
		assert.NotContains(t, string(raw), secret)
	}
	for _, shown := range []string{"~/data", `"mcphud":"devel"`, `"go":"go`, `"system":"` + runtime.GOOS} {
		assert.Contains(t, string(raw), shown)
	}
}

func unix(t *testing.T) {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("it needs a shell")
	}
}
