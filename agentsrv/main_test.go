package agentsrv

import (
	"os"
	"testing"

	"go.uber.org/goleak"

	"github.com/mcphud/mcphud/agentsrv/sandbox"
)

func TestMain(m *testing.M) {
	if sandbox.IsWorker(os.Args) { // execute_code starts this very program
		sandbox.WorkerMain()
		return
	}
	goleak.VerifyTestMain(m)
}
