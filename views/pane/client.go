package pane

import (
	"strings"

	"github.com/mcphud/mcphud/session"
	"github.com/mcphud/mcphud/session/base/jsonrpc"
	"github.com/mcphud/mcphud/tui/page"
	"github.com/mcphud/mcphud/views/pages"
)

// ClientRows adds what a session says of itself to its server.
func ClientRows(d *page.Page, c *session.Client) {
	name := c.Name()
	if c != nil && c.Info != nil {
		if id := jsonrpc.GetString(c.Info, "name"); id != name {
			name += " (" + id + ")"
		}
		name += " " + jsonrpc.GetString(c.Info, "version")
	}
	d.Field("client", name)
	if c == nil {
		return
	}
	if c.Protocol != "" {
		d.Field("speaks", c.Protocol)
	}
	if c.Capabilities != nil {
		var all []string
		_ = jsonrpc.Members(c.Capabilities, func(key string, value []byte) bool {
			if about := pages.CapabilityText(value); about != "" {
				key += " (" + about + ")"
			}
			all = append(all, key)
			return len(all) < 50
		})
		if all == nil {
			all = []string{"nothing"}
		}
		d.Field("advertises", strings.Join(all, "\n"))
	}
}
