package conform

import (
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/mcphud/mcphud/session/test/budget"
	"github.com/mcphud/mcphud/session/test/leaktest"
)

func TestMain(m *testing.M) {
	if len(os.Args) > 1 && filepath.Base(os.Args[1]) == suiteScript {
		os.Exit(playSuite(os.Args[2:]))
	}
	if os.Getenv(odd) != "" {
		os.Exit(oddly())
	}
	if dir := os.Getenv(locks); dir != "" {
		os.Exit(locking(dir))
	}
	if after := os.Getenv(starting); after != "" {
		os.Exit(slowly(after))
	}
	if !budget.Race() {
		_ = flag.Set("test.parallel", "8") // what takes long waits for answers that never come
	}
	leaktest.Main(m)
}
