package call

import (
	"bytes"
	"context"
	"errors"

	"github.com/spf13/cobra"

	"github.com/mcphud/mcphud/cmd/cli"
	"github.com/mcphud/mcphud/cmd/cli/output"
	"github.com/mcphud/mcphud/cmd/cli/runner"
	"github.com/mcphud/mcphud/session"
	"github.com/mcphud/mcphud/session/base/text"
	"github.com/mcphud/mcphud/session/offer/tasks"
	"github.com/mcphud/mcphud/session/traffic/calls"
	"github.com/mcphud/mcphud/session/wire/rpc"
	"github.com/mcphud/mcphud/tui/safe"
	"github.com/mcphud/mcphud/views/pages"
)

func (a *app) tasksCommand() *cobra.Command {
	list := &cobra.Command{
		Use: "list [flags] [SERVER | URL | -- COMMAND ARGS…]", Short: "List the server's tasks", Annotations: cli.Rule("none"),
		Long: "Lists the tasks that the server shows to this client, where it has such a list: 2025-11-25 has one, of this session or of whoever\n" +
			"the credentials belong to; 2026-07-28 has none.",
		Example: "  mcphud tasks list --url http://127.0.0.1:3000/mcp", Args: cobra.ArbitraryArgs, RunE: a.ServerCommand(tasksList),
	}
	get := &cobra.Command{
		Use: "get ID [flags] [SERVER | URL | -- COMMAND ARGS…]", Short: "Show how far a task is", Annotations: cli.Rule("one"),
		Example: "  mcphud tasks get 786512e2 --url http://127.0.0.1:3000/mcp", Args: cobra.ArbitraryArgs, RunE: a.ServerCommand(tasksGet),
	}
	result := &cobra.Command{
		Use: "result ID [flags] [SERVER | URL | -- COMMAND ARGS…]", Short: "Wait for a task's end and print its result", Annotations: cli.Rule("one"),
		Long:    "Waits until a task is over, and prints what its tool answered. An interrupt ends the waiting only: the task goes on.",
		Example: "  mcphud tasks result 786512e2 --max-timeout 1h --url http://127.0.0.1:3000/mcp", Args: cobra.ArbitraryArgs, RunE: a.ServerCommand(tasksResult),
	}
	cancel := &cobra.Command{
		Use: "cancel ID [flags] [SERVER | URL | -- COMMAND ARGS…]", Short: "Ask the server to cancel a task", Annotations: cli.Rule("one"),
		Example: "  mcphud tasks cancel 786512e2 --url http://127.0.0.1:3000/mcp", Args: cobra.ArbitraryArgs, RunE: a.ServerCommand(tasksCancel),
	}
	cli.RegisterName(get, result, cancel)
	return a.Group("tasks", "List, follow and cancel calls that run as tasks", list, get, result, cancel)
}

func tasksList(ctx context.Context, l *cli.Link, _ []string) error {
	raw, all, err := l.ListTasks(ctx)
	if err != nil {
		return err
	}
	return l.Print(output.Answer{Result: raw, Frames: l.Responses("tasks/list"), Text: func(t *output.Text) {
		t.Page(l.Out.Width, pages.Tasks(all, func(int) string { return "" }))
	}})
}

func tasksGet(ctx context.Context, l *cli.Link, args []string) error {
	r, err := l.GetTask(ctx, args[0])
	if err != nil {
		return err
	}
	t, _ := l.Task(args[0])
	return l.Print(cli.Reply(r, func(out *output.Text) { out.Page(l.Out.Width, pages.Task(t, l.Title())) }))
}

func tasksResult(ctx context.Context, l *cli.Link, args []string) error {
	r, err := l.TaskResult(ctx, args[0], session.CallOptions{OnProgress: l.Side.Report, OnTask: printTask(l.Side, l.Out.Format)})
	if err != nil {
		if ctx.Err() != nil {
			err = errors.Join(cli.ErrGoesOn, err)
		}
		return err
	}
	return runner.Print(l, calls.ToolsCall, "task "+text.Clip(args[0], 100), r)
}

func tasksCancel(ctx context.Context, l *cli.Link, args []string) error {
	r, err := l.CancelTask(ctx, args[0])
	if err != nil {
		return err
	}
	return l.Print(cli.Reply(r, func(t *output.Text) { t.Block("the server was asked to cancel the task") }))
}

// printTask reports the states of a task: in the jsonl format as the server described them, one line each, else on stderr.
func printTask(s *cli.Side, format string) func(tasks.Task) {
	var last tasks.Task
	return func(t tasks.Task) {
		s.Report(rpc.Progress{Progress: t.Progress.Done, Total: t.Progress.Total, HasTotal: t.Progress.HasTotal, Message: t.Summary()})
		s.Mu.Lock()
		defer s.Mu.Unlock()
		switch {
		case format == output.FormatJSONL:
			s.Drain()
			if s.Emit != nil && s.EmitErr == nil && !bytes.Equal(t.Raw, last.Raw) {
				s.EmitErr = s.Emit("", t.Raw)
			}
		case t.Status != last.Status:
			s.WriteLine("mcphud: task " + safe.Quote(t.ID) + ": " + string(t.Status))
		}
		last = t
	}
}
