package kb

import (
	"cmp"
	"math"
	"slices"
	"strings"
)

const (
	// A word's share grows with how often a passage has it, towards 1, and never gets there: the saturation k1 of BM25
	// at its usual value, for passages that are all about equally long.
	saturation = 1.2
	inHeading  = 2.5 // times a word in a heading counts as in the text
	nearby     = 0.2 // of the score is for words of the query that stand side by side
)

// rank scores the candidates between 0 and 1 and sorts them. FTS5's own figure orders passages of one query but has no
// scale; here 1 would be a passage that has each word of the query often.
func rank(found []candidate, terms []term) {
	which := map[string]pick{}
	var all float64
	for i, t := range terms {
		all += t.weight
		for _, a := range t.alts {
			if p, ok := which[a.text]; !ok || p.like < a.like {
				which[a.text] = pick{i, a.like}
			}
		}
	}
	for i := range found {
		found[i].score = math.Round(score(&found[i], terms, which, all)*1e4) / 1e4
	}
	slices.SortStableFunc(found, func(a, b candidate) int {
		return cmp.Or(cmp.Compare(b.score, a.score), strings.Compare(a.path, b.path), cmp.Compare(a.id, b.id))
	})
}

// pick says which word of the query a term of the text is, and how alike.
type pick struct {
	i    int
	like float64
}

func score(c *candidate, terms []term, which map[string]pick, all float64) float64 {
	count := make([]float64, len(terms))
	pairs := map[[2]int]bool{}
	last, gap := -1, 0
	tally := func(text string, by float64) {
		last = -1
		eachTerm(text, func(t string, _, _ int) bool {
			p, ok := which[t]
			if !ok {
				if gap++; gap > 2 {
					last = -1
				}
				return true
			}
			count[p.i] += by * p.like
			if last >= 0 && last != p.i {
				pairs[[2]int{min(last, p.i), max(last, p.i)}] = true
			}
			last, gap = p.i, 0
			return true
		})
	}
	tally(c.title+" "+c.chunk.Heading, inHeading)
	tally(c.chunk.Content, 1)
	var got float64
	for i, n := range count {
		got += terms[i].weight * n / (n + saturation)
	}
	s := got / all
	if len(terms) > 1 {
		near := min(float64(len(pairs))/float64(len(terms)-1), 1)
		s = (1-nearby)*s + nearby*near*s
	}
	return min(max(s, 0), 1)
}
