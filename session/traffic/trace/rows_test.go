package trace

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/mcphud/mcphud/session/test/require"
	"github.com/mcphud/mcphud/session/wire/span"
)

func TestTreeAsText(t *testing.T) {
	r := newRig(t)
	delegated(r, map[string]time.Duration{"everything": time.Hour})
	var b strings.Builder
	require.NoError(t, r.tree().Write(&b, 100, nil))
	for _, want := range []string{
		"trace " + traceID + " · 20ms\n",
		"client tools/call call_agent → demo@router", "      1ms     18ms  ━━━",
		"  router call_agent → demo", "    wait ", "  call_agent → everything", "router echo → everything",
		"agent everything echo", "\n  unaccounted: network, client ", "      2ms\n",
		"clock of agent everything is 1h0m0s behind, ± 1ms",
	} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("%q is not in\n%s", want, &b)
		}
	}
	for line := range strings.Lines(b.String()) {
		if n := len([]rune(strings.TrimSuffix(line, "\n"))); n > 100 {
			t.Errorf("%d columns: %s", n, line)
		}
	}
}

func TestTreeAsJSON(t *testing.T) {
	r := newRig(t)
	delegated(r, nil)
	raw, err := json.Marshal(r.tree())
	var got struct {
		Trace string
		Took  float64 `json:"took_ms"`
		Spans []spanJSON
	}
	if err != nil || json.Unmarshal(raw, &got) != nil || got.Trace != traceID || got.Took != 20 || len(got.Spans) != 1 {
		t.Fatalf("%s %v", raw, err)
	}
	if s := got.Spans[0]; s.Hop != "client" || s.Unaccounted != 2 || s.Frames != 1 || s.Spans[0].Hop != span.Router || s.Spans[0].Start != 1 || len(s.Spans[0].Spans) != 5 {
		t.Errorf("%s", raw)
	}
}
