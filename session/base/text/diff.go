package text

import (
	"strings"

	"github.com/aymanbagabas/go-udiff"
)

// maxDiff is how many bytes of each side Diff looks at: a difference of two large texts that have little in common takes long.
const maxDiff = 128 << 10

// Diff is what changed from one text to another, as the hunks of a unified diff with three lines around each change, and how many
// lines were added and removed. Of texts longer than 128 KiB the beginnings are compared. "" where these are equal.
func Diff(before, after string) (hunks string, added, removed int) {
	before = clipForDiff(before)
	out, err := udiff.ToUnified("", "", before, udiff.Lines(before, clipForDiff(after)), 3)
	if err != nil { // the edits are of this text
		return "", 0, 0
	}
	// ToUnified begins with "--- " and "+++ ", of which nobody here needs to know.
	for range 2 { // the names of the files
		_, out, _ = strings.Cut(out, "\n")
	}
	for l := range strings.Lines(out) {
		switch l[0] {
		case '+':
			added++
		case '-':
			removed++
		}
	}
	return out, added, removed
}

// clipForDiff is the beginning of a text, whose last line ends.
func clipForDiff(s string) string {
	if s = Cut(s, maxDiff); s != "" && !strings.HasSuffix(s, "\n") {
		s += "\n"
	}
	return s
}
