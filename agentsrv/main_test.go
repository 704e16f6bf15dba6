package agentsrv

import (
	"os"
	"testing"

	"github.com/mcphud/mcphud/agentsrv/sandbox"
	"github.com/mcphud/mcphud/session/leaktest"
)

func TestMain(m *testing.M) {
	if sandbox.IsWorker(os.Args) { // execute_code starts this very program
		sandbox.WorkerMain()
		return
	}
	leaktest.Main(m)
}
