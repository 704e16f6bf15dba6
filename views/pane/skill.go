package pane

import (
	"fmt"

	"github.com/mcphud/mcphud/session/base/jsonrpc"
	"github.com/mcphud/mcphud/session/base/text"
	"github.com/mcphud/mcphud/session/offer"
	"github.com/mcphud/mcphud/tui/page"
	"github.com/mcphud/mcphud/tui/safe"
)

// skill is the front matter of a skill's entry, and its files, of which nothing was read.
func skill(p *page.Page, it offer.Item) {
	if len(it.Raw) > maxInWords {
		p.Note("An entry of " + text.Bytes(len(it.Raw)) + ": press m for the raw entry.")
		return
	}
	s, _ := offer.ParseSkill(it.Raw) // what is wrong with it stands above
	n := 0
	_ = jsonrpc.Members(s.FrontMatter, func(key string, value []byte) bool {
		if n++; key != "name" && key != "description" {
			member(p, key, PlainValue(value))
		}
		return n < maxDefinition
	})
	if s.Dynamic {
		p.Heading("! Dynamic")
		p.Note("The server makes the files when they are read: there is no digest to verify them by.")
		return
	}
	p.Heading(fmt.Sprintf("%s · %s · not read yet", text.Count(len(s.Files), "file"), text.Bytes(s.Size())))
	for _, f := range s.Files {
		p.Item(page.Text{S: " "}, "", safe.Line(f.Path, 300)+" "+text.Bytes(f.Size))
	}
}
