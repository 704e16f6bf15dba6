package main

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

	"github.com/mcphud/mcphud/session/auth/consent"
	"github.com/mcphud/mcphud/session/base/failure"
	"github.com/mcphud/mcphud/session/base/jsonrpc"
	"github.com/mcphud/mcphud/session/offer"
)

// consent is what the command line agrees to beforehand.
func (a *app) consent() *consent.Policy {
	p := &consent.Policy{}
	if a.o.yes {
		p.All()
	}
	return p
}

// canAsk reports whether a person is there to answer: stdin and stderr are terminals.
func (l *link) canAsk() bool { return terminal(l.std.in) && terminal(l.std.err) }

// allow refuses what --read-only leaves out, and asks before a call that its server marks as destructive. Where nobody can be
// asked the call is made: a script has named it.
func (l *link) allow(ctx context.Context, it offer.Item, args []byte) error {
	return l.allowAfter(ctx, it, consent.Question(l.Title(), it.Name, args))
}

// allowAfter is allow with a question of the caller's.
func (l *link) allowAfter(ctx context.Context, it offer.Item, question string) error {
	if l.opts.readOnly && !it.ReadOnly() {
		return l.notCalled(it, "the tool is not marked as read-only, and --read-only refuses it", "leave --read-only out")
	}
	if !l.consent.Asks(l.Name(), it) || !l.canAsk() {
		return nil
	}
	return l.confirm(ctx, it, question)
}

func (l *link) notCalled(it offer.Item, why, next string) error {
	return &failure.Error{Kind: failure.Usage, Server: l.Name(), Stage: "tools/call " + it.Name, Message: why + "; nothing was sent", Next: next}
}

// confirm asks a question on the terminal, once.
func (l *link) confirm(ctx context.Context, it offer.Item, question string) error {
	if l.agreed == question {
		return nil
	}
	l.side.ask(choices(question, widthOf(l.std.err)))
	switch line, err := readLine(ctx, l.std.in); {
	case err != nil:
		l.side.ask("\n") // an error line must be a line of its own
		return errors.Join(errNotSent, err)
	case !strings.EqualFold(line, "y") && !strings.EqualFold(line, "yes"):
		return l.notCalled(it, "not called", "answer y, or give --yes")
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

// readLine is lineOf where the end of the input is a no.
func readLine(ctx context.Context, f *os.File) (string, error) {
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

// readOnly leaves the tools that are marked as read-only, in the items and in the list as it was sent, and says on stderr how
// many others there are.
func (l *link) readOnly(items []offer.Item, raw []byte) ([]offer.Item, []byte) {
	var kept []offer.Item
	var array [][]byte
	for _, it := range items {
		if it.ReadOnly() {
			kept = append(kept, it)
			array = append(array, it.Raw)
		}
	}
	if n := len(items) - len(kept); n > 0 {
		l.side.warn(fmt.Sprintf("--read-only hides %d of %d tools: they are not marked as read-only", n, len(items)))
	}
	from, to, ok := jsonrpc.Find(raw, offer.Tools.String())
	if !ok {
		return kept, raw
	}
	return kept, slices.Concat(raw[:from], []byte{'['}, bytes.Join(array, []byte{','}), []byte{']'}, raw[to:])
}
