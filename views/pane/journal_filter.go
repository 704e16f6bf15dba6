package pane

import (
	"errors"

	"github.com/mcphud/mcphud/session/traffic/filter"
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
	return FilterError(v.Feed.language(c), text)
}

// FilterError says what is wrong with a text as a filter; nil if nothing.
func FilterError(o filter.Options, text string) *tui.FilterError {
	_, err := o.Parse(text)
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
	return Completions(&v.Feed.known, c, text, cursor)
}

// Completions are what a filter can become by the values that the journal has.
func Completions(known *filter.Seen, c *tui.Ctx, text string, cursor int) (out []tui.Completion) {
	known.Update(c.Sessions.Journal())
	for _, x := range known.Complete(text, cursor) {
		out = append(out, tui.Completion(x))
	}
	return out
}

// Typed is the filter of the list.
func (f *Feed) Typed() string { return f.typed }
