package pane

import (
	"cmp"
	"context"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/mcphud/mcphud/session/config"
	"github.com/mcphud/mcphud/tui"
	"github.com/mcphud/mcphud/tui/safe"
)

// EntrySlot is that of copying an entry.
const EntrySlot = "copy entry"

// EntryText is a server as an entry of the usual shape, as far as it is known here.
func EntryText(s config.Server) string {
	b, _, err := config.Encode("claude-code", s.Masked())
	if err != nil {
		return ""
	}
	return string(b)
}

// copiedEntry is an entry in the shape of a dialect.
type copiedEntry struct {
	shape, text string
	lost        []string
}

// CopyEntry copies a server's entry in the shape of a dialect: as its file has it, variables included, with the secrets that
// stand there masked.
func CopyEntry(c *tui.Ctx, view string, where config.Options, s config.Server, shape string) tea.Cmd {
	cmd, _ := c.Replace(view, EntrySlot, "copy the entry", func(context.Context) (any, error) {
		entry := s.Masked()
		if s.Source.File != "" {
			if written, err := where.Entry(s.Source, cmp.Or(s.Given, s.Name)); err == nil {
				entry = written
			}
		}
		b, lost, err := config.Encode(shape, entry)
		if err != nil {
			return nil, err
		}
		return copiedEntry{shape, config.MaskFile(b, []config.Server{entry}), lost}, nil
	})
	return cmd
}

// CopiedAs puts the entry into the clipboard, and says what its shape cannot hold.
func CopiedAs(c *tui.Ctx, m tui.OpDone) tea.Cmd {
	if m.Err != nil {
		return c.Toast(tui.Failure, m.Err.Error())
	}
	e := m.Value.(copiedEntry)
	done := c.Copy("entry for "+config.ProgramOf(e.shape), e.text)
	if len(e.lost) == 0 {
		return done
	}
	return tea.Sequence(done, c.Toast(tui.Warning, "left out: "+safe.Line(strings.Join(e.lost, "; "), 300)))
}
