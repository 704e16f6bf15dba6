package task

import (
	"os"
	"testing"

	"github.com/mcphud/mcphud/session/leaktest"
)

func TestMain(m *testing.M) {
	if dir := os.Getenv("MCPHUD_TASK_CHILD"); dir != "" {
		child(dir)
		return
	}
	leaktest.Main(m)
}
