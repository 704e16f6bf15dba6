package sandbox

import (
	"os"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) {
	if IsWorker(os.Args) {
		WorkerMain()
		return
	}
	goleak.VerifyTestMain(m)
}
