package call

import (
	"testing"

	"github.com/mcphud/mcphud/session/test/require/assert"
)

func TestReference(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"greet":            `{"name":"greet","type":"ref/prompt"}`,
		"file:///{path}":   `{"type":"ref/resource","uri":"file:///{path}"}`,
		"prompt:a://b":     `{"name":"a://b","type":"ref/prompt"}`,
		"resource:plain":   `{"type":"ref/resource","uri":"plain"}`,
		"resource:a<b>{c}": `{"type":"ref/resource","uri":"a\u003cb\u003e{c}"}`,
	} {
		assert.Equalf(t, string(reference(in)), want, "%s", in)
	}
}
