package widget

import (
	"context"
	"unicode/utf8"

	"github.com/mcphud/mcphud/session/base/text"
)

// findChunk is how far a search goes between two looks at its context.
const findChunk = 1 << 20

// Find returns the range of the first occurrence of what in data that begins at from or later, or with back the last
// that begins before from; -1, -1 if there is none. Case counts only if what has a capital. Call it where it may take
// its time: 50 MB take some 50 ms.
func Find(ctx context.Context, data []byte, what string, from int, back bool) (start, end int, err error) {
	if what == "" {
		return -1, -1, nil
	}
	f := finder{text.NewNeedle(what)}
	if back {
		return f.back(ctx, data, min(from, len(data)))
	}
	for from = max(from, 0); from < len(data); from += findChunk {
		if err := ctx.Err(); err != nil {
			return -1, -1, err
		}
		// A match may reach into the next chunk: case folding changes lengths, by less than this.
		limit := min(from+findChunk+len(what)*utf8.UTFMax, len(data))
		if s, e := f.first(data[from:limit]); s >= 0 && s < findChunk {
			return from + s, from + e, nil
		}
	}
	return -1, -1, nil
}

// FindIn is [Find] in several texts, with offsets as if they followed each other: those of [Pager.Texts].
func FindIn(ctx context.Context, texts [][]byte, text string, from int, back bool) (start, end int, err error) {
	total := 0
	for _, t := range texts {
		total += len(t)
	}
	base, step, i := 0, 1, 0
	if back {
		base, step, i = total, -1, len(texts)-1
	}
	for ; i >= 0 && i < len(texts); i += step {
		if back {
			base -= len(texts[i])
		}
		start, end, err = Find(ctx, texts[i], text, from-base, back)
		if err != nil || start >= 0 {
			return base + start, base + end, err
		}
		if !back {
			base += len(texts[i])
		}
	}
	return -1, -1, nil
}

// FindAll returns where the first occurrences of text begin, at most most of them.
func FindAll(ctx context.Context, texts [][]byte, text string, most int) (starts []int, err error) {
	for from := 0; len(starts) < most; {
		start, end, err := FindIn(ctx, texts, text, from, false)
		if err != nil || start < 0 {
			return starts, err
		}
		starts = append(starts, start)
		from = end
	}
	return starts, nil
}

// A finder looks for a needle with both of its ends in view.
type finder struct {
	text.Needle
}

// first finds the first match that lies in data.
func (f finder) first(data []byte) (start, end int) { return f.IndexBytes(data, 0) }

// back finds the last match that begins before from, a chunk at a time.
func (f finder) back(ctx context.Context, data []byte, from int) (start, end int, err error) {
	for from > 0 {
		if err := ctx.Err(); err != nil {
			return -1, -1, err
		}
		lo := max(from-findChunk, 0)
		limit := min(from+len(f.Text())*utf8.UTFMax, len(data))
		start, end = -1, -1
		for at := lo; at < from; {
			s, e := f.first(data[at:limit])
			if s < 0 || at+s >= from {
				break
			}
			start, end = at+s, at+e
			at = start + 1
		}
		if start >= 0 {
			return start, end, nil
		}
		from = lo
	}
	return -1, -1, nil
}
