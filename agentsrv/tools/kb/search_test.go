package kb

import (
	"strings"
	"testing"
)

func TestSearchForgivesTypingErrors(t *testing.T) {
	k := open(t, Options{})
	for _, q := range []string{"next curser", "opaqe string", "nextcursr", "pagse skipp"} {
		hits := find(t, k, q, SearchOptions{})
		if len(hits) == 0 || !strings.Contains(hits[0].Content, "nextCursor") {
			t.Errorf("%q found %+v", q, hits)
		}
	}
}
