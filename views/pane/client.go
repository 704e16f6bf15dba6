package pane

import (
	"strings"

	"github.com/mcphud/mcphud/session"
	"github.com/mcphud/mcphud/session/base/jsonrpc"
)

// ClientRows adds what a session says of itself to its server.
func ClientRows(d *Details, c *session.Client) {
	name := c.Name()
	if c != nil && c.Info != nil {
		if id := jsonrpc.GetString(c.Info, "name"); id != name {
			name += " (" + id + ")"
		}
		name += " " + jsonrpc.GetString(c.Info, "version")
	}
	d.Row("client", name)
	if c == nil {
		return
	}
	if c.Protocol != "" {
		d.Row("speaks", c.Protocol)
	}
	if c.Capabilities != nil {
		var all []string
		_ = jsonrpc.Members(c.Capabilities, func(key string, value []byte) bool {
			if about := capabilityText(value); about != "" {
				key += " (" + about + ")"
			}
			all = append(all, key)
			return len(all) < 50
		})
		if all == nil {
			all = []string{"nothing"}
		}
		d.Row("advertises", strings.Join(all, "\n"))
	}
}
