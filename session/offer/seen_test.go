package offer_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/mcphud/mcphud/session/offer"
	"github.com/mcphud/mcphud/session/test/require/assert"
)

// TestAppTerms: what an app's page may do, by both names of its URI; what is not as it should be is shown and breaks nothing.
func TestAppTerms(t *testing.T) {
	for meta, want := range map[string]string{
		``:                            `[]`,
		`null`:                        `[]`,
		`{"ui":7}`:                    `[]`,
		`{"ui":{"csp":"none"}}`:       `[]`,
		`{"ui/resourceUri":"ui://a"}`: `[[app page ui://a (by the older name ui/resourceUri)]]`,
		`{"ui":{"resourceUri":"ui://a","visibility":["model","app"],"csp":{"connectDomains":["https://a","https://b"],"frameDomains":7},"permissions":{"camera":{},"microphone":{}}}}`: `[[app page ui://a] [visibility model, app] [csp connect https://a https://b] [csp frame 7] [permissions camera, microphone]]`,
	} {
		assert.Equalf(t, fmt.Sprint(offer.AppTerms([]byte(meta))), want, "%s", meta)
	}
}

// TestIcons: where icons are, and of those that hold themselves how large they are.
func TestIcons(t *testing.T) {
	got := offer.Icons([]byte(`[{"src":"https://a/i.png","mimeType":"image/png","sizes":["48x48","any"],"theme":"dark"},{"src":"data:image/png;base64,` + strings.Repeat("A", 5000) + `"},7]`))
	if len(got) != 3 || got[0] != "https://a/i.png image/png 48x48, any dark" || len(got[1]) > 100 || !strings.Contains(got[1], "(5.0 kB)") {
		t.Errorf("%q", got)
	}
	if got := offer.Icons([]byte(`"x"`)); got != nil {
		t.Error(got)
	}
}

// TestExtensions: each extension and each experiment with what is done about it, and no more of them than somebody reads.
func TestExtensions(t *testing.T) {
	got := offer.Extensions([]byte(`{"extensions":{"io.modelcontextprotocol/ui":{"a":1},"x/y":{}},"experimental":{"beta":true}}`))
	if len(got) != 3 || !strings.Contains(got[0].Support, "never run") || got[0].Settings != `{"a":1}` || got[1].Support == "" || got[1].Experimental || !got[2].Experimental {
		t.Errorf("%+v", got)
	}
	many := `{"extensions":{"a":1`
	for i := range 5000 {
		many += fmt.Sprintf(`,"x/%d":{}`, i)
	}
	if got := offer.Extensions([]byte(many + "}}")); len(got) != 50 {
		t.Error(len(got))
	}
	for _, feature := range []string{"roots", "sampling", "logging", "sse"} {
		if !strings.HasPrefix(offer.Deprecated(feature), "deprecated since 20") {
			t.Error(feature, offer.Deprecated(feature))
		}
	}
	assert.Equal(t, offer.Deprecated("tools"), "")
}
