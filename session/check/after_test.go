package check_test

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/mcphud/mcphud/session/check"
	"github.com/mcphud/mcphud/session/test/require"
)

// last is a section that looks again when the others have run.
type last struct {
	section
	after func(context.Context, *check.Subject, *check.Recorder) error
}

func (l last) After(ctx context.Context, s *check.Subject, r *check.Recorder) error {
	return l.after(ctx, s, r)
}

// A section that is Afterwards looks again in the end, and keeps its place in the report.
func TestAfterwards(t *testing.T) {
	var order, ended []string
	run := func(name string) section {
		return section{name, func(context.Context, *check.Subject, *check.Recorder) error { order = append(order, name); return nil }}
	}
	at := check.Place{Kind: check.OfServer}
	s := &check.Subject{}
	rep, err := check.Run(t.Context(), s, []check.Section{
		last{run("one"), func(_ context.Context, s *check.Subject, r *check.Recorder) error {
			order = append(order, "after one")
			r.Add("one/rule", check.Finding{Place: at, Message: "seen"})
			r.Figures(check.Figures{Value: 1, Notes: []string{"looked"}})
			return nil
		}},
		run("two"),
		last{run("three"), func(context.Context, *check.Subject, *check.Recorder) error { return errors.New("no more") }},
	}, check.Tool{}, check.Watch{End: func(r check.SectionReport) { ended = append(ended, r.Name) }})
	require.NoError(t, err)
	if want := []string{"one", "two", "three", "after one"}; !slices.Equal(order, want) {
		t.Errorf("%q", order)
	}
	if want := []string{"server", "one", "two", "three", "one", "three"}; !slices.Equal(ended, want) {
		t.Errorf("%q", ended)
	}
	if got := ids(rep); !slices.Equal(got, []string{"server/section-failed server", "one/rule server"}) {
		t.Errorf("%q", got)
	}
	one, three := rep.Sections[1], rep.Sections[3]
	if one.Counts.Warning != 1 || len(one.Notes) != 1 || string(one.Figures) != "1" || three.Error != "no more" || !slices.Equal(s.Sections, []string{"one", "two", "three"}) {
		t.Errorf("%+v %+v %q", one, three, s.Sections)
	}
}
