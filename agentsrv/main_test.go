package agentsrv

import (
	"flag"
	"os"
	"testing"

	"github.com/mcphud/mcphud/agentsrv/tools/sandbox"
	"github.com/mcphud/mcphud/session/test/budget"
	"github.com/mcphud/mcphud/session/test/leaktest"
)

func TestMain(m *testing.M) {
	if sandbox.IsWorker(os.Args) { // execute_code starts this very program
		sandbox.WorkerMain()
		return
	}
	if !budget.Race() {
		_ = flag.Set("test.parallel", "8") // those that may run at once wait for time limits
	}
	leaktest.Main(m)
}
