package text

import (
	"strings"
	"testing"
	"time"

	"github.com/mcphud/mcphud/session/test/require/assert"
)

func TestOfPage(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"plain <b> text": "plain <b> text",
		`{"a":"<html>"}`: `{"a":"<html>"}`,
		"<!DOCTYPE HTML PUBLIC \"-//W3C//DTD HTML 4.01//EN\">\n<html><head><title>Error response</title><style>p {}</style></head><body><h1>Error&nbsp;response</h1><p>Error code: 501</p><script>if (a<b) x()</script>\n<p>Message: Unsupported method (&#x27;POST&#x27;).</body></html>": "Error response Error code: 501 Message: Unsupported method ('POST').",
		"<html><title>502 Bad Gateway</title><center>502 Bad Gateway</center><hr>nginx": "502 Bad Gateway nginx",
		"<html><head><title>only": "only",
		"<html>":                  "",
		"<html>" + strings.Repeat("\xff", 20) + "<BODY>text": "text",
	} {
		if got := OfPage(in); got != want {
			t.Errorf("%q\nsays %q, want %q", in, got, want)
		}
	}
}

func TestOfAHostilePage(t *testing.T) {
	t.Parallel()
	began := time.Now()
	assert.Equal(t, OfPage("<html>"+strings.Repeat("<svg></svg>", 100_000)+"text"), "text")
	if took := time.Since(began); took > 10*time.Second {
		t.Errorf("a page of 1 MB took %v", took)
	}
}
