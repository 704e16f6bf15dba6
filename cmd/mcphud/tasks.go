package main

import (
	"bytes"
	"context"
	"errors"
	"time"

	"github.com/spf13/cobra"

	"github.com/mcphud/mcphud/session"
	"github.com/mcphud/mcphud/session/base/text"
	"github.com/mcphud/mcphud/session/offer/tasks"
	"github.com/mcphud/mcphud/session/wire/rpc"
	"github.com/mcphud/mcphud/tui/safe"
)

func (a *app) tasksCommand() *cobra.Command {
	list := &cobra.Command{
		Use: "list [flags] [SERVER | URL | -- COMMAND ARGS…]", Short: "List the server's tasks", Annotations: rule("none"),
		Long: "Lists the tasks that the server shows to this client, where it has such a list: 2025-11-25 has one, of this session or of whoever\n" +
			"the credentials belong to; 2026-07-28 has none.",
		Example: "  mcphud tasks list --url http://127.0.0.1:3000/mcp", Args: cobra.ArbitraryArgs, RunE: a.serverCommand(tasksList),
	}
	get := &cobra.Command{
		Use: "get ID [flags] [SERVER | URL | -- COMMAND ARGS…]", Short: "Show how far a task is", Annotations: rule("one"),
		Example: "  mcphud tasks get 786512e2 --url http://127.0.0.1:3000/mcp", Args: cobra.ArbitraryArgs, RunE: a.serverCommand(tasksGet),
	}
	result := &cobra.Command{
		Use: "result ID [flags] [SERVER | URL | -- COMMAND ARGS…]", Short: "Wait for a task's end and print its result", Annotations: rule("one"),
		Long:    "Waits until a task is over, and prints what its tool answered. An interrupt ends the waiting only: the task goes on.",
		Example: "  mcphud tasks result 786512e2 --max-timeout 1h --url http://127.0.0.1:3000/mcp", Args: cobra.ArbitraryArgs, RunE: a.serverCommand(tasksResult),
	}
	cancel := &cobra.Command{
		Use: "cancel ID [flags] [SERVER | URL | -- COMMAND ARGS…]", Short: "Ask the server to cancel a task", Annotations: rule("one"),
		Example: "  mcphud tasks cancel 786512e2 --url http://127.0.0.1:3000/mcp", Args: cobra.ArbitraryArgs, RunE: a.serverCommand(tasksCancel),
	}
	registerName(get, result, cancel)
	return a.group("tasks", "List, follow and cancel calls that run as tasks", list, get, result, cancel)
}

func tasksList(ctx context.Context, l *link, _ []string) error {
	raw, all, err := l.ListTasks(ctx)
	if err != nil {
		return err
	}
	return l.print(answer{result: raw, frames: l.responses("tasks/list"), text: func(t *textOutput) {
		if len(all) == 0 {
			t.block("none")
			return
		}
		rows := [][]string{}
		for _, is := range all {
			rows = append(rows, []string{is.ID, string(is.Status), taskAge(is), text.FirstLine(is.Message)})
		}
		t.table(l.out.width, dropEmptyColumn(rows, 2))
	}})
}

// taskAge is how long ago a task was made, by the server's clock and ours.
func taskAge(t tasks.Task) string {
	if t.Created.IsZero() {
		return ""
	}
	return text.Duration(max(time.Since(t.Created), 0)) + " ago"
}

func tasksGet(ctx context.Context, l *link, args []string) error {
	r, err := l.GetTask(ctx, args[0])
	if err != nil {
		return err
	}
	t, _ := l.Task(args[0])
	return l.print(reply(r, func(out *textOutput) {
		ttl, interval := "without a limit", "not said"
		if t.HasTTL {
			ttl = text.Duration(t.TTL)
		}
		if t.Interval > 0 {
			interval = text.Duration(t.Interval)
		}
		out.fields([2]string{"task", t.ID}, [2]string{"status", string(t.Status)}, [2]string{"message", t.Message}, [2]string{"created", taskAge(t)},
			[2]string{"time to live", ttl}, [2]string{"poll interval", interval})
	}))
}

func tasksResult(ctx context.Context, l *link, args []string) error {
	r, err := l.TaskResult(ctx, args[0], session.CallOptions{OnProgress: l.side.report, OnTask: l.side.task(l.out.format)})
	if err != nil {
		if ctx.Err() != nil {
			err = errors.Join(errGoesOn, err)
		}
		return err
	}
	return l.printCall("task "+text.Clip(args[0], 100), r)
}

func tasksCancel(ctx context.Context, l *link, args []string) error {
	r, err := l.CancelTask(ctx, args[0])
	if err != nil {
		return err
	}
	return l.print(reply(r, func(t *textOutput) { t.block("the server was asked to cancel the task") }))
}

// errGoesOn marks the error of who does not wait for a task any more.
var errGoesOn = errors.New("the task goes on at the server")

// task reports the states of a task: in the jsonl format as the server described them, one line each, else on stderr.
func (s *side) task(format string) func(tasks.Task) {
	var last tasks.Task
	return func(t tasks.Task) {
		s.report(rpc.Progress{Progress: t.Progress.Done, Total: t.Progress.Total, HasTotal: t.Progress.HasTotal, Message: t.Summary()})
		s.mu.Lock()
		defer s.mu.Unlock()
		switch {
		case format == formatJSONL:
			s.drain()
			if s.emit != nil && s.emitErr == nil && !bytes.Equal(t.Raw, last.Raw) {
				s.emitErr = s.emit("", t.Raw)
			}
		case t.Status != last.Status:
			s.write("mcphud: task " + safe.Quote(t.ID) + ": " + string(t.Status))
		}
		last = t
	}
}
