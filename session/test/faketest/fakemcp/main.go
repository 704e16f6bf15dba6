// Command fakemcp is the misbehaving MCP server of package behave over stdio.
//
//	fakemcp [mode]
//
// An unknown mode prints the known ones.
package main

import (
	"encoding/json"
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/mcphud/mcphud/session/test/faketest/behave"
)

// outlive is how long what ignores signals lives unless it is killed.
const outlive = 10 * time.Minute

// forked is the argument that makes this program that child.
const forked = "forked-child"

func main() {
	mode := behave.Good
	if len(os.Args) > 1 {
		mode = behave.Mode(os.Args[1])
	}
	if mode == forked {
		time.Sleep(outlive)
		return
	}
	if !slices.Contains(behave.Modes(), mode) {
		fmt.Fprintf(os.Stderr, "fakemcp: no mode %q; the modes are %v\n", mode, behave.Modes())
		os.Exit(64)
	}
	p := behave.Process{In: os.Stdin, Out: os.Stdout, Err: os.Stderr, Exit: os.Exit, Fork: pids, Reach: reach}
	switch mode {
	case behave.Fork:
		p.Fork = fork
	case behave.IgnoreTerm:
		signal.Ignore(syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP)
		behave.Stdio(mode, p)
		time.Sleep(outlive) // only SIGKILL ends it sooner
	}
	os.Exit(behave.Stdio(mode, p))
}

// reach reads a file, writes one, and opens a connection, and says how each went.
func reach(arguments []byte) string {
	var want struct{ Read, Write, Dial string }
	if err := json.Unmarshal(arguments, &want); err != nil {
		return err.Error()
	}
	var said []string
	say := func(what string, err error) {
		how := "allowed"
		if err != nil {
			how = err.Error()
		}
		said = append(said, what+": "+how)
	}
	if want.Read != "" {
		_, err := os.ReadFile(want.Read)
		say("read", err)
	}
	if want.Write != "" {
		say("write", os.WriteFile(want.Write, []byte("written"), 0o600))
	}
	if want.Dial != "" {
		c, err := net.Dial("tcp", want.Dial)
		if err == nil {
			_ = c.Close()
		}
		say("dial", err)
	}
	return strings.Join(said, "\n")
}

// pids is the process ids without a child.
func pids() string { return fmt.Sprintf(`{"server":%d}`, os.Getpid()) }

// fork starts a child that stays in our process group and holds our stdout and stderr open.
func fork() string {
	exe, err := os.Executable()
	if err != nil {
		fmt.Fprintln(os.Stderr, "fakemcp:", err)
		os.Exit(1)
	}
	child := exec.Command(exe, forked)
	child.Stdout, child.Stderr = os.Stdout, os.Stderr
	if err := child.Start(); err != nil {
		fmt.Fprintln(os.Stderr, "fakemcp:", err)
		os.Exit(1)
	}
	return fmt.Sprintf(`{"server":%d,"child":%d}`, os.Getpid(), child.Process.Pid)
}
