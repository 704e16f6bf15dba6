package telemetry

import (
	"net/http"
	"testing"
)

const (
	near = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
	far  = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-00"
)

func TestO5_TheHeaderComesBeforeMeta(t *testing.T) {
	for _, c := range []struct {
		name   string
		header []string
		meta   string
		trace  string
	}{
		{"header", []string{near}, "", near[3:35]},
		{"both", []string{near}, `"` + far + `"`, near[3:35]},
		{"meta", nil, `"` + far + `"`, far[3:35]},
		{"bad header", []string{"00-nonsense"}, `"` + far + `"`, far[3:35]},
		{"two headers", []string{near, near}, `"` + far + `"`, far[3:35]},
		{"neither", nil, "", "00000000000000000000000000000000"},
		{"no string", nil, `{"a":1}`, "00000000000000000000000000000000"},
		{"bad meta", nil, `"00-00000000000000000000000000000000-b7ad6b7169203331-01"`, "00000000000000000000000000000000"},
	} {
		h := http.Header{}
		if c.header != nil {
			h["Traceparent"] = c.header
		}
		if got := Remote(h, []byte(c.meta), nil); got.TraceID().String() != c.trace {
			t.Errorf("%s: %v", c.name, got.TraceID())
		}
	}
	parent := Remote(http.Header{"Traceparent": {near}}, nil, nil)
	if l := Local(parent); l.TraceID() != parent.TraceID() || l.SpanID() == parent.SpanID() || !l.IsValid() {
		t.Error(l)
	}
	if l := Local(Remote(http.Header{}, nil, nil)); !l.IsValid() {
		t.Error("no trace of its own")
	}
}
