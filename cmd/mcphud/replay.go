package main

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mcphud/mcphud/session"
	"github.com/mcphud/mcphud/session/base/failure"
	"github.com/mcphud/mcphud/session/base/mask"
	"github.com/mcphud/mcphud/session/base/text"
	"github.com/mcphud/mcphud/session/offer"
	"github.com/mcphud/mcphud/session/offer/schema"
	"github.com/mcphud/mcphud/session/traffic/again"
	"github.com/mcphud/mcphud/session/traffic/compare"
	"github.com/mcphud/mcphud/session/wire/journal"
)

// replaying is the name of the one command for files that talks to a server.
const replaying = "replay"

func (a *app) replayCommand() *cobra.Command {
	all := false
	var ignore ignoring
	c := &cobra.Command{
		Use: replaying + " FILE [flags] [SERVER | URL | -- COMMAND ARGS…]", Short: "Send recorded requests again, and compare the answers", Annotations: rule("one"),
		Long: "replay sends the requests that a file recorded to a server, one after the other, and compares each answer with the recorded one: exit code 9 where one differs. " +
			"What belongs to the recorded session is left out: the handshake, subscriptions, tasks and further pages. So is every tool that is not marked as read-only, unless --all-tools. " +
			"What two equal calls differ in does not count: reads are repeated to learn that. Elsewhere what looks like a clock, an id or a duration is a possible difference, and counts. " +
			ignoringHelp,
		Example: "  mcphud journal replay session.jsonl -- node server.js\n  mcphud journal replay session.jsonl --filter 'tool:search' https://staging.example.com/mcp",
		Args:    cobra.ArbitraryArgs,
	}
	only := addFilter(c.Flags())
	c.Flags().BoolVar(&all, "all-tools", false, "also call tools that are not marked as read-only")
	ignore.register(c.Flags(), "ignore in all answers")
	run := a.serverCommand(func(ctx context.Context, l *link, own []string) error {
		return a.replay(ctx, l, own[0], only, all, &ignore)
	})
	c.RunE = func(cmd *cobra.Command, args []string) error {
		if err := cmp.Or(only.parse(), ignore.parse()); err != nil {
			return a.action(func(context.Context, *cobra.Command, []string) error { return err })(cmd, args)
		}
		return run(cmd, args)
	}
	return c
}

// replayed is one request that was sent again, as it is printed.
type replayed struct {
	Seq         uint64               `json:"seq"`
	Method      string               `json:"method"`
	Target      string               `json:"target,omitempty"`
	Skipped     string               `json:"skipped,omitempty"` // why it was not sent
	Same        bool                 `json:"same"`
	Real        int                  `json:"real"`
	Guesses     int                  `json:"guesses"`
	Expected    int                  `json:"expected"`
	Note        string               `json:"note,omitempty"`
	Before      *comparedAnswer      `json:"before,omitempty"`
	After       *comparedAnswer      `json:"after,omitempty"`
	Differences []compare.Difference `json:"differences,omitempty"`
	More        int                  `json:"more,omitempty"`
}

// replayedAll is the whole outcome.
type replayedAll struct {
	Same      int        `json:"same"`
	Different int        `json:"different"`
	Skipped   int        `json:"skipped"`
	Calls     []replayed `json:"calls,omitempty"`
}

const (
	maxReplayed      = 50      // differences of one call that are printed
	maxReplayedLines = 10      // those of them that count, for people
	maxReplayedValue = 2 << 10 // bytes of a value that is printed
)

func (a *app) replay(ctx context.Context, l *link, name string, only *filterFlag, all bool, ignore *ignoring) error {
	f, err := a.whole(ctx, name)
	if err != nil {
		return err
	}
	defer f.Close()
	var seqs []uint64
	f.Each(0, func(e *journal.Entry) bool {
		if e.Kind == journal.Request && e.Dir == journal.Out && only.filter.Match(f.Journal, e) {
			seqs = append(seqs, e.Seq)
		}
		return true
	})
	if l.Supports("tools/list") {
		if _, err := l.List(ctx, offer.Tools); err != nil {
			return err
		}
	}
	out := replayedAll{Calls: []replayed{}}
	for _, seq := range seqs {
		r, bound, err := l.replayOne(ctx, f.Journal, seq, all, ignore)
		if err != nil {
			return err
		}
		if bound {
			continue
		}
		switch {
		case r.Skipped != "":
			out.Skipped++
		case r.Same:
			out.Same++
		default:
			out.Different++
		}
		if err := l.replayed(&out, r); err != nil {
			return err
		}
	}
	if out.Same+out.Different+out.Skipped == 0 {
		return usageError(name+" has no request to send again", "see mcphud open "+name)
	}
	return l.replayEnd(out)
}

// replayOne sends one recorded request; bound says that it makes no sense outside of its session.
func (l *link) replayOne(ctx context.Context, j *journal.Journal, seq uint64, all bool, ignore *ignoring) (r replayed, bound bool, err error) {
	req, err := again.Find(j, seq)
	if err != nil {
		return replayed{Seq: seq, Skipped: err.Error()}, false, nil
	}
	r = replayed{Seq: seq, Method: req.Method(), Target: req.Target()}
	if req.Bound() {
		return r, true, nil
	}
	before, err := again.Recorded(j, seq)
	it, known := req.Item(l.Session)
	switch {
	case err != nil:
		r.Skipped = err.Error()
	case before.Frame == nil:
		r.Skipped = "no answer was recorded"
	case req.Tool() != "" && !known:
		r.Real, r.Note = 1, "the server does not list the tool"
		return r, false, nil
	case schema.Within(req.Frame, mask.LikePlaceholder) || schema.Within(before.Frame, mask.Placeholder): // no server gets one
		r.Skipped = "a secret in it was hidden when it was recorded"
	case req.Tool() != "" && !it.ReadOnly() && !all:
		r.Skipped = "the tool is not marked as read-only"
	case req.Tool() == "" && !req.Repeatable(l.Session):
		r.Skipped = "not known to be only a read"
	}
	if r.Skipped != "" {
		return r, false, nil
	}
	if req.Tool() != "" {
		if err := l.allow(ctx, it, req.Arguments()); err != nil {
			return r, false, err
		}
	}
	send := func() (again.Answer, error) {
		return req.Send(ctx, l.Session, l.journal, session.CallOptions{OnProgress: l.side.report})
	}
	after, err := send()
	if err != nil {
		return r, false, err
	}
	if ended := failure.KindOf(after.Err); after.Frame == nil && (ended == failure.ChannelClosed || ended == failure.ServerNotConnected) {
		return r, false, after.Err
	}
	learn := func() (*compare.Noise, error) {
		second, err := send()
		return again.Learn(after, second), err
	}
	if !req.Repeatable(l.Session) || after.Frame == nil {
		learn = nil
	}
	c, _, err := ignore.compared(ctx, before, after, false, learn)
	if err != nil {
		return r, false, err
	}
	was, is := answerOf(before), answerOf(after)
	r.Same, r.Real, r.Guesses, r.Expected, r.Note, r.Before, r.After = c.Same(), c.Real(), c.Guesses(), c.Noise(), c.Note, &was, &is
	r.Differences, r.More = briefly(c)
	return r, false, nil
}

// briefly is what is printed of many differences: the first, without values that are long.
func briefly(c compare.Result) (list []compare.Difference, more int) {
	list, more = c.Differences, c.More
	if len(list) > maxReplayed {
		more += len(list) - maxReplayed
		list = list[:maxReplayed]
	}
	for i := range list {
		for _, v := range []*json.RawMessage{&list[i].Before, &list[i].After} {
			if len(*v) > maxReplayedValue {
				*v = json.RawMessage(fmt.Sprintf(`"… %s"`, text.Bytes(len(*v))))
			}
		}
	}
	return list, more
}

// replayed prints one call in the formats that do so while they come, and keeps it for the one that does not.
func (l *link) replayed(out *replayedAll, r replayed) error {
	switch l.out.format {
	case formatText:
		return l.print(answer{text: func(t *textOutput) {
			verdict := "✓ same     "
			switch {
			case r.Skipped != "":
				verdict = "- skipped  "
			case !r.Same:
				verdict = "≠ different"
			}
			line := verdict + " " + strings.TrimSpace(r.Method+" "+r.Target) + fmt.Sprintf(" (entry %d)", r.Seq)
			if r.Skipped != "" {
				line += ": " + r.Skipped
			}
			if r.Before != nil {
				line += fmt.Sprintf(", %.4g ms, was %.4g ms", r.After.Millis, r.Before.Millis)
			}
			if r.Note != "" {
				line += ": " + r.Note
			}
			t.block(line)
			count := compare.Result{More: r.Real + r.Guesses}
			for _, d := range r.Differences {
				if (d.Class == compare.Real || d.Class == compare.Guess) && len(count.Differences) < maxReplayedLines {
					count.Differences = append(count.Differences, d)
					count.More--
				}
			}
			if r.After != nil {
				t.differences(count)
			}
		}})
	case formatJSON:
		out.Calls = append(out.Calls, r)
		return nil
	}
	raw, err := marshal(r)
	if err != nil {
		return err
	}
	return l.print(answer{result: raw, frames: [][]byte{raw}})
}

// replayEnd prints the sum, and is the error of differences.
func (l *link) replayEnd(out replayedAll) error {
	sum := fmt.Sprintf("%d same, %d different, %d skipped", out.Same, out.Different, out.Skipped)
	var err error
	switch l.out.format {
	case formatText:
		err = l.print(answer{text: func(t *textOutput) { t.block(sum) }})
	case formatJSON:
		var raw []byte
		if raw, err = marshal(out); err == nil {
			err = l.print(answer{result: raw})
		}
	}
	if err != nil || out.Different == 0 {
		return err
	}
	return &failure.Error{Kind: failure.Assertion, Stage: "journal replay", Message: "the answers differ: " + sum}
}
