package metrics

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/mcphud/mcphud/proxy/flow"
	"github.com/mcphud/mcphud/session/serve/telemetry"
)

// The short way of reading a trace context finds what the long one does, or leaves it to that.
func TestCommonTraceparent(t *testing.T) {
	const good = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
	for _, v := range []string{
		good, good[:54] + "0", "", "00", good + "-x", "cc" + good[2:], strings.ToUpper(good), strings.Replace(good, "4bf9", "zzzz", 1),
		"00-" + strings.Repeat("0", 32) + good[35:], good[:36] + strings.Repeat("0", 16) + "-01", strings.Replace(good, "-", "_", 3), good[:54] + "2",
	} {
		h := http.Header{"Traceparent": {v}}
		c := &flow.Call{Request: flow.Request{R: httptest.NewRequest(http.MethodPost, "/", nil)}}
		c.R.Header = h
		belongs(c)
		want := telemetry.Remote(h, nil, nil)
		if got := c.Trace; want.IsValid() != (got != "") || want.IsValid() && (got != want.TraceID().String() || c.Parent != want.SpanID() || c.Sampled != want.IsSampled()) {
			t.Errorf("%q: %q %x %t, not %+v", v, got, c.Parent, c.Sampled, want)
		}
		if v == good && !common(v, c) {
			t.Error("the usual one takes the long way")
		}
	}
}
