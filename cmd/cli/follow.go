package cli

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"strings"

	"github.com/mcphud/mcphud/cmd/cli/output"
	"github.com/mcphud/mcphud/session/traffic/filter"
	"github.com/mcphud/mcphud/session/wire/journal"
	"github.com/mcphud/mcphud/tui/safe"
)

// Follower prints a journal while it grows.
type Follower struct {
	J     *journal.Journal
	Out   *output.Printer
	Only  *filter.Filter
	since uint64
}

// Run prints until ctx ends or the limit of the output is reached, neither of which is an error, or until the output is closed.
func (f *Follower) Run(ctx context.Context) error {
	wake := make(chan struct{}, 1)
	f.J.OnChange(func() {
		select {
		case wake <- struct{}{}:
		default:
		}
	})
	for {
		if err := f.Drain(); err != nil || f.Out.Ends() {
			return err
		}
		select {
		case <-ctx.Done():
			return f.Drain()
		case <-wake:
		}
	}
}

// Drain prints what came since the last time.
func (f *Follower) Drain() (err error) {
	w := bufio.NewWriterSize(f.Out.W, 64<<10)
	out := *f.Out
	out.W = w
	f.J.Each(f.since, func(e *journal.Entry) bool {
		if lost := e.Seq - f.since - 1; lost > 0 {
			if err = f.missing(&out, lost); err != nil {
				return false
			}
		}
		f.since = e.Seq
		if !f.Only.Match(f.J, e) {
			return true
		}
		body, gone := f.J.Body(e.Seq)
		if gone != nil {
			e.Note = strings.TrimPrefix(e.Note+"; "+gone.Error(), "; ")
		}
		err = f.print(&out, *e, body)
		return err == nil
	})
	if err != nil {
		return err
	}
	return w.Flush()
}

// missing reports entries that the journal dropped before they could be printed, because stdout is read slowly.
func (f *Follower) missing(out *output.Printer, n uint64) (err error) {
	switch out.Format {
	case output.FormatRaw:
	case output.FormatText:
		_, err = fmt.Fprintf(out, "… %d entries dropped: the reader is too slow\n", n)
	default:
		err = out.Line(fmt.Appendf(nil, `{"missing":%d}`, n))
	}
	return err
}

// print prints one entry.
func (f *Follower) print(out *output.Printer, e journal.Entry, body []byte) error {
	switch out.Format {
	case output.FormatText:
		_, err := out.Write(f.text(e, body))
		return err
	case output.FormatRaw:
		if e.Kind > journal.Notification {
			return nil
		}
		return out.Line(bytes.TrimRight(output.OneLine(body), "\n"))
	}
	return out.Line(bytes.TrimRight(journal.AppendLine(nil, e, body), "\n"))
}

// text formats an entry as one line. Of stderr lines and malformed frames it has the beginning.
func (f *Follower) text(e journal.Entry, body []byte) []byte {
	dir := map[journal.Dir]string{journal.Out: "→", journal.In: "←", journal.None: "·"}[e.Dir]
	words := []string{e.Time.Format("15:04:05.000"), dir, fmt.Sprintf("%-12s", e.Kind), e.Server, e.Method, e.Tool}
	if e.ID != "" {
		words = append(words, "#"+e.ID)
	}
	if e.Kind == journal.Response || e.Kind == journal.ErrorResponse {
		words = append(words, e.Status, e.Took.Round(10_000).String())
	}
	if e.Size > 0 {
		words = append(words, fmt.Sprintf("%d bytes", e.Size))
	}
	words = append(words, e.Note)
	if e.Kind == journal.Stderr || e.Kind == journal.Bad {
		words = append(words, strings.ToValidUTF8(string(bytes.TrimSpace(body[:min(len(body), 400)])), "�"))
	}
	var b strings.Builder
	for _, w := range words {
		if w == "" {
			continue
		}
		if f.Out.Tty {
			w = safe.Line(w, 400)
		}
		b.WriteString(w + " ")
	}
	return append(output.OneLine([]byte(strings.TrimRight(b.String(), " "))), '\n')
}
