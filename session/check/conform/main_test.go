package conform

import (
	"flag"
	"testing"

	"github.com/mcphud/mcphud/session/budget"
	"github.com/mcphud/mcphud/session/leaktest"
)

func TestMain(m *testing.M) {
	if !budget.Race() {
		_ = flag.Set("test.parallel", "8") // what takes long waits for answers that never come
	}
	leaktest.Main(m)
}
