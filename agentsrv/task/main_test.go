package task

import (
	"flag"
	"os"
	"testing"

	"go.uber.org/goleak"

	"github.com/mcphud/mcphud/session/test/budget"
	"github.com/mcphud/mcphud/session/test/leaktest"
)

func TestMain(m *testing.M) {
	if dir := os.Getenv("MCPHUD_TASK_CHILD"); dir != "" {
		child(dir)
		return
	}
	if !budget.Race() {
		_ = flag.Set("test.parallel", "8") // those that may run at once wait for time limits
	}
	// An object store of nats.go leaves a goroutine behind for ever whose put ends before that began.
	leaktest.Main(m, goleak.IgnoreTopFunction("github.com/nats-io/nats.go/jetstream.(*jetStream).resetPendingAcksOnReconnect"))
}
