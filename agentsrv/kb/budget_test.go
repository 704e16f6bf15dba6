package kb

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mcphud/mcphud/session/budget"
)

// 5,000 passages with the words of the corpus, in a vocabulary that also has thousands of words found in few of them.
func TestBudgetSearch(t *testing.T) {
	budget.Skip(t)
	r := rand.New(rand.NewPCG(1, 2))
	ix, err := openIndex(t.Context(), nil, "")
	if err != nil {
		t.Fatal(err)
	}
	words := corpusWords(t)
	k := open(t, Options{})
	k.ix = ix // Close closes it
	var files []file
	var chunks [][]chunk
	for i := range 500 {
		var cs []chunk
		for j := range 10 {
			var b strings.Builder
			for b.Len() < 1400 {
				at := int(float64(len(words)) * r.Float64() * r.Float64())
				b.WriteString(words[at] + " ")
				if r.IntN(8) == 0 {
					fmt.Fprintf(&b, "%c%c%cword%c%c ", 'a'+r.IntN(26), 'a'+r.IntN(26), 'a'+r.IntN(26), 'a'+r.IntN(26), 'a'+r.IntN(26))
				}
			}
			cs = append(cs, chunk{Heading: words[r.IntN(len(words))], Line: 1 + j, Last: 1 + j, Content: b.String()})
		}
		files = append(files, file{Path: fmt.Sprintf("f%d.md", i), Base: Documents, Title: words[r.IntN(len(words))], Hash: []byte{}})
		chunks = append(chunks, cs)
	}
	start := time.Now()
	if err := ix.put(t.Context(), 1, files, chunks); err != nil {
		t.Fatal(err)
	}
	if err := ix.vocabulary(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Logf("5,000 passages indexed in %v", time.Since(start))
	k.update(func(s *State) { s.Chunks = 5000 })
	queries := make([]string, 1000)
	for i := range queries {
		n := 1 + r.IntN(10)
		var q []string
		for range n {
			w := words[r.IntN(len(words))]
			if c := []rune(w); len(c) > 5 && r.IntN(4) == 0 { // mistyped
				at := 1 + r.IntN(len(c)-2)
				w = string(slices.Delete(c, at, at+1))
			}
			q = append(q, w)
		}
		queries[i] = strings.Join(q, " ")
	}
	queries[7], queries[77], queries[777] = strings.Join(words[:min(len(words), 160)], " "), mistyped(140), strings.Repeat(`"`, 1000)
	took := make([]time.Duration, len(queries)) // the best of five for each query: the rest is what else the machine does
	for round := range 5 {
		for i, q := range queries {
			d := budget.Time(func() { find(t, k, q, SearchOptions{Limit: 20}) })
			if round == 0 || d < took[i] {
				took[i] = d
			}
		}
	}
	slices.Sort(took)
	t.Logf("median %v, p99 %v, longest %v", took[500], took[990], took[999])
	budget.Ceiling(t, "search in 5,000 passages, p99", took[990], 20*time.Millisecond)
}

// corpusWords are the words of the corpus, the commonest first.
func corpusWords(t *testing.T) []string {
	t.Helper()
	k := open(t, Options{})
	find(t, k, "warm", SearchOptions{})
	rows, err := k.ix.db.QueryContext(t.Context(), `SELECT term FROM kb_vocab WHERE length(term) > 1 ORDER BY doc DESC, term`)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	var out []string
	for rows.Next() {
		var w string
		if err := rows.Scan(&w); err != nil {
			t.Fatal(err)
		}
		out = append(out, w)
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return out
}
