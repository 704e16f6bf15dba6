package kb

import (
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mcphud/mcphud/session/test/budget"
	"github.com/mcphud/mcphud/session/test/require"
)

// The queries are what people type, in other words than the headings of the passages that answer them.
func TestT3_RecallOfTheCorpus(t *testing.T) {
	k := open(t, Options{})
	raw, err := os.ReadFile("testdata/queries.tsv")
	require.NoError(t, err)
	var n, first, five int
	for l := range strings.Lines(string(raw)) {
		query, want, ok := strings.Cut(strings.TrimSpace(l), "\t")
		if !ok {
			t.Fatalf("no tab in %q", l)
		}
		n++
		var got []string
		at := -1
		for i, h := range find(t, k, query, SearchOptions{Limit: 5}) {
			_, section, _ := strings.Cut(h.Title, " › ")
			got = append(got, section)
			if at < 0 && slices.Contains(strings.Split(want, "|"), section) {
				at = i
			}
		}
		if at >= 0 {
			five++
		}
		if at == 0 {
			first++
		}
		if at != 0 {
			t.Logf("%d %q: %q, want %q", at, query, got, want)
		}
	}
	t.Logf("%d queries: %d answered first, %d among five", n, first, five)
	if n < 30 || float64(five) < 0.9*float64(n) || float64(first) < 0.6*float64(n) {
		t.Errorf("of %d queries %d are answered by the first hit and %d by the first five; at least 60 %% and 90 %% should", n, first, five)
	}
}

func TestCorpusIsWorthSearching(t *testing.T) {
	k := open(t, Options{})
	find(t, k, "warm", SearchOptions{})
	if s := k.State(); s.Chunks < 200 || !s.Ready {
		t.Errorf("%+v, want 200 passages", s)
	}
	rows, err := k.ix.db.QueryContext(t.Context(), `SELECT d.path, c.line, c.heading, c.content FROM kb_chunk c JOIN kb_file d ON d.id = c.file`)
	require.NoError(t, err)
	defer rows.Close()
	paragraphs, headings, sentences := map[string]string{}, map[string]string{}, map[string]string{}
	seen := func(m map[string]string, what, where string) {
		if was, ok := m[what]; ok {
			t.Errorf("%s and %s say the same: %.80s", was, where, what)
		}
		m[what] = where
	}
	for rows.Next() {
		var path, heading, content string
		var line int
		require.NoError(t, rows.Scan(&path, &line, &heading, &content))
		where := sourceURI(path, line, 0)
		if len(content) < 400 {
			t.Errorf("%s has %d bytes only", where, len(content))
		}
		seen(headings, heading, where)
		for p := range strings.SplitSeq(content, "\n\n") {
			if strings.HasPrefix(p, "#") {
				continue
			}
			seen(paragraphs, p, where)
			for s := range strings.SplitSeq(p, ". ") {
				if len(s) > 60 {
					seen(sentences, s, where)
				}
			}
		}
		if strings.Contains(strings.ToLower(content), "vector") && !strings.Contains(content, "search.vector") {
			t.Errorf("%s speaks of vectors", where)
		}
	}
	require.NoError(t, rows.Err())
}

func TestBudgetCorpus(t *testing.T) {
	budget.Skip(t)
	best := budget.Best(func() (d time.Duration) {
		k := open(t, Options{})
		return budget.Time(func() { find(t, k, "how does a client cancel a call", SearchOptions{}) })
	})
	budget.Ceiling(t, "embedded knowledge base loaded by the first search", best, 300*time.Millisecond)
}
