package form

import (
	"strings"
	"testing"

	"github.com/mcphud/mcphud/session/test/require/assert"
)

const restSchema = `{"type":"object","required":["text","model"],"properties":{"text":{"type":"string"},"kind":{"enum":["a","b"],"default":"a"},` +
	`"model":{"type":"string","minLength":2,"default":"me"},"more":{"type":"object","properties":{"deep":{"type":"string"}}}}}`

// What does not stand in front is behind one row until somebody opens it, it has a value that is not its default, or it is wrong.
func TestFieldsBehindOneRow(t *testing.T) {
	closed := func(f *Form) {
		t.Helper()
		if got := screen(f); !strings.Contains(got, "▸ 3 more fields  kind, model, more") || strings.Contains(got, "  me") {
			t.Errorf("not closed:\n%s", got)
		}
	}
	f := open(t, restSchema)
	if f.Front("text"); f.SetJSON([]byte(`{"kind":"a","model":"me"}`)) != nil {
		t.Fatal("no JSON")
	}
	closed(f)
	for _, keys := range []string{"enter enter", "space space", "right left"} { // of both, the second closes it
		press(t, f, append([]string{"ctrl+home", "tab"}, strings.Fields(keys)[0])...)
		assert.Contains(t, screen(f), "▾ 3 more fields", "me")
		press(t, f, strings.Fields(keys)[1])
		closed(f)
	}
	f.Click(3, 2)
	assert.Contains(t, screen(f), "▾ 3 more fields")
	f.Click(3, 2)
	closed(f)

	if !f.Focus("/more/deep") || f.row().ptr != "/more/deep" {
		t.Errorf("a field behind is not reached:\n%s", screen(f))
	}
	press(t, f, "text:x", "ctrl+home", "tab", "left") // closed by hand: that holds
	closed(f)
	assert.Equal(t, string(f.JSON()), `{"kind":"a","model":"me","more":{"deep":"x"}}`)

	g := open(t, restSchema)
	g.Front("text")
	assert.NoError(t, g.SetJSON([]byte(`{"kind":"b","model":"me"}`)))
	assert.Contains(t, screen(g), "▾ 3 more fields", "‹ b ▾ ›", "▸ more") // b is not the default
	h := open(t, restSchema)
	h.Front("text")
	assert.NoError(t, h.SetJSON([]byte(`{"text":"x"}`)))
	closed(h) // model is still to fill in
	if len(h.Check()) != 1 || !strings.Contains(screen(h), "▾ 3 more fields") || !h.NextProblem() || h.row().ptr != "/model" {
		t.Errorf("what is wrong is not shown:\n%s", screen(h))
	}
}

// Linear mode has the row as an item, which shows the others.
func TestFieldsBehindOneItem(t *testing.T) {
	f := open(t, restSchema)
	f.Front("text")
	items := f.Items()
	if len(items) != 2 || !items[1].Folds || items[1].Label != "show 3 more fields  kind, model, more" {
		t.Fatalf("%+v", items)
	}
	f.Unfold()
	if items = f.Items(); len(items) < 5 || items[1].Label != "fold 3 more fields" || items[3].Pointer != "/model" {
		t.Errorf("%+v", items)
	}
	assert.NoError(t, f.SetText("/model", "you"))
	f.Unfold()
	if items = f.Items(); len(items) != 2 {
		t.Errorf("%+v", items)
	}
	assert.NoError(t, f.SetText("/model", "them"))
	assert.Equal(t, string(f.JSON()), `{"model":"them"}`)
}
