package pane

import (
	"fmt"

	"github.com/mcphud/mcphud/session/base/jsonrpc"
	"github.com/mcphud/mcphud/session/base/text"
	"github.com/mcphud/mcphud/session/offer"
	"github.com/mcphud/mcphud/tui/safe"
)

// skill is the front matter of a skill's entry, and its files, of which nothing was read.
func (l *Details) skill(it offer.Item) {
	if len(it.Raw) > maxInWords {
		l.note("An entry of " + text.Bytes(len(it.Raw)) + ": press m for the raw entry.")
		return
	}
	s, _ := offer.ParseSkill(it.Raw) // what is wrong with it stands above
	_ = jsonrpc.Members(s.FrontMatter, func(key string, value []byte) bool {
		if key != "name" && key != "description" {
			l.Row(safe.Line(key, labelWidth-1), PlainValue(value))
		}
		return len(l.Lines) < maxDefinition
	})
	if s.Dynamic {
		l.heading("! Dynamic")
		l.note("The server makes the files when they are read: there is no digest to verify them by.")
		return
	}
	l.heading(fmt.Sprintf("%s · %s · not read yet", text.Count(len(s.Files), "file"), text.Bytes(s.Size())))
	for _, f := range s.Files {
		l.Lines = append(l.Lines, "  "+safe.Line(f.Path, 300)+" "+l.th.Muted.S(text.Bytes(f.Size)))
	}
}
