package sessions

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/mcphud/mcphud/cmd/cli"
	"github.com/mcphud/mcphud/cmd/cli/output"
	"github.com/mcphud/mcphud/session/base/failure"
	"github.com/mcphud/mcphud/session/base/text"
	"github.com/mcphud/mcphud/session/config"
	"github.com/mcphud/mcphud/session/serve/kept"
)

// Defaults of a session.
const (
	defaultIdle = 30 * time.Minute
	defaultWait = 10 * time.Minute
)

func (a *app) sessionCommand() *cobra.Command {
	var o opening
	open := &cobra.Command{
		Use: "open NAME [flags] [SERVER | URL | -- COMMAND ARGS…]", Annotations: cli.Rule("one"), Short: "Open a session and keep it",
		Long: "Starts the server, or connects to it, and keeps that one session for the commands to come: --session NAME, on every command that talks to a server, uses it. " +
			"What the server remembers, its login and what is subscribed to are there for the next command.\n\n" +
			"It ends by mcphud session close NAME, after --idle without a request, and with the terminal that it was opened in, where there is one. " +
			"Where the server's process ends, the session says so from then on, and starts no other one.\n\n" +
			"What a server asks while nobody is there to answer is kept for --park: the command that made the call ends with exit code 8 and an id, and mcphud answer ID goes on with that same call.",
		Example: "  mcphud session open shop -- node server.js\n  mcphud tools call add_to_cart item=tea --session shop\n  mcphud session close shop",
		Args:    cobra.ArbitraryArgs,
		RunE: a.Action(func(ctx context.Context, cmd *cobra.Command, args []string) error {
			return a.openSession(ctx, cmd, args, &o)
		}),
	}
	open.Flags().DurationVar(&o.idle, "idle", defaultIdle, "end it after this `TIME` without a request")
	open.Flags().DurationVar(&o.wait, "park", defaultWait, "keep a call whose question nobody answers for this `TIME`")
	open.Flags().BoolVar(&o.detached, "detached", false, "let it outlive the terminal")
	list := &cobra.Command{
		Use: "list", Annotations: cli.Rule("0"), Short: "List the open sessions", Args: cli.NoArgs,
		Long:    "Lists your open sessions: what each runs or contacts, since when, how long it was not used, and the calls that wait for an answer.",
		Example: "  mcphud session list\n  mcphud session list --format json | jq '.sessions[].waiting[]'",
		RunE:    a.Action(func(ctx context.Context, _ *cobra.Command, _ []string) error { return a.listSessions(ctx) }),
	}
	all := false
	end := &cobra.Command{
		Use: "close [NAME…]", Short: "End sessions, and their servers", Args: cobra.ArbitraryArgs, ValidArgsFunction: cli.CompleteSessions,
		Example: "  mcphud session close shop\n  mcphud session close --all",
		RunE: a.Action(func(ctx context.Context, _ *cobra.Command, args []string) error {
			return a.closeSessions(ctx, args, all)
		}),
	}
	end.Flags().BoolVar(&all, "all", false, "end all of them")
	keep := &cobra.Command{
		Use: "keep", Hidden: true, Short: "Keep a session; session open runs this", Args: cli.NoArgs,
		RunE: a.Action(func(ctx context.Context, _ *cobra.Command, _ []string) error { return a.keep(ctx) }),
	}
	return a.Group("session", "Keep a server for several commands", open, list, end, keep)
}

// listSessions prints the sessions there are.
func (a *app) listSessions(ctx context.Context) error {
	all := kept.List(ctx)
	raw, err := json.Marshal(map[string]any{"sessions": all})
	if err != nil {
		return err
	}
	p := a.Printer()
	return p.Print(output.Answer{Result: raw, Text: func(t *output.Text) {
		if len(all) == 0 {
			t.Note(p.Width, "No session is open. mcphud session open NAME -- COMMAND opens one.")
			return
		}
		rows := [][]string{{"NAME", "STATE", "OPEN", "UNUSED", "CALLS", "SERVER"}}
		for _, s := range all {
			rows = append(rows, []string{s.Name, s.State, age(s.Opened), age(s.Used), strconv.FormatInt(s.Calls, 10), s.Server})
		}
		t.Table(p.Width, rows)
		for _, s := range all {
			if s.Error != "" {
				t.Note(p.Width, s.Name+": "+s.Error)
			}
			for _, c := range s.Waiting {
				t.Note(p.Width, fmt.Sprintf("%s: %s waits until %s: %s answers", c.ID, strings.TrimSpace(c.Method+" "+c.Target), c.Until.Local().Format("15:04:05"), cli.AnswerTo(c)))
			}
		}
	}})
}

// age is how long ago something was, without what nobody reads.
func age(at time.Time) string { return max(time.Since(at), 0).Truncate(time.Second).String() }

// closeSessions ends sessions, all that it can, and reports the first that it could not end.
func (a *app) closeSessions(ctx context.Context, names []string, all bool) error {
	switch {
	case all && len(names) > 0:
		return failure.UsageError("--all and names do not go together", "leave one of them out")
	case all:
		names = kept.Names()
	case len(names) == 0:
		return failure.UsageError("no session was named", "mcphud session list has their names; --all ends all of them")
	}
	var first error
	closed := []string{}
	for _, name := range names {
		if err := kept.Close(ctx, name); err != nil {
			first = cmp.Or(first, cli.SessionError(name, err))
			continue
		}
		closed = append(closed, name)
	}
	if first != nil && len(closed) == 0 {
		return first
	}
	raw, err := json.Marshal(map[string]any{"closed": closed})
	if err != nil {
		return err
	}
	p := a.Printer()
	return cmp.Or(p.Print(output.Answer{Result: raw, Text: func(t *output.Text) {
		t.Note(p.Width, text.Count(len(closed), "session", "sessions")+" closed")
	}}), first)
}

// shown is a server in a line, with secrets masked.
func shown(s config.Server) string {
	m := s.Masked()
	if m.Command == "" {
		return m.URL
	}
	return strings.Join(append([]string{m.Command}, m.Args...), " ")
}
