package pane

import (
	"errors"

	"github.com/mcphud/mcphud/session/journal/filter"
	"github.com/mcphud/mcphud/tui"
)

func (f *Feed) language(c *tui.Ctx) filter.Options {
	if f.Language == nil {
		return filter.Options{}
	}
	return f.Language(c)
}

// CheckFilter says what is wrong with a text as a filter of the list.
func (v *JournalList) CheckFilter(c *tui.Ctx, text string) *tui.FilterError {
	if c.Focus != "list" {
		return nil
	}
	_, err := v.Feed.language(c).Parse(text)
	var bad *filter.SyntaxError
	if errors.As(err, &bad) {
		return &tui.FilterError{At: bad.Col - 1, Why: bad.Message, Valid: text[:bad.Valid]}
	}
	return nil
}

// CompleteFilter completes keys, and values of the journal.
func (v *JournalList) CompleteFilter(c *tui.Ctx, text string, cursor int) []tui.Completion {
	if c.Focus != "list" {
		return nil
	}
	v.Feed.known.Update(c.Sessions.Journal())
	found := v.Feed.known.Complete(text, cursor)
	out := make([]tui.Completion, len(found))
	for i, x := range found {
		out[i] = tui.Completion(x)
	}
	return out
}

// Typed is the filter of the list.
func (f *Feed) Typed() string { return f.typed }
