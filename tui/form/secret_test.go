package form

import (
	"strings"
	"testing"

	"github.com/mcphud/mcphud/session/test/require"
	"github.com/mcphud/mcphud/session/test/require/assert"
)

// A value that holds a hidden one is as hidden, where values are printed.
func TestItemsHideWhatHoldsASecret(t *testing.T) {
	f := open(t, `{"type":"object","properties":{"env":{"type":"object","properties":{"K":{"type":"string","format":"password"}}},"args":{"type":"array","items":{"type":"string"}}}}`)
	require.NoError(t, f.SetJSON([]byte(`{"env":{"K":"s3cret"},"args":["a"]}`)))
	shown := ""
	for _, it := range f.Items() {
		shown += it.Label + "\n"
		if strings.Contains(it.Label, "env") && !it.Secret {
			t.Errorf("%s would be asked for in the clear", it.Label)
		}
	}
	assert.Contains(t, shown, `args = ["a"]`)
	assert.NotContains(t, shown, "s3cret")
}
