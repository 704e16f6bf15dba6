package main

import (
	"bytes"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/mcphud/mcphud/agentsrv"
	"github.com/mcphud/mcphud/cmd/cli"
	"github.com/mcphud/mcphud/session/base/jsonrpc"
	"github.com/mcphud/mcphud/session/test/peertest"
	"github.com/mcphud/mcphud/session/test/require"
	"github.com/mcphud/mcphud/session/test/require/assert"
)

var taskID = regexp.MustCompile(`task ([A-Z0-9.a-z_-]+): working`)

// TestTasks: a call runs as a task in either era and over either transport; its id is on stderr, what it asks is answered, and its result is the
// call's.
func TestTasks(t *testing.T) {
	t.Parallel()
	newAsker(t).each(t, func(t *testing.T, call func(...string) outcome) {
		o := call("slow_compute", "seconds=1.2", "label=x", "--task")
		if !strings.Contains(o.ok(t), `computed \"x\" in 1.2 s`) || !taskID.MatchString(o.stderr) {
			t.Errorf("%s%s", o.out, o.stderr)
		}
		if o = call("failing_job"); o.code != cli.ExitTool || !strings.Contains(o.out, `"isError":true`) || strings.Contains(o.stderr, "working") {
			t.Errorf("a tool that must run as a task: exit %d\n%s%s", o.code, o.out, o.stderr)
		}
		if o = call("confirm_delete", "filename=f", "--task", "--answer", `{"confirm":true}`); !strings.Contains(o.ok(t), "deleted f") {
			t.Errorf("%s%s", o.out, o.stderr)
		}
		if o = call("slow_compute", "seconds=600", "--task", "--max-timeout", "3s"); o.code != cli.ExitTimeout || !strings.Contains(o.stderr, "mcphud tasks result ") {
			t.Errorf("exit %d\n%s", o.code, o.stderr)
		}
	})
}

// TestTasksOfOtherCommands: get, result and cancel take the id that another command printed; a list has only 2025-11-25.
func TestTasksOfOtherCommands(t *testing.T) {
	t.Parallel()
	url := agent(t, agentsrv.Options{Profile: agentsrv.Everything})
	for _, era := range eras {
		run := func(words ...string) outcome {
			return mcphud(t, append([]string{words[0], words[1], "--format", "json", "--url", url, "--protocol", era}, words[2:]...)...)
		}
		start := func(seconds string) string {
			out := []byte(run("raw", "tools/call", `{"name":"slow_compute","arguments":{"seconds":`+seconds+`},"task":{}}`).ok(t))
			return jsonrpc.GetString(out, "taskId") + jsonrpc.GetString(out, "task", "taskId")
		}
		id := start("2")
		assert.Equalf(t, jsonrpc.GetString([]byte(run("tasks", "get", id).ok(t)), "status"), "working", "%s", era)
		if got := run("tasks", "result", id).ok(t); !strings.Contains(got, "in 2 s") {
			t.Errorf("%s: %s", era, got)
		}
		if got := run("tasks", "get", id, "--format", "text").ok(t); !strings.Contains(got, "completed") || !strings.Contains(got, "1h0m0s") {
			t.Errorf("%s: %s", era, got)
		}
		id = start("600")
		run("tasks", "cancel", id).ok(t)
		if o := run("tasks", "result", id); o.code == 0 || !strings.Contains(o.stderr, "the task was cancelled") || strings.Contains(o.stderr, "without an answer") {
			t.Errorf("%s: exit %d\n%s", era, o.code, o.stderr)
		}
		o := run("tasks", "get", "of-another-session")
		if e := o.errorLine(t); o.code != cli.ExitTool || e.Kind != "NotFound" || !strings.Contains(e.Message, "belongs to another session") || e.Cause == nil || *e.Cause != "Failed to retrieve task: Task not found" {
			t.Errorf("%s: exit %d\n%s", era, o.code, o.stderr)
		}
		o = run("tools", "call", "greet", "name=x", "--task")
		if legacy := era == eras[0]; legacy != (o.code == cli.ExitFailure) || !legacy && !strings.Contains(o.stderr, "made no task of the call") {
			t.Errorf("%s: exit %d\n%s", era, o.code, o.stderr)
		}
	}
	mcphud(t, "tasks", "list", "--url", url).exits(t, cli.ExitFailure, "no list of tasks in protocol version 2026-07-28")
	assert.Equal(t, mcphud(t, "tasks", "list", "--url", url, "--protocol", "2025-11-25", "--format", "json").ok(t), `{"tasks":[]}`+"\n")
}

// TestTaskInJSONLines: in the jsonl format each state of a task is a line, the result the last.
func TestTaskInJSONLines(t *testing.T) {
	long(t, "TestTasks")
	t.Parallel()
	url := agent(t, agentsrv.Options{Profile: agentsrv.Everything})
	for _, era := range eras {
		out := mcphud(t, "tools", "call", "slow_compute", "seconds=1.2", "--task", "--format", "jsonl", "--url", url, "--protocol", era).ok(t)
		lines := strings.Split(strings.TrimSpace(out), "\n")
		first := 0
		for first < len(lines)-1 && jsonrpc.GetString([]byte(lines[first]), "taskId") == "" {
			first++
		}
		if jsonrpc.GetString([]byte(lines[first]), "status") != "working" || !strings.Contains(lines[len(lines)-1], "computed") {
			t.Errorf("%s:\n%s", era, out)
		}
	}
}

// runningTask is a call that runs as a task, and the task.
func runningTask(t *testing.T, url, era string) (cmd *exec.Cmd, id string) {
	t.Helper()
	cmd = command(t, "tools", "call", "slow_compute", "seconds=600", "--task", "--max-timeout", "1h", "--format", "jsonl", "--url", url, "--protocol", era)
	pipe, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	for buf, line := make([]byte, 1), ""; id == ""; {
		if _, err := pipe.Read(buf); err != nil {
			t.Fatal(err)
		}
		if line += string(buf); strings.HasSuffix(line, "\n") {
			id, line = jsonrpc.GetString([]byte(strings.TrimSpace(line)), "taskId"), ""
		}
	}
	return cmd, id
}

// TestInterruptedTaskIsCancelled: who interrupts a call that runs as a task cancels the task.
func TestInterruptedTaskIsCancelled(t *testing.T) {
	t.Parallel()
	url := agent(t, agentsrv.Options{Profile: agentsrv.Everything})
	for _, era := range eras {
		cmd, id := runningTask(t, url, era)
		require.NoError(t, cmd.Process.Signal(os.Interrupt))
		if err := cmd.Wait(); err == nil || cmd.ProcessState.ExitCode() != cli.ExitInterrupted {
			t.Errorf("%s: %v", era, err)
		}
		status := ""
		for deadline := time.Now().Add(30 * time.Second); status != "cancelled" && time.Now().Before(deadline); {
			status = jsonrpc.GetString([]byte(mcphud(t, "tasks", "get", id, "--format", "json", "--url", url, "--protocol", era).ok(t)), "status")
		}
		assert.Equalf(t, status, "cancelled", "%s: the task", era)
	}
}

// Who only waited for a task's result ends nothing, and is told so.
func TestInterruptedWaitForATask(t *testing.T) {
	t.Parallel()
	url := agent(t, agentsrv.Options{Profile: agentsrv.Everything})
	for _, era := range eras {
		caller, id := runningTask(t, url, era)
		_ = caller.Process.Kill()
		_ = caller.Wait()
		cmd := command(t, "tasks", "result", id, "--format", "jsonl", "--max-timeout", "1h", "--url", url, "--protocol", era)
		pipe, err := cmd.StdoutPipe()
		require.NoError(t, err)
		var stderr bytes.Buffer
		cmd.Stderr = &stderr
		require.NoError(t, cmd.Start())
		if _, err := pipe.Read(make([]byte, 1)); err != nil { // a state: it waits now
			t.Fatal(err)
		}
		require.NoError(t, cmd.Process.Signal(os.Interrupt))
		if err := cmd.Wait(); err == nil || cmd.ProcessState.ExitCode() != cli.ExitInterrupted || !strings.Contains(stderr.String(), ": interrupted; the task goes on at the server") {
			t.Errorf("%s: %v %s", era, err, stderr.String())
		}
		if got := mcphud(t, "tasks", "get", id, "--format", "json", "--url", url, "--protocol", era).ok(t); jsonrpc.GetString([]byte(got), "status") != "working" {
			t.Errorf("%s: %s", era, got)
		}
	}
}

// TestPeerTasks: server-everything's research runs as a task by itself, and asks on the stream of tasks/result.
func TestPeerTasks(t *testing.T) {
	t.Parallel()
	call := []string{"tools", "call", "simulate-research-query", "topic=mcp", "ambiguous:=true", "--format", "json"}
	answer := []string{"--answer", `{"interpretation":"historical"}`}
	s := peertest.Everything(t)
	o := mcphud(t, target(s, append(call, answer...)...)...)
	o.prints(t, 0, "mcp (historical)")
	url := peertest.EverythingHTTP(t).Server.URL
	o = mcphud(t, append(append(call, answer...), "--task", "--url", url)...)
	if o.code != 0 || !strings.Contains(o.out, "mcp (historical)") || !strings.Contains(o.stderr, "input_required") {
		t.Errorf("over HTTP: exit %d, %s %s", o.code, o.out, o.stderr)
	}
	if o = mcphud(t, "tools", "call", "echo", "message=x", "--task", "--url", url); o.code != cli.ExitFailure || !strings.Contains(o.stderr, "cannot run as a task") {
		t.Errorf("exit %d, %s", o.code, o.stderr)
	}
}

// TestTasksOfAllAgents: a task of one agent is started, followed and cancelled at the endpoint of all agents, in either era.
func TestTasksOfAllAgents(t *testing.T) {
	t.Parallel()
	a := serveAgent(t, "--ephemeral", "--port", "0", "--profile", "everything")
	r := launch(t, routerCommand(t, `{"routes":{"one":{"url":"`+a.url+`"},"two":{"url":"`+a.url+`"}}}`, nil, "--port", "0"), routerReady)
	for _, era := range eras {
		t.Run(era, func(t *testing.T) {
			t.Parallel()
			run := func(words ...string) outcome {
				return mcphud(t, append([]string{words[0], words[1], "--format", "json", "--url", r.url + "/mcp", "--protocol", era}, words[2:]...)...)
			}
			o := run("tools", "call", "mcp__two__slow_compute", "seconds=1.2", "--task")
			if !strings.Contains(o.ok(t), "in 1.2 s") || !strings.Contains(o.stderr, "task two.") {
				t.Errorf("%s%s", o.out, o.stderr)
			}
			o = run("tools", "call", "mcp__one__confirm_delete", "filename=f", "--task", "--answer", `{"confirm":true}`)
			if !strings.Contains(o.ok(t), "deleted f") {
				t.Errorf("%s%s", o.out, o.stderr)
			}
			o = run("tools", "call", "mcp__one__failing_job")
			o.prints(t, cli.ExitTool, `"isError":true`)
			if o = run("tasks", "get", "two.of-another-session"); o.code != cli.ExitTool || !strings.Contains(o.stderr, "knows no such task") {
				t.Errorf("exit %d\n%s", o.code, o.stderr)
			}
		})
	}
}
