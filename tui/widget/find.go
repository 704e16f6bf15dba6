package widget

import (
	"bytes"
	"context"
	"unicode"
	"unicode/utf8"
)

// findChunk is how far a search goes between two looks at its context.
const findChunk = 1 << 20

// Find returns the range of the first occurrence of text in data that begins at from or later, or with back the last
// that begins before from; -1, -1 if there is none. Case counts only if text has a capital. Call it where it may take
// its time: 50 MB take some 50 ms.
func Find(ctx context.Context, data []byte, text string, from int, back bool) (start, end int, err error) {
	if text == "" {
		return -1, -1, nil
	}
	f := newFinder(text)
	if back {
		return f.back(ctx, data, min(from, len(data)))
	}
	for from = max(from, 0); from < len(data); from += findChunk {
		if err := ctx.Err(); err != nil {
			return -1, -1, err
		}
		// A match may reach into the next chunk: case folding changes lengths, by less than this.
		limit := min(from+findChunk+len(text)*utf8.UTFMax, len(data))
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

type finder struct {
	text []byte
	fold bool
	a, b byte // first byte in lower and upper case, if it is ASCII
}

func newFinder(text string) finder {
	f := finder{text: []byte(text), fold: true}
	for _, r := range text {
		if unicode.IsUpper(r) {
			f.fold = false
		}
	}
	f.a = text[0]
	f.b = f.a
	if f.a >= 'a' && f.a <= 'z' {
		f.b -= 'a' - 'A'
	}
	return f
}

// first finds the first match that lies in data.
func (f *finder) first(data []byte) (start, end int) {
	if !f.fold {
		if i := bytes.Index(data, f.text); i >= 0 {
			return i, i + len(f.text)
		}
		return -1, -1
	}
	if f.a >= utf8.RuneSelf {
		for i := 0; i < len(data); {
			if n := foldPrefixBytes(data[i:], f.text); n > 0 {
				return i, i + n
			}
			_, n := utf8.DecodeRune(data[i:])
			i += n
		}
		return -1, -1
	}
	// Where each case of the first byte comes next; each is looked for again
	// only once it was passed, so rare letters cost one scan.
	nextA, nextB := -1, -1
	if f.a == f.b {
		nextB = len(data)
	}
	for i := 0; i < len(data); {
		if nextA < i {
			nextA = indexFrom(data, f.a, i)
		}
		if nextB < i {
			nextB = indexFrom(data, f.b, i)
		}
		i = min(nextA, nextB)
		if i >= len(data) {
			break
		}
		if n := foldPrefixBytes(data[i:], f.text); n > 0 {
			return i, i + n
		}
		i++
	}
	return -1, -1
}

func indexFrom(data []byte, c byte, from int) int {
	if i := bytes.IndexByte(data[from:], c); i >= 0 {
		return from + i
	}
	return len(data)
}

// foldPrefixBytes is foldPrefix for bytes.
func foldPrefixBytes(s, sub []byte) int {
	i := 0
	for k := 0; k < len(sub); {
		if i >= len(s) {
			return 0
		}
		if sub[k] < utf8.RuneSelf && s[i] < utf8.RuneSelf {
			c := s[i]
			if c >= 'A' && c <= 'Z' {
				c += 'a' - 'A'
			}
			if c != sub[k] {
				return 0
			}
			i++
			k++
			continue
		}
		r, n := utf8.DecodeRune(sub[k:])
		c, m := utf8.DecodeRune(s[i:])
		if unicode.ToLower(c) != r {
			return 0
		}
		i += m
		k += n
	}
	return i
}

// back finds the last match that begins before from, a chunk at a time.
func (f *finder) back(ctx context.Context, data []byte, from int) (start, end int, err error) {
	for from > 0 {
		if err := ctx.Err(); err != nil {
			return -1, -1, err
		}
		lo := max(from-findChunk, 0)
		limit := min(from+len(f.text)*utf8.UTFMax, len(data))
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
