package call

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mcphud/mcphud/cmd/cli"
	"github.com/mcphud/mcphud/cmd/cli/output"
	"github.com/mcphud/mcphud/cmd/cli/runner"
	"github.com/mcphud/mcphud/session/base/failure"
	"github.com/mcphud/mcphud/session/base/text"
	"github.com/mcphud/mcphud/session/traffic/calls"
	"github.com/mcphud/mcphud/session/traffic/compare"
	"github.com/mcphud/mcphud/views/pages"
)

func (a *app) historyCommand() *cobra.Command {
	list := &cobra.Command{
		Use: "list [WORD…]", Short: "List calls, the newest first", Annotations: cli.Rule("any"),
		Long: "Lists the calls that were made in the UI and by commands, the newest first: of all servers, or of those with the name that --server gives. " +
			"Each WORD has to be in the call.\n\n" + keptSentence(),
		Example: "  mcphud history list\n  mcphud history list --server github search --limit 5\n  mcphud history list --kept --format json",
		Args:    cobra.ArbitraryArgs,
	}
	q := calls.Query{}
	list.Flags().IntVar(&q.Limit, "limit", 50, "print at most `N` calls; 0 for all")
	list.Flags().BoolVar(&q.Pinned, "kept", false, "only those that are pinned or have a name")
	list.RunE = a.WithHistory(func(ctx context.Context, h *calls.History, words []string) error {
		q.Server, q.Search = a.Options.Server, strings.Join(words, " ")
		return a.historyList(ctx, h, q)
	})
	show := &cobra.Command{
		Use: "show CALL", Short: "Show a call with its arguments and its result", Annotations: cli.Rule("one"),
		Long:    "Shows a call. CALL is its number, its name, or last.",
		Example: "  mcphud history show last\n  mcphud history show 12 --format json",
		RunE:    a.WithHistory(a.historyShow),
	}
	diff := &cobra.Command{
		Use: "diff CALL [CALL]", Short: "Compare the result of a call with that of another, or of the run before", Annotations: cli.Rule("1-2"),
		Example: "  mcphud history diff last\n  mcphud history diff 12 15 --format json",
		RunE:    a.WithHistory(a.historyDiff),
	}
	name := &cobra.Command{
		Use: "name CALL [NAME]", Short: "Name a call, which keeps it for good; without NAME take its name away", Annotations: cli.Rule("1-2"),
		Example: "  mcphud history name 12 smoke",
		RunE: a.WithHistory(func(ctx context.Context, h *calls.History, own []string) error {
			return onCall(ctx, h, own[0], func(c calls.Call) error { return h.Rename(ctx, c.ID, strings.Join(own[1:], "")) })
		}),
	}
	off := false
	pin := &cobra.Command{
		Use: "pin CALL…", Short: "Keep calls for good", Annotations: cli.Rule("some"),
		Example: "  mcphud history pin 12\n  mcphud history pin 12 --off",
		RunE: a.WithHistory(func(ctx context.Context, h *calls.History, own []string) error {
			return onCalls(ctx, h, own, func(c calls.Call) error { return h.Pin(ctx, c.ID, !off) })
		}),
	}
	pin.Flags().BoolVar(&off, "off", false, "let them grow old again")
	note := &cobra.Command{
		Use: "note CALL [WORD…]", Short: "Write a note to a call; without words remove it", Annotations: cli.Rule("some"),
		Example: `  mcphud history note 12 fails since the last deployment`,
		RunE: a.WithHistory(func(ctx context.Context, h *calls.History, own []string) error {
			return onCall(ctx, h, own[0], func(c calls.Call) error { return h.Annotate(ctx, c.ID, strings.Join(own[1:], " ")) })
		}),
	}
	rm := &cobra.Command{
		Use: "rm CALL…", Short: "Remove calls", Annotations: cli.Rule("some"),
		Example: "  mcphud history rm 12 13",
		RunE: a.WithHistory(func(ctx context.Context, h *calls.History, own []string) error {
			return onCalls(ctx, h, own, func(c calls.Call) error { return h.Delete(ctx, c.ID) })
		}),
	}
	clear := &cobra.Command{
		Use: "clear", Short: "Remove all calls, or those of the servers that --server names", Annotations: cli.Rule("0"),
		Long:    "Removes all calls, pinned ones and those with a name as well, or those of the servers with the name that --server gives. A terminal asks first; elsewhere --yes is needed.",
		Example: "  mcphud history clear --server github --yes",
		RunE:    a.WithHistory(a.historyClear),
	}
	run := &cobra.Command{
		Use: "run CALL [KEY=VALUE…] [flags] [SERVER | URL | -- COMMAND ARGS…]", Short: "Make a call again", Annotations: cli.Rule("some"),
		Long: "Makes a call again, at the server that it was made at, or at the one that the command line names. KEY=VALUE changes an argument, and gives one that was secret: " +
			"these are not kept. Where nobody gives it, it is taken from MCPHUD_SECRET_KEY, or asked for on a terminal.",
		Example: "  mcphud history run last\n  mcphud history run 12 limit=5 --format json",
		RunE:    a.Action(a.historyRun),
	}
	a.Options.Expected.Register(run)
	replace := false
	save := &cobra.Command{
		Use: "save CALL NAME", Short: "Keep a call as a file of this project", Annotations: cli.Rule("two"),
		Long:    "Writes a call to NAME.yaml in " + calls.Folder + " of this project, without its secrets, for mcphud run and for whoever shares the project.",
		Example: "  mcphud history save last search",
		RunE: a.WithHistory(func(ctx context.Context, h *calls.History, own []string) error {
			return onCall(ctx, h, own[0], func(c calls.Call) error { return a.historySave(c, own[1], replace) })
		}),
	}
	save.Flags().BoolVar(&replace, "replace", false, "write over a file that is there; its comments stay")
	for _, c := range []*cobra.Command{run, save, show, diff, name, pin, note, rm} {
		c.Args, c.ValidArgsFunction = cobra.ArbitraryArgs, completeCalls
	}
	clear.Args = cobra.ArbitraryArgs
	return a.Group("history", "Calls that were made before", list, show, run, diff, name, pin, note, save, rm, clear)
}

// keptSentence says what is kept, and for how long.
func keptSentence() string {
	l := calls.UsualLimits
	return fmt.Sprintf("Up to %d calls and %s of arguments and results are kept for %d days, in %s; secrets are not. --no-history or %s=off keeps none.",
		l.Calls, text.Bytes(l.Bytes), int(l.Age.Hours()/24), "calls.db of mcphud's state folder", cli.NoHistory)
}

// onCall does something with the call that a word names.
func onCall(ctx context.Context, h *calls.History, word string, f func(calls.Call) error) error {
	c, err := h.Find(ctx, word)
	if err != nil {
		return err
	}
	return f(c)
}

// onCalls does something with several calls, after all of them were found.
func onCalls(ctx context.Context, h *calls.History, words []string, f func(calls.Call) error) error {
	var all []calls.Call
	for _, w := range words {
		if err := onCall(ctx, h, w, func(c calls.Call) error { all = append(all, c); return nil }); err != nil {
			return err
		}
	}
	for _, c := range all {
		if err := f(c); err != nil {
			return err
		}
	}
	return nil
}

// completeCalls offers the names of calls, and the numbers of the newest ones.
func completeCalls(cmd *cobra.Command, _ []string, _ string) ([]string, cobra.ShellCompDirective) {
	h := (&app{}).KnownCalls()
	newest, err := h.List(cmd.Context(), calls.Query{Limit: 50})
	kept, also := h.List(cmd.Context(), calls.Query{Pinned: true})
	if errors.Join(err, also, h.Close()) != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	var out []string
	for _, c := range kept {
		if c.Name != "" {
			out = append(out, cobra.CompletionWithDesc(c.Name, callTitle(c)))
		}
	}
	for _, c := range newest {
		out = append(out, cobra.CompletionWithDesc(strconv.FormatInt(c.ID, 10), callTitle(c)))
	}
	return append(out, "last"), cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveKeepOrder
}

// callTitle is what was called, and where.
func callTitle(c calls.Call) string { return c.Target + " at " + c.Server.Where() }

func (a *app) historyList(ctx context.Context, h *calls.History, q calls.Query) error {
	all, err := h.List(ctx, q)
	if err != nil {
		return err
	}
	is := pages.Calls(all, true, nil)
	is.Value = struct {
		Calls []calls.Call `json:"calls"`
	}{append([]calls.Call{}, all...)}
	is.Table.Value = func(i int) any { return all[i] }
	return a.Printer().Page(is)
}

// ShownCall is a call with its result, as JSON.
type ShownCall struct {
	calls.Call
	Result json.RawMessage `json:"result,omitempty"` // nil where there is none, or it is not kept
}

func (a *app) historyShow(ctx context.Context, h *calls.History, own []string) error {
	return onCall(ctx, h, own[0], func(c calls.Call) error {
		result, err := h.Result(ctx, c)
		if err != nil {
			return err
		}
		is := pages.CallWithResult(c, result)
		is.Value = ShownCall{c, result}
		if result != nil {
			return a.Printer().Page(is, result)
		}
		return a.Printer().Page(is)
	})
}

// ComparedCalls is what history diff prints as JSON.
type ComparedCalls struct {
	Before      int64                `json:"before"`
	After       int64                `json:"after"`
	Same        bool                 `json:"same"`
	Differences []compare.Difference `json:"differences"`
	More        int                  `json:"more,omitempty"` // that are not listed
}

func (a *app) historyDiff(ctx context.Context, h *calls.History, own []string) error {
	after, err := h.Find(ctx, own[len(own)-1])
	if err != nil {
		return err
	}
	var before calls.Call
	if len(own) == 2 {
		before, err = h.Find(ctx, own[0])
	} else if before, err = h.Previous(ctx, after); errors.Is(err, calls.ErrNone) {
		return failure.UsageError(fmt.Sprintf("call %d is the first of %s at %s", after.ID, after.Target, after.Server.Where()), "name another call to compare it with")
	}
	if err != nil {
		return err
	}
	var bodies [2][]byte
	for i, c := range []calls.Call{before, after} {
		if bodies[i], err = h.Result(ctx, c); err != nil {
			return err
		}
		if bodies[i] == nil {
			return failure.UsageError(fmt.Sprintf("the result of call %d is not kept", c.ID), "compare calls whose results are")
		}
	}
	r := compare.Values(bodies[0], bodies[1], compare.Options{Before: before.At.Time, After: after.At.Time})
	out := ComparedCalls{before.ID, after.ID, r.Same(), r.Differences, r.More}
	if out.Differences == nil {
		out.Differences = []compare.Difference{}
	}
	return a.Printer().Show(out, func(t *output.Text) {
		t.Block(fmt.Sprintf("%d → %d: %s", before.ID, after.ID, callTitle(after)))
		if len(r.Differences) == 0 {
			t.Block("no difference")
		}
		runner.PrintDifferences(t, r)
	})
}

func (a *app) historyClear(ctx context.Context, h *calls.History, _ []string) error {
	what := "all calls"
	if a.Options.Server != "" {
		what = "the calls of " + a.Options.Server
	}
	if !a.Options.Yes {
		if !output.Terminal(a.In) || !output.Terminal(a.Err) {
			return failure.UsageError("nothing was removed: nobody can be asked", "give --yes")
		}
		fmt.Fprintf(a.Err, "Remove %s from the history? [y/N] ", what)
		line, err := cli.ReadLine(ctx, a.In)
		if err != nil || !strings.EqualFold(line, "y") && !strings.EqualFold(line, "yes") {
			return errors.Join(failure.UsageError("nothing was removed", "answer y, or give --yes"), err)
		}
	}
	n, err := h.Clear(ctx, a.Options.Server)
	if err != nil {
		return err
	}
	return a.Printer().Show(map[string]int64{"removed": n}, func(t *output.Text) { t.Block(fmt.Sprintf("removed: %d", n)) })
}
