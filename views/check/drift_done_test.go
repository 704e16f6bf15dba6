package check

import (
	"testing"

	"github.com/mcphud/mcphud/session/check/contract"
	"github.com/mcphud/mcphud/session/test/require/assert"
	"github.com/mcphud/mcphud/tui"
)

// A comparison of long lists takes its time. Where somebody said meanwhile that all is seen, or something changed again, what it found is
// of a state that is over: it is not shown, and the next comparison is.
func TestDriftThatIsOutOfDate(t *testing.T) {
	v := newDrift(nil)
	v.servers["scribe"] = &drifted{stamp: "now"}
	take := func(server, stamp string) int {
		out := comparedOffer{server: server, stamp: stamp, changes: []contract.Change{{Rule: "contract/tool-removed", Class: contract.Breaking}}}
		v.done(&tui.Ctx{}, tui.OpDone{Value: out})
		return len(v.servers["scribe"].changes)
	}
	assert.Equalf(t, take("scribe", "before"), 0, "changes of a comparison that is out of date are shown")
	assert.Equalf(t, take("other", "now"), 0, "changes of another server are shown")
	assert.Equalf(t, take("scribe", "now"), 1, "changes of the comparison that was waited for")
}
