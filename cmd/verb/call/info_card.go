package call

import (
	"context"

	"github.com/mcphud/mcphud/cmd/cli"
	"github.com/mcphud/mcphud/session/base/mask"
	"github.com/mcphud/mcphud/session/catalog/card"
	"github.com/mcphud/mcphud/tui/page"
	"github.com/mcphud/mcphud/tui/safe"
	"github.com/mcphud/mcphud/views/pages"
)

// PublishedDoc is one place where something can be published about a server.
type PublishedDoc struct {
	URL         string          `json:"url"`
	Kind        string          `json:"kind"`
	Status      int             `json:"status"` // of HTTP; 0 for no answer
	Found       bool            `json:"found"`
	Error       string          `json:"error,omitempty"`
	Name        string          `json:"name,omitempty"`
	Version     string          `json:"version,omitempty"`
	Description string          `json:"description,omitempty"`
	Cards       int             `json:"cards,omitempty"` // that a catalog names
	Problems    []string        `json:"problems"`        // what is against the specification
	Differences []publishedDiff `json:"differences"`     // from what the server says itself
}

type publishedDiff struct {
	Field    string `json:"field"`
	Document string `json:"document"`
	Server   string `json:"server"`
}

// published reads what is published about the server, and compares it with what that says itself; on a page too.
func published(ctx context.Context, l *cli.Link, is *page.Page) (*[]PublishedDoc, error) {
	docs, unread, err := card.Check(ctx, l.Session)
	if err != nil {
		return nil, err
	}
	if unread != nil {
		l.Side.Warn("a list is not compared: " + safe.Line(unread.Error(), 300))
	}
	out := []PublishedDoc{}
	for _, d := range docs {
		p := PublishedDoc{
			URL: d.URL, Kind: d.Kind, Status: d.Status, Found: d.Found, Name: d.Name, Version: d.Version, Description: d.Description, Cards: d.Entries,
			Problems: append([]string{}, d.Problems...), Differences: []publishedDiff{},
		}
		if d.Err != nil {
			p.Error = mask.Text(d.Err.Error())
		}
		for _, x := range d.Differences {
			p.Differences = append(p.Differences, publishedDiff(x))
		}
		out = append(out, p)
	}
	pages.Published(is, docs)
	return &out, nil
}
