package pane

import (
	"strings"
	"testing"

	"github.com/charmbracelet/colorprofile"

	"github.com/mcphud/mcphud/session/offer"
	"github.com/mcphud/mcphud/themes"
	"github.com/mcphud/mcphud/tui/paint"
)

// A definition is folded only where there is no room for all of it, and then it says so, also of what is in an object.
func TestDefinitionFitsWhereItCan(t *testing.T) {
	d := definition{kind: offer.Tools, item: offer.Item{Name: "resize", InputSchema: []byte(
		`{"type":"object","properties":{"width":{"type":"number","description":"Width of the browser window, in pixels"},"at":{"type":"object","properties":{"x":{"type":"integer"},"y":{},"z":{}}}}}`)}}
	th := paint.New(themes.Default(true), colorprofile.NoTTY)
	whole := paint.Strip(strings.Join(d.fit(th, 38, 10), "\n"))
	if !strings.Contains(whole, "browser window, in") || !strings.Contains(whole, "  x  ") || strings.Contains(whole, "shows all") || d.folded {
		t.Errorf("with room for it:\n%s", whole)
	}
	if flat := strings.Join(d.fit(th, 38, 8), "\n"); !strings.Contains(flat, "browser window, in") || strings.Contains(flat, "  x  ") || !strings.Contains(flat, "shows all") {
		t.Errorf("with room for what is not in an object:\n%s", flat)
	}
	for _, about := range []string{"", "Width"} {
		d.item.InputSchema = []byte(strings.Replace(string(d.item.InputSchema), "Width of the browser window, in pixels", about, 1))
		if folded := strings.Join(d.fit(th, 38, 4), "\n"); strings.Contains(folded, "  x  ") || !strings.Contains(folded, "shows all") || !d.folded {
			t.Errorf("without:\n%s", folded)
		}
	}
}
