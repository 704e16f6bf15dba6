package main

import (
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/creack/pty"

	"github.com/mcphud/mcphud/cmd/cli"
	"github.com/mcphud/mcphud/session/test/faketest"
	"github.com/mcphud/mcphud/session/test/require"
)

// gone reports whether a process has ended; one that nobody waited for has.
func gone(pid int) bool {
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return true
	}
	_, after, _ := strings.Cut(string(stat), ") ")
	return strings.HasPrefix(after, "Z")
}

// A server that is killed is not replaced by one that knows nothing of what was done: who calls hears that it ended.
func TestSessionWhoseServerIsKilled(t *testing.T) {
	t.Parallel()
	k := newKeeping(t)
	st := k.open("shop", "demo")
	k.run("ps", "--format", "json").prints(t, cli.ExitOK, `"client":"session shop"`)
	require.NoError(t, syscall.Kill(st.Child, syscall.SIGKILL))
	require.Eventually(t, "noticed", func() bool { all := k.list(); return len(all) == 1 && all[0].State != "Connected" })
	for range 2 {
		k.run("tools", "call", "echo", "message=hi", "--session", "shop").exits(t, cli.ExitUnreachable, "the server's process ended", "mcphud session close shop")
	}
	k.run("session", "close", "shop").ok(t)
	if !gone(st.PID) {
		require.Eventually(t, "the keeper is gone", func() bool { return gone(st.PID) })
	}
	k.open("shop", "demo")
}

// Where the process is killed that keeps a session, the server's ends too, and the name is free.
func TestSessionWhoseKeeperIsKilled(t *testing.T) {
	t.Parallel()
	k := newKeeping(t)
	st := k.open("shop", "demo")
	require.NoError(t, syscall.Kill(st.PID, syscall.SIGKILL))
	require.Eventually(t, "the server is gone", func() bool { return gone(st.Child) })
	k.run("tools", "list", "--session", "shop").exits(t, cli.ExitUnreachable, "its process is gone", "mcphud session open shop")
	if all := k.list(); len(all) != 0 {
		t.Errorf("%+v", all)
	}
	if now := k.open("shop", "demo"); now.PID == st.PID || now.Child == st.Child {
		t.Errorf("%+v, after %+v", now, st)
	}
}

// A session that was opened on a terminal ends with that, unless it is detached.
func TestSessionEndsWithItsTerminal(t *testing.T) {
	t.Parallel()
	k := newKeeping(t)
	open := append([]string{"session", "open", "shop", "-e", asMain + "=1"}, ownAgent(t, "demo")...)
	kept := append([]string{"session", "open", "stays", "--detached", "-e", asMain + "=1"}, ownAgent(t, "demo")...)
	quoted := func(args []string) string { return `"$0" '` + strings.Join(args, `' '`) + `'` }
	shell := exec.Command("sh", "-c", quoted(open)+"\n"+quoted(kept)+"\nread x", testProgram(t))
	shell.Env = k.command().Env
	tty, err := pty.Start(shell)
	require.NoError(t, err)
	var read sync.WaitGroup
	var shown faketest.Buffer
	read.Go(func() { _, _ = io.Copy(&shown, tty) })
	require.Eventually(t, "both are open, and who opened them is gone", func() bool { return strings.Contains(shown.String(), "stays uses it") })
	all := k.list()
	if all[0].Name != "shop" || all[0].Terminal != shell.Process.Pid || all[1].Terminal != 0 {
		t.Errorf("%+v", all)
	}
	require.NoError(t, shell.Process.Kill())
	_ = shell.Wait() // killed
	_ = tty.Close()
	read.Wait()
	require.Eventually(t, "one is gone", func() bool { return len(k.list()) == 1 })
	require.Eventually(t, "its server is gone", func() bool { return gone(all[0].Child) })
	if left := k.list(); len(left) != 1 || left[0].Name != "stays" {
		t.Errorf("%+v", left)
	}
}

// A session whose server does not answer is listed meanwhile, takes no calls, and can be closed.
func TestSessionThatDoesNotConnect(t *testing.T) {
	t.Parallel()
	k := newKeeping(t)
	open := k.command("session", "open", "slow", "--", "sleep", "600")
	ended := make(chan outcome, 1)
	go func() { ended <- finish(t, open) }()
	require.Eventually(t, "it is listed", func() bool { all := k.list(); return len(all) == 1 && all[0].State == "Connecting" })
	k.run("tools", "list", "--session", "slow").exits(t, cli.ExitUnreachable, "not connected yet")
	k.run("session", "close", "slow").ok(t)
	if o := <-ended; o.code == cli.ExitOK || !strings.Contains(o.stderr, "closed before its server was ready") {
		t.Errorf("%+v", o)
	}
	if all := k.list(); len(all) != 0 {
		t.Errorf("%+v", all)
	}
}
