package call

import "testing"

func TestReference(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"greet":            `{"name":"greet","type":"ref/prompt"}`,
		"file:///{path}":   `{"type":"ref/resource","uri":"file:///{path}"}`,
		"prompt:a://b":     `{"name":"a://b","type":"ref/prompt"}`,
		"resource:plain":   `{"type":"ref/resource","uri":"plain"}`,
		"resource:a<b>{c}": `{"type":"ref/resource","uri":"a\u003cb\u003e{c}"}`,
	} {
		if got := string(reference(in)); got != want {
			t.Errorf("%s: %s, want %s", in, got, want)
		}
	}
}
