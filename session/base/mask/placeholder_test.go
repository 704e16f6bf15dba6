package mask

import (
	"strings"
	"testing"
)

// What stands in the place of a secret in a journal is known from what people write.
func TestPlaceholders(t *testing.T) {
	for in, want := range map[string]string{
		"[secret-1]":                 "[secret-1]",
		"a [secret-1] b [secret-22]": "[secret-1] [secret-22]",
		"[email-3]":                  "[email-3]",
		"to [email-3]":               "",
		"[2026-11-24]":               "",
		"[secret-]":                  "",
		"[secret]":                   "",
		"secret-1":                   "",
		"[a]":                        "",
		"":                           "",
	} {
		if got := strings.Join(Placeholders(in), " "); got != want || Placeholder(in) != (want != "") {
			t.Errorf("%q has %q, want %q", in, got, want)
		}
	}
	for in, want := range map[string]bool{"to [email-3].": true, "[secret-1]": true, "[2026-11-24]": false, "a[1], email-1": false} {
		if LikePlaceholder(in) != want {
			t.Errorf("%q is like a placeholder: %v", in, !want)
		}
	}
	for in, want := range map[string]bool{"***": true, "Bearer ***": true, "[secret-1]": true, "plain": false, "**": false} {
		if Unknown(in) != want {
			t.Errorf("%q: %v", in, !want)
		}
	}
}
