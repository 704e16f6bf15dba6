package stats_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/mcphud/mcphud/session/test/budget"
	"github.com/mcphud/mcphud/session/traffic/stats"
	"github.com/mcphud/mcphud/session/wire/journal"
)

func TestBudgetStats(t *testing.T) {
	budget.Skip(t)
	const frames = 1_000_000
	s := newScript(t, journal.Options{Entries: frames})
	for i := range frames / 2 {
		s.call(time.Duration(i)*time.Millisecond, time.Duration(i%400)*time.Millisecond+1, fmt.Sprint("s", i%3), fmt.Sprint("tool", i%50), fmt.Sprint(i), i%10 > 0)
	}
	budget.Ceiling(t, "1,000,000 frames counted by tool", budget.Best(func() time.Duration {
		return budget.Time(func() { (&stats.Numbers{}).Update(t.Context(), s.Journal) })
	}), 600*time.Millisecond)
	var l stats.Lanes
	budget.Ceiling(t, "1,000,000 frames laid out in lanes", budget.Time(func() { l.Update(t.Context(), s.Journal) }), 600*time.Millisecond)
	from, to := l.Range()
	w := stats.Window{From: from, To: to, Columns: 150, Now: to}
	budget.Ceiling(t, "the lanes of 1,000,000 frames in a window", budget.Best(func() time.Duration {
		return budget.Time(func() {
			for _, lane := range l.All() {
				lane.View(w, 8)
			}
		})
	}), 2*time.Millisecond)
}
