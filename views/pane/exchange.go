package pane

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/mcphud/mcphud/session/base/text"
	"github.com/mcphud/mcphud/session/wire/journal"
	"github.com/mcphud/mcphud/tui/safe"
)

// maxBlocks is how many frames of an exchange are shown below each other.
const maxBlocks = 100

// ExchangeBlocks are the frames of a request's exchange: its answer, the request, and then what else was said, in order.
func ExchangeBlocks(j *journal.Journal, e journal.Entry, whole Source) []Source {
	if !whole.Exchange {
		return nil
	}
	frames := slices.DeleteFunc(j.Frames(e.Seq), func(f journal.Entry) bool { _, ok := f.Annotation(); return ok || f.Kind == journal.Span })
	if len(frames) < 2 {
		return nil
	}
	rank := func(f journal.Entry) int {
		switch f.Seq {
		case e.Peer:
			return 0
		case e.Seq:
			return 1
		}
		return 2
	}
	slices.SortStableFunc(frames, func(a, b journal.Entry) int { return cmp.Compare(rank(a), rank(b)) })
	var out []Source
	for i, f := range frames {
		if i == maxBlocks {
			more := []byte(text.Count(len(frames)-i, "further frame"))
			return append(out, Source{Name: "more", title: "…", read: bytesOf(more)})
		}
		title := DirGlyph(f.Dir) + " " + KindWord(f.Kind) + " " + safe.Line(f.Method, 80) + " · " + f.Time.Format("15:04:05.000000") + " · " + text.Bytes(f.Size)
		src := Source{Name: fmt.Sprintf("frame-%d", f.Seq), title: title, None: safe.Line(f.Note, 2000), read: bodyOf(j, f.Seq)}
		if i == 0 && whole.Note != "" {
			src.Head = append(src.Head, whole.Note)
		}
		if f.Note != "" {
			src.Head = append(src.Head, safe.Line(f.Note, 400))
		}
		out = append(out, src)
	}
	return out
}

// bodyOf reads a body that is one of several: why it cannot be read takes its place.
func bodyOf(j *journal.Journal, seq uint64) func() ([]byte, error) {
	return func() ([]byte, error) {
		b, err := j.Body(seq)
		if err != nil {
			b = []byte("✗ " + err.Error())
		}
		return b, nil
	}
}
