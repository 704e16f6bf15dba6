package widget

import (
	"bytes"
	"sort"
)

// lineStep is how many lines share one entry of the line index: an index of
// 50 MB of empty lines is then smaller than the text, not four times as large.
const lineStep = 64

// lines finds lines in a text without copying it.
type lines struct {
	data  []byte
	marks []int // offset of line 0, lineStep, 2*lineStep …
	n     int   // number of lines; a final line feed begins none
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
		i := bytes.IndexByte(data[off:], '\n')
		if i < 0 {
			off = len(data)
		} else {
			off += i + 1
		}
	}
	return ix
}

// line returns where line i begins and ends, without its line feed.
func (ix *lines) line(i int) (start, end int) {
	start = ix.marks[i/lineStep]
	for range i % lineStep {
		start += bytes.IndexByte(ix.data[start:], '\n') + 1
	}
	if k := bytes.IndexByte(ix.data[start:], '\n'); k >= 0 {
		return start, start + k
	}
	return start, len(ix.data)
}

// at returns the line that holds an offset.
func (ix *lines) at(off int) int {
	if ix.n == 0 {
		return 0
	}
	m := sort.SearchInts(ix.marks, off+1) - 1
	i, start := m*lineStep, ix.marks[m]
	for {
		k := bytes.IndexByte(ix.data[start:], '\n')
		if k < 0 || start+k >= off {
			return i
		}
		start += k + 1
		if start >= len(ix.data) {
			return i
		}
		i++
	}
}
