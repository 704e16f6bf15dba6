package conform

import (
	"flag"
	"os"
	"testing"

	"github.com/mcphud/mcphud/session/budget"
	"github.com/mcphud/mcphud/session/leaktest"
)

func TestMain(m *testing.M) {
	if os.Getenv(odd) != "" {
		os.Exit(oddly())
	}
	if !budget.Race() {
		_ = flag.Set("test.parallel", "8") // what takes long waits for answers that never come
	}
	leaktest.Main(m)
}
