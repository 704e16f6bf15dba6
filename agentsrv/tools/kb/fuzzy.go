package kb

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/mcphud/mcphud/session/base/store"
	"github.com/mcphud/mcphud/session/base/text"
)

const (
	minFuzzy = 4 // letters of a word that may be mistyped
	maxFuzzy = 24

	maxMatches = 3    // words that a mistyped one may stand for
	triSample  = 40   // words that share most trigrams with it, of which the distance is taken
	triWords   = 1500 // words with one of its trigrams that are looked at, at most; the commonest trigrams are left out
)

// similarWords are the words of the vocabulary that words nobody wrote may be typing errors of: of those that share most
// trigrams with one the nearest, at most one edit away or, for a long word, two.
func (ix *index) similarWords(ctx context.Context, words []string) ([][]string, error) {
	out := make([]*typo, len(words))
	for i, w := range words {
		if out[i] = newTypo(strings.ToLower(w)); out[i] == nil {
			continue
		}
		if err := ix.findSimilar(ctx, out[i]); err != nil {
			return nil, fmt.Errorf("look for words like %q: %w", w, err)
		}
	}
	return matchesOf(out), nil
}

func (ix *index) findSimilar(ctx context.Context, a *typo) error {
	match, err := ix.trigrams(ctx, "_"+string(a.word)+"_")
	if err != nil || match == "" {
		return err
	}
	rows, err := ix.similar.QueryContext(ctx, match, triSample)
	all, err := store.Collect(rows, err, func(r *sql.Rows) (w string, err error) { return w, r.Scan(&w) })
	for _, w := range all {
		a.consider(strings.Trim(w, "_"))
	}
	return err
}

// typo is a word of a query that no passage has, with the words of the vocabulary that are nearest to it.
type typo struct {
	word    []rune
	best    int // edits that the nearest so far are away, at first those that one may be
	matches []string
}

// newTypo returns nil for a word that is too short, or too long, to be looked for.
func newTypo(word string) *typo {
	a := &typo{word: []rune(word), best: 1}
	switch n := len(a.word); {
	case n < minFuzzy || n > maxFuzzy:
		return nil
	case n >= 6:
		a.best = 2
	}
	return a
}

func (a *typo) consider(word string) {
	d := text.EditsWithin(a.word, []rune(word), a.best)
	if d > a.best {
		return
	}
	if d < a.best { // only the nearest count
		a.matches, a.best = a.matches[:0], d
	}
	if len(a.matches) < maxMatches {
		a.matches = append(a.matches, word)
	}
}

func matchesOf(all []*typo) [][]string {
	out := make([][]string, len(all))
	for i, a := range all {
		if a != nil {
			out[i] = a.matches
		}
	}
	return out
}

// trigrams is the FTS5 query for words that share three characters in a row with w, "" if none does.
func (ix *index) trigrams(ctx context.Context, w string) (string, error) {
	type gram struct {
		text  string
		words int
	}
	var grams []gram
	r := []rune(w)
	for i := 0; i+3 <= len(r); i++ {
		g := gram{text: string(r[i : i+3])}
		err := ix.gram.QueryRowContext(ctx, g.text).Scan(&g.words)
		if errors.Is(err, sql.ErrNoRows) {
			continue
		}
		if err != nil {
			return "", fmt.Errorf("knowledge base: look up %q: %w", g.text, err)
		}
		grams = append(grams, g)
	}
	slices.SortStableFunc(grams, func(a, b gram) int { return cmp.Compare(a.words, b.words) })
	var match []string
	sum := 0
	for _, g := range grams {
		if sum += g.words; sum > triWords && len(match) > 0 {
			break
		}
		match = append(match, `"`+g.text+`"`)
	}
	return strings.Join(match, " OR "), nil
}
