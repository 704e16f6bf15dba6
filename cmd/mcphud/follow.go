package main

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/mcphud/mcphud/session/traffic/filter"
	"github.com/mcphud/mcphud/session/wire/journal"
	"github.com/mcphud/mcphud/tui/safe"
)

// follower prints a journal while it grows.
type follower struct {
	j      *journal.Journal
	w      io.Writer
	tty    bool
	format string
	only   *filter.Filter
	since  uint64
}

// run prints until ctx ends, which is not an error, or until the output is closed.
func (f *follower) run(ctx context.Context) error {
	wake := make(chan struct{}, 1)
	f.j.OnChange(func() {
		select {
		case wake <- struct{}{}:
		default:
		}
	})
	for {
		if err := f.drain(); err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return f.drain()
		case <-wake:
		}
	}
}

// drain prints what came since the last time.
func (f *follower) drain() (err error) {
	w := bufio.NewWriterSize(f.w, 64<<10)
	f.j.Each(f.since, func(e *journal.Entry) bool {
		if lost := e.Seq - f.since - 1; lost > 0 {
			if err = f.missing(w, lost); err != nil {
				return false
			}
		}
		f.since = e.Seq
		if !f.only.Match(f.j, e) {
			return true
		}
		body, gone := f.j.Body(e.Seq)
		if gone != nil {
			e.Note = strings.TrimPrefix(e.Note+"; "+gone.Error(), "; ")
		}
		_, err = w.Write(f.entry(*e, body))
		return err == nil
	})
	if err != nil {
		return err
	}
	return w.Flush()
}

// missing reports entries that the journal dropped before they could be printed, because stdout is read slowly.
func (f *follower) missing(w io.Writer, n uint64) (err error) {
	switch f.format {
	case formatRaw:
	case formatText:
		_, err = fmt.Fprintf(w, "… %d entries dropped: the reader is too slow\n", n)
	default:
		_, err = fmt.Fprintf(w, "{\"missing\":%d}\n", n)
	}
	return err
}

// entry formats one entry.
func (f *follower) entry(e journal.Entry, body []byte) []byte {
	switch f.format {
	case formatText:
		return f.text(e, body)
	case formatRaw:
		if e.Kind > journal.Notification {
			return nil
		}
		body = bytes.TrimRight(oneLine(body), "\n")
		if f.tty {
			body = escaped(body)
		}
		return append(bytes.Clone(body), '\n')
	}
	line := journal.AppendLine(nil, e, body)
	if f.tty {
		line = escaped(line)
	}
	return line
}

// text formats an entry as one line. Of stderr lines and malformed frames it has the beginning.
func (f *follower) text(e journal.Entry, body []byte) []byte {
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
		if f.tty {
			w = safe.Line(w, 400)
		}
		b.WriteString(w + " ")
	}
	return append(oneLine([]byte(strings.TrimRight(b.String(), " "))), '\n')
}
