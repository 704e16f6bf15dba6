package pane

import (
	"context"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/mcphud/mcphud/session/offer"
	"github.com/mcphud/mcphud/session/traffic/calls"
	"github.com/mcphud/mcphud/session/traffic/expect"
	"github.com/mcphud/mcphud/tui"
)

// expectAnswer asks what the answer of a call that is saved has to be; stale is why it cannot be the one that there is.
func expectAnswer(c *tui.Ctx, stale string, save func(*tui.Ctx, *expect.Snapshot) tea.Cmd) tea.Cmd {
	return c.Pick("Expected answer", []tui.Option{
		{Title: "any answer but an error", Help: "more can be written into the file", Run: func(c *tui.Ctx) tea.Cmd { return save(c, nil) }},
		{Title: "exactly this result", Help: "kept in a file beside the call", Disabled: stale, Run: func(c *tui.Ctx) tea.Cmd { return save(c, &expect.Snapshot{}) }},
		{Title: "this result, except for some places", Help: "such as times and ids", Disabled: stale, Run: func(c *tui.Ctx) tea.Cmd { return exceptPlaces(c, save) }},
	})
}

// exceptPlaces asks which places of a result do not count.
func exceptPlaces(c *tui.Ctx, save func(*tui.Ctx, *expect.Snapshot) tea.Cmd) tea.Cmd {
	return c.Ask(tui.Question{
		Label: "ignore, as /a/b .c[].d", Check: func(text string) string {
			if _, err := ignoring(text); err != nil {
				return err.Error()
			}
			return ""
		},
		OnDone: func(c *tui.Ctx, text string) tea.Cmd {
			s, err := ignoring(text)
			if err != nil {
				return c.Toast(tui.Failure, err.Error())
			}
			return save(c, s)
		},
	})
}

// ignoring is a snapshot without the places of a text: JSON pointers, and jq expressions without blanks.
func ignoring(text string) (*expect.Snapshot, error) {
	s := &expect.Snapshot{}
	for _, place := range strings.Fields(text) {
		if err := s.Ignore(place); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// writeCall writes the file of a call, and where it expects a snapshot what the answer was.
func writeCall(ctx context.Context, call calls.Call, a CallAnswer) error {
	if call.Expect.Snapshot == nil {
		return calls.Write(call)
	}
	result, err := a.Result(ctx)
	if err != nil {
		return err
	}
	if is := offer.IsError(result); is { // which it has to be again
		call.Expect.IsError = &is
	}
	if err := calls.Write(call); err != nil {
		return err
	}
	f, _, err := calls.Read(call.File) // which says where the snapshot is
	if err != nil {
		return err
	}
	_, err = f.Calls[0].Expect.Snapshot.Update(ctx, result)
	return err
}
