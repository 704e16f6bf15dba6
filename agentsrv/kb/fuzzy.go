package kb

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"
)

const (
	maxAlike  = 3    // words that a mistyped one may stand for
	triSample = 40   // words that share most trigrams with it, of which the distance is taken
	triWords  = 1500 // words with one of its trigrams that are looked at, at most; the commonest trigrams are left out
)

// alikes are the words of the vocabulary that a word nobody wrote may be a typing error of: of those that share most
// trigrams with it the nearest, at most one edit away or, for a long word, two.
func (ix *index) alikes(ctx context.Context, word string) (near []string, err error) {
	runes := []rune(strings.ToLower(word))
	if len(runes) < 4 || len(runes) > 24 {
		return nil, nil
	}
	best := 1
	if len(runes) >= 6 {
		best = 2
	}
	match, err := ix.trigrams(ctx, "_"+string(runes)+"_")
	if err != nil || match == "" {
		return nil, err
	}
	rows, err := ix.alike.QueryContext(ctx, match, triSample)
	if err != nil {
		return nil, fmt.Errorf("knowledge base: look for words like %q: %w", word, err)
	}
	defer rows.Close()
	for rows.Next() {
		var t string
		if err := rows.Scan(&t); err != nil {
			return nil, fmt.Errorf("knowledge base: read words like %q: %w", word, err)
		}
		t = strings.Trim(t, "_")
		d := edits(runes, []rune(t), best)
		if d > best {
			continue
		}
		if d < best { // only the nearest count
			near, best = near[:0], d
		}
		if len(near) < maxAlike {
			near = append(near, t)
		}
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("knowledge base: read words like %q: %w", word, err)
	}
	return near, nil
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

// edits is the number of characters to insert, delete, replace or swap with their neighbour to make b of a, or limit+1
// if it is more than limit.
func edits(a, b []rune, limit int) int {
	if len(a)-len(b) > limit || len(b)-len(a) > limit {
		return limit + 1
	}
	before, last, row := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range last {
		last[j] = j
	}
	for i := 1; i <= len(a); i++ {
		row[0] = i
		least := i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			d := min(last[j]+1, row[j-1]+1, last[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				d = min(d, before[j-2]+1)
			}
			row[j] = d
			least = min(least, d)
		}
		if least > limit {
			return limit + 1
		}
		before, last, row = last, row, before
	}
	return min(last[len(b)], limit+1)
}
