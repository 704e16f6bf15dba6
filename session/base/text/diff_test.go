package text_test

import (
	"strings"
	"testing"
	"time"

	"github.com/mcphud/mcphud/session/base/text"
)

func TestDiff(t *testing.T) {
	for _, c := range []struct {
		before, after, want string
		added, removed      int
	}{
		{"a\nb", "a\nb", "", 0, 0},
		{"a\nb\n", "a\nb", "", 0, 0},
		{"", "x", "@@ -0,0 +1 @@\n+x\n", 1, 0},
		{"a\nb\nc", "a\n-- b\nc", "@@ -1,3 +1,3 @@\n a\n-b\n+-- b\n c\n", 1, 1},
		{"1\n2\n3\n4\n5\n6\n7\n8\n9", "1\n2\n3\n4\n5\n6\n7\n8", "@@ -6,4 +6,3 @@\n 6\n 7\n 8\n-9\n", 0, 1},
	} {
		if got, added, removed := text.Diff(c.before, c.after); got != c.want || added != c.added || removed != c.removed {
			t.Errorf("%q to %q: %q, +%d -%d", c.before, c.after, got, added, removed)
		}
	}
}

// Two large texts that have nothing in common take no longer than somebody would wait.
func TestDiffOfLargeTexts(t *testing.T) {
	start := time.Now()
	hunks, added, _ := text.Diff(strings.Repeat("a\nb\nc\n", 1<<20), strings.Repeat("x\ny\n\xff\n", 1<<20))
	if took := time.Since(start); took > 20*time.Second || added == 0 || len(hunks) > 1<<20 {
		t.Errorf("%v, %d lines, %d bytes", took, added, len(hunks))
	}
}
