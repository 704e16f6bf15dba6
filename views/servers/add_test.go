package servers

import (
	"testing"

	"github.com/mcphud/mcphud/session/config"
)

// Files that are found late do not change what enter does.
func TestTheCursorStaysOnItsRow(t *testing.T) {
	v := &adder{}
	v.typed.paste("node server.js")
	one, two, three := config.Destination{File: "/one.json"}, config.Destination{File: "/two.json"}, config.Destination{File: "/three.json"}
	v.setFiles(nil, []config.Destination{one, three})
	v.at = 2
	v.setFiles(nil, []config.Destination{one, two, three})
	if got := v.rows(nil)[v.at].title; got != "/three.json" {
		t.Errorf("the cursor is on %s", got)
	}
}
