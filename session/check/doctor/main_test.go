package doctor

import (
	"flag"
	"testing"

	"github.com/mcphud/mcphud/session/test/budget"
	"github.com/mcphud/mcphud/session/test/leaktest"
)

func TestMain(m *testing.M) {
	if !budget.Race() {
		_ = flag.Set("test.parallel", "8") // most of what takes long waits for time limits, which the race detector's work would eat up
	}
	leaktest.Main(m)
}
