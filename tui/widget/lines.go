package widget

import (
	"bytes"
	"sort"
	"unicode/utf8"
)

// lineStep is how many lines share one entry of the line index: an index of
// 50 MB of empty lines is then smaller than the text, not four times as large.
const lineStep = 64

// drawCap is how many bytes of a line are shown as one: what is longer goes on in further lines, so that a row costs the
// same wherever it is in the text.
const drawCap = 4 << 10

// lines finds lines in a text without copying it.
type lines struct {
	data  []byte
	marks []int // offset of line 0, lineStep, 2*lineStep …
	n     int   // number of lines; a final line feed begins none
}

// next returns where the line that begins at off ends, without its line feed, and where the one after it begins.
func (ix *lines) next(off int) (end, next int) {
	rest := ix.data[off:]
	if k := bytes.IndexByte(rest[:min(len(rest), drawCap+1)], '\n'); k >= 0 {
		return off + k, off + k + 1
	}
	if len(rest) <= drawCap {
		return len(ix.data), len(ix.data)
	}
	cut := runeStart(rest, drawCap)
	if k := bytes.LastIndexAny(rest[cut-drawCap/8:cut], " ,"); k >= 0 {
		cut += k + 1 - drawCap/8
	}
	return off + cut, off + cut
}

// runeStart returns i, or where the UTF-8 character that holds byte i begins.
func runeStart(b []byte, i int) int {
	for k := i; k > max(i-utf8.UTFMax, 0); k-- {
		if utf8.RuneStart(b[k]) {
			return k
		}
	}
	return i
}

// Lines is a text whose lines were found, for a [Pager]. It keeps the text's
// bytes and an index that is small beside them.
type Lines struct{ lines lines }

// NewLines finds the lines of data, beside the event loop if data may be large: it takes a millisecond per MB.
func NewLines(data []byte) *Lines { return &Lines{indexLines(data)} }

// indexLines finds every line of data: 10 MB in some 10 ms.
func indexLines(data []byte) lines {
	ix := lines{data: data}
	for off := 0; off < len(data); ix.n++ {
		if ix.n%lineStep == 0 {
			ix.marks = append(ix.marks, off)
		}
		_, off = ix.next(off)
	}
	return ix
}

// line returns where line i begins and ends, without its line feed.
func (ix *lines) line(i int) (start, end int) {
	start = ix.marks[i/lineStep]
	for range i % lineStep {
		_, start = ix.next(start)
	}
	end, _ = ix.next(start)
	return start, end
}

// at returns the line that holds an offset.
func (ix *lines) at(off int) int {
	if ix.n == 0 {
		return 0
	}
	m := sort.SearchInts(ix.marks, off+1) - 1
	i, start := m*lineStep, ix.marks[m]
	for {
		_, next := ix.next(start)
		if next > off || next >= len(ix.data) {
			return i
		}
		start = next
		i++
	}
}
