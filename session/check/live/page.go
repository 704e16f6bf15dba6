package live

import (
	"cmp"
	"context"

	"github.com/mcphud/mcphud/session/traffic/export"
	"github.com/mcphud/mcphud/session/wire/journal"
)

const maxWhere = 20 // places of a finding that are listed

// PageFindings are the findings about those entries of a journal that are kept, all if that is nil, for [export.HTML].
func PageFindings(ctx context.Context, j *journal.Journal, kept func(seq uint64) bool) (out []export.Finding, err error) {
	list := NewList()
	if err := list.Update(ctx, j); err != nil {
		return nil, err
	}
	list.Finish()
	for _, g := range list.Report().Groups {
		f := export.Finding{Severity: Word(g.Rule.Severity), Rule: g.Rule.ID, Title: g.Rule.Title, Fix: g.Rule.Fix}
		n := 0
		for _, one := range g.Findings {
			if kept != nil && !kept(one.Seq) {
				continue
			}
			if n++; n <= maxWhere {
				f.Where = append(f.Where, one.Seq)
			}
			f.Section = cmp.Or(f.Section, one.Section())
		}
		// Count has more than Findings where there are more than maxListed. Whether the others are kept nobody knows: they count where all that
		// are known are.
		if n == len(g.Findings) {
			n = g.Count
		}
		if n > 0 {
			f.More = n - len(f.Where)
			out = append(out, f)
		}
	}
	return out, nil
}
