package runner

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mcphud/mcphud/cmd/cli"
	"github.com/mcphud/mcphud/cmd/cli/output"
	"github.com/mcphud/mcphud/session/base/failure"
	"github.com/mcphud/mcphud/session/base/mask"
	"github.com/mcphud/mcphud/session/base/text"
	"github.com/mcphud/mcphud/session/offer"
	"github.com/mcphud/mcphud/session/offer/schema"
	"github.com/mcphud/mcphud/session/traffic/calls"
	"github.com/mcphud/mcphud/session/traffic/compare"
	"github.com/mcphud/mcphud/session/wire/journal"
)

// ReplayHelp explains the sending of recorded requests in the help of verbs that do it.
const ReplayHelp = "replay sends the requests that a file recorded to a server, one after the other, and compares each answer with the recorded one: exit code 9 where one differs. " +
	"What belongs to the recorded session is left out: the handshake, subscriptions, tasks and further pages. So is every tool that is not marked as read-only, unless --all-tools. " +
	"What two equal calls differ in does not count: reads are repeated to learn that. Elsewhere what looks like a clock, an id or a duration is a possible difference, and counts. "

// Replaying are the flags of recorded requests that are sent again.
type Replaying struct {
	Ignore *cli.Ignoring
	only   *cli.FilterFlag
	all    bool
}

// Register gives a command the flags.
func (f *Replaying) Register(c *cobra.Command) {
	f.only = cli.AddFilter(c.Flags())
	c.Flags().BoolVar(&f.all, "all-tools", false, "also call tools that are not marked as read-only")
}

// Check reads the flags, before anything is sent.
func (f *Replaying) Check() error { return cmp.Or(f.only.Parse(), f.Ignore.Parse()) }

// Replayed is one request that was sent again, as it is printed.
type Replayed struct {
	Seq         uint64               `json:"seq"`
	Method      string               `json:"method"`
	Target      string               `json:"target,omitempty"`
	Skipped     string               `json:"skipped,omitempty"` // why it was not sent
	Same        bool                 `json:"same"`
	Real        int                  `json:"real"`
	Guesses     int                  `json:"guesses"`
	Expected    int                  `json:"expected"`
	Note        string               `json:"note,omitempty"`
	Before      *ComparedAnswer      `json:"before,omitempty"`
	After       *ComparedAnswer      `json:"after,omitempty"`
	Differences []compare.Difference `json:"differences,omitempty"`
	More        int                  `json:"more,omitempty"`
}

// ReplayedAll is the whole outcome.
type ReplayedAll struct {
	Same      int        `json:"same"`
	Different int        `json:"different"`
	Skipped   int        `json:"skipped"`
	Calls     []Replayed `json:"calls,omitempty"`
}

const (
	maxReplayed      = 50      // differences of one call that are printed
	maxReplayedLines = 10      // those of them that count, for people
	maxReplayedValue = 2 << 10 // bytes of a value that is printed
)

// Replay sends the requests of a file again. stage is the command that does so.
func (f *Replaying) Replay(ctx context.Context, a *cli.App, l *cli.Link, stage, name string) error {
	file, err := a.Whole(ctx, name)
	if err != nil {
		return err
	}
	defer file.Close()
	var seqs []uint64
	file.Each(0, func(e *journal.Entry) bool {
		if e.Kind == journal.Request && e.Dir == journal.Out && f.only.Filter.Match(file.Journal, e) {
			seqs = append(seqs, e.Seq)
		}
		return true
	})
	if l.Supports("tools/list") {
		if _, err := l.List(ctx, offer.Tools); err != nil {
			return err
		}
	}
	out, maker := ReplayedAll{Calls: []Replayed{}}, Of(l)
	for _, seq := range seqs {
		r, bound, err := f.one(ctx, maker, file.Journal, seq)
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
		if err := replayed(l, &out, r); err != nil {
			return err
		}
	}
	if out.Same+out.Different+out.Skipped == 0 {
		return failure.UsageError(name+" has no request to send again", "see mcphud open "+name)
	}
	return replayEnd(l, stage, out)
}

// one sends one recorded request; bound says that it makes no sense outside of its session.
func (f *Replaying) one(ctx context.Context, maker *calls.Runner, j *journal.Journal, seq uint64) (r Replayed, bound bool, err error) {
	req, err := calls.FindRequest(j, seq)
	if err != nil {
		return Replayed{Seq: seq, Skipped: err.Error()}, false, nil
	}
	r = Replayed{Seq: seq, Method: req.Method(), Target: req.Target()}
	if req.Bound() {
		return r, true, nil
	}
	before, err := calls.RecordedAnswer(j, seq)
	it, known := req.Item(maker.Session)
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
	case req.Tool() != "" && !it.ReadOnly() && !f.all:
		r.Skipped = "the tool is not marked as read-only"
	case req.Tool() == "" && !req.Repeatable(maker.Session):
		r.Skipped = "not known to be only a read"
	}
	if r.Skipped != "" {
		return r, false, nil
	}
	if err := maker.Confirm(ctx, req); err != nil {
		return r, false, err
	}
	after, err := maker.Ask(ctx, req)
	if err != nil {
		return r, false, err
	}
	if ended := failure.KindOf(after.Err); after.Frame == nil && (ended == failure.ChannelClosed || ended == failure.ServerNotConnected) {
		return r, false, after.Err
	}
	learn := maker.NoiseProbe(ctx, req, after, false)
	if after.Frame == nil {
		learn = nil
	}
	c, _, err := f.Ignore.Compared(ctx, before, after, false, learn)
	if err != nil {
		return r, false, err
	}
	was, is := AnswerOf(before), AnswerOf(after)
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
func replayed(l *cli.Link, out *ReplayedAll, r Replayed) error {
	switch l.Out.Format {
	case output.FormatText:
		return l.Print(output.Answer{Text: func(t *output.Text) {
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
			t.Block(line)
			count := compare.Result{More: r.Real + r.Guesses}
			for _, d := range r.Differences {
				if (d.Class == compare.Real || d.Class == compare.Guess) && len(count.Differences) < maxReplayedLines {
					count.Differences = append(count.Differences, d)
					count.More--
				}
			}
			if r.After != nil {
				PrintDifferences(t, count)
			}
		}})
	case output.FormatJSON:
		out.Calls = append(out.Calls, r)
		return nil
	}
	raw, err := output.Marshal(r)
	if err != nil {
		return err
	}
	return l.Print(output.Answer{Result: raw, Frames: [][]byte{raw}})
}

// replayEnd prints the sum, and is the error of differences, at this stage.
func replayEnd(l *cli.Link, stage string, out ReplayedAll) error {
	sum := fmt.Sprintf("%d same, %d different, %d skipped", out.Same, out.Different, out.Skipped)
	var err error
	switch l.Out.Format {
	case output.FormatText:
		err = l.Print(output.Answer{Text: func(t *output.Text) { t.Block(sum) }})
	case output.FormatJSON:
		var raw []byte
		if raw, err = output.Marshal(out); err == nil {
			err = l.Print(output.Answer{Result: raw})
		}
	}
	if err != nil || out.Different == 0 {
		return err
	}
	return &failure.Error{Kind: failure.Assertion, Stage: stage, Message: "the answers differ: " + sum}
}
