package sandbox

import (
	"os"
	"testing"

	"github.com/mcphud/mcphud/session/leaktest"
)

func TestMain(m *testing.M) {
	if IsWorker(os.Args) {
		WorkerMain()
		return
	}
	leaktest.Main(m)
}
