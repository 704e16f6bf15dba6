package form

import (
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/colorprofile"

	"github.com/mcphud/mcphud/session/offer/schema"
	"github.com/mcphud/mcphud/session/test/budget"
	"github.com/mcphud/mcphud/themes"
	"github.com/mcphud/mcphud/tui/paint"
)

// perKey is what one of the keys costs on average, its frame included.
func perKey(f *Form, keys ...string) time.Duration {
	const rounds = 30
	return budget.Time(func() {
		for range rounds {
			for _, k := range keys {
				f.Key(key(k))
				f.Lines()
				f.Cursor()
			}
		}
	}) / time.Duration(rounds*len(keys))
}

func TestBudgetKey(t *testing.T) {
	budget.Skip(t)
	theme := paint.New(themes.Default(true), colorprofile.TrueColor)
	for _, c := range []struct {
		name  string
		sch   *schema.Schema
		focus string
	}{
		{"a form of 5,000 fields", manyFields(5_000), "/property_2500"},
		{"a form of 100 levels", levels(100), strings.Repeat("/next", 99) + "/v"},
		{"the gallery", gallery(t), "/name"},
	} {
		f := New(c.sch, theme)
		f.SetSize(200, 60)
		run(f)
		if !f.Focus(c.focus) {
			t.Fatal(c.focus)
		}
		budget.Ceiling(t, "key in "+c.name, budget.Best(func() time.Duration {
			return perKey(f, "a", "b", "backspace", "backspace", "up", "down", "c", "backspace")
		}), 2*time.Millisecond)
	}
}

func TestBudgetOpen(t *testing.T) {
	budget.Skip(t)
	theme := paint.New(themes.Default(true), colorprofile.TrueColor)
	raw := levels(100).Raw()
	budget.Ceiling(t, "a 100-level schema parsed and drawn as a form", budget.Best(func() time.Duration {
		return budget.Time(func() {
			f := New(schema.Parse(raw), theme)
			f.SetSize(200, 60)
			f.Lines()
		})
	}), 10*time.Millisecond)
}

func TestBudgetPushOpen(t *testing.T) {
	budget.Push(t)
	theme := paint.New(themes.Default(true), colorprofile.TrueColor)
	open := func(depth, times int) func() time.Duration {
		raw := levels(depth).Raw()
		return func() time.Duration {
			return budget.Time(func() {
				for range times {
					f := New(schema.Parse(raw), theme)
					f.SetSize(200, 60)
					f.Lines()
				}
			})
		}
	}
	best := budget.Alternate(open(10, 10), open(100, 1))
	budget.Ratio(t, "a 100-level schema parsed and drawn as a form, against ten times one of 10 levels", best[1], best[0], 1)
}
