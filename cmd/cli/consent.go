package cli

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/charmbracelet/x/ansi"
	"github.com/muesli/cancelreader"

	"github.com/mcphud/mcphud/cmd/cli/output"
	"github.com/mcphud/mcphud/session/auth/consent"
	"github.com/mcphud/mcphud/session/base/failure"
	"github.com/mcphud/mcphud/session/base/jsonrpc"
	"github.com/mcphud/mcphud/session/offer"
)

// Consent is which tools ask: those that config.yaml names, but for what the command line agrees to beforehand. All of a run share it.
func (a *App) Consent() *consent.Policy {
	if a.consent == nil {
		a.consent = &consent.Policy{}
		a.consent.Follow(consent.Rule(a.Preferences().AskFirst))
		if a.Options.Yes {
			a.consent.All()
		}
	}
	return a.consent
}

// CanAsk reports whether a person is there to answer: stdin and stderr are terminals.
func (l *Link) CanAsk() bool { return output.Terminal(l.Std.In) && output.Terminal(l.Std.Err) }

// Allow refuses what --read-only leaves out, and asks before a call of a tool that the policy asks about. Where nobody can be
// asked the call is made: a script has named it.
func (l *Link) Allow(ctx context.Context, it offer.Item, args []byte) error {
	return l.AllowAfter(ctx, it, consent.Question(l.Title(), it, it.Name, args))
}

// AllowAfter is allow with a question of the caller's.
func (l *Link) AllowAfter(ctx context.Context, it offer.Item, question string) error {
	if l.Opts.ReadOnly && !it.ReadOnly() {
		return l.NotCalled(it, "the tool is not marked as read-only, and --read-only refuses it", "leave --read-only out")
	}
	if !l.consent.Asks(l.Name(), it) || !l.CanAsk() {
		return nil
	}
	return l.Confirm(ctx, it, question)
}

// NotCalled is the error of a tool that is not called: why, and what to do instead.
func (l *Link) NotCalled(it offer.Item, why, next string) error {
	return &failure.Error{Kind: failure.Usage, Server: l.Name(), Stage: "tools/call " + it.Name, Message: why + "; nothing was sent", Next: next}
}

// Confirm asks a question on the terminal, once.
func (l *Link) Confirm(ctx context.Context, it offer.Item, question string) error {
	if l.agreed == question {
		return nil
	}
	l.Side.Ask(choices(question, output.WidthOf(l.Std.Err)))
	switch line, err := ReadLine(ctx, l.Std.In); {
	case err != nil:
		l.Side.Ask("\n") // an error line must be a line of its own
		return errors.Join(errNotSent, err)
	case !strings.EqualFold(line, "y") && !strings.EqualFold(line, "yes"):
		return l.NotCalled(it, "not called", "answer y, or give --yes")
	}
	l.agreed = question // also after a login that the call turned out to need
	return nil
}

// errNotSent marks the error of a request that ended before anything of it was sent.
var errNotSent = errors.New("nothing was sent")

// choices puts the answers behind a question, on a line of their own where a terminal of some width would break them.
func choices(question string, width int) string {
	const answers = "[y/N] "
	last := ansi.StringWidth(question[strings.LastIndexByte(question, '\n')+1:])
	if width > 0 && last%width+len(" "+answers) >= width {
		return question + "\n" + answers
	}
	return question + " " + answers
}

// ReadLine is lineOf where the end of the input is a no.
func ReadLine(ctx context.Context, f *os.File) (string, error) {
	line, err := lineOf(ctx, f)
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return line, err
}

// lineOf reads one line from a terminal, without the space around it, unless ctx ends first.
func lineOf(ctx context.Context, f *os.File) (string, error) {
	r, err := cancelreader.NewReader(f)
	if err != nil {
		return "", err
	}
	defer r.Close()
	defer context.AfterFunc(ctx, func() { r.Cancel() })()
	line, err := bufio.NewReader(r).ReadString('\n')
	if ctx.Err() != nil {
		return "", ctx.Err()
	}
	if line = strings.TrimSpace(line); line != "" && errors.Is(err, io.EOF) {
		err = nil
	}
	return line, err
}

// ReadOnly leaves the tools that are marked as read-only, in the items and in the list as it was sent, and says on stderr how
// many others there are.
func (l *Link) ReadOnly(items []offer.Item, raw []byte) ([]offer.Item, []byte) {
	var kept []offer.Item
	var array [][]byte
	for _, it := range items {
		if it.ReadOnly() {
			kept = append(kept, it)
			array = append(array, it.Raw)
		}
	}
	if n := len(items) - len(kept); n > 0 {
		l.Side.Warn(fmt.Sprintf("--read-only hides %d of %d tools: they are not marked as read-only", n, len(items)))
	}
	from, to, ok := jsonrpc.Find(raw, offer.Tools.String())
	if !ok {
		return kept, raw
	}
	return kept, slices.Concat(raw[:from], []byte{'['}, bytes.Join(array, []byte{','}), []byte{']'}, raw[to:])
}
