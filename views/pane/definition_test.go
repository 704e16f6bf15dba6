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

// Where there is no room for all of it, the rows that are left show what is folded, in order, and no row is too much.
func TestFoldedDefinitionUsesFreeRows(t *testing.T) {
	d := definition{kind: offer.Tools, item: offer.Item{Name: "fetch", Description: strings.Repeat("Words about it. ", 40), InputSchema: []byte(
		`{"type":"object","properties":{"url":{"type":"string","description":"Address of the page that is to be fetched, with its scheme"},"proxy":{"type":"string","description":"Another address, of what stands between this and that"}}}`)}}
	th := paint.New(themes.Default(true), colorprofile.NoTTY)
	least := len(d.fit(th, 38, 1))
	for h := least; h < least+20; h++ {
		lines := d.fit(th, 38, h)
		got := paint.Strip(strings.Join(lines, "\n"))
		if all := !strings.Contains(got, "shows all"); len(lines) > h || all == d.folded || !all && len(lines) < h-1 {
			t.Errorf("in %d rows it takes %d:\n%s", h, len(lines), got)
		}
		if url, proxy := strings.Contains(got, "scheme"), strings.Contains(got, "and that"); h >= least+4 != (url && proxy) {
			t.Errorf("in %d rows, %d at least:\n%s", h, least, got)
		}
	}
}

// Whether a tool is called as a task is said in words, and what is not known as it was sent.
func TestDefinitionSaysTaskSupport(t *testing.T) {
	th := paint.New(themes.Default(true), colorprofile.NoTTY)
	for sent, want := range map[string]string{
		`{"taskSupport":"forbidden"}`: "as a task    never", `{"taskSupport":"required"}`: "as a task    always", `{"taskSupport":"odd"}`: `as a task    {"taskSupport":"odd"}`,
	} {
		d := definition{kind: offer.Tools, item: offer.Item{Name: "x", Raw: []byte(`{"name":"x","execution":` + sent + `}`)}}
		if got := paint.Strip(strings.Join(d.lines(th, 60), "\n")); !strings.Contains(got, want) {
			t.Errorf("of %s it says\n%s", sent, got)
		}
	}
}
