package sandbox

import (
	"os"
	"testing"

	"github.com/mcphud/mcphud/session/test/leaktest"
)

func TestMain(m *testing.M) {
	if IsWorker(os.Args) {
		WorkerMain()
		return
	}
	leaktest.Main(m)
}
