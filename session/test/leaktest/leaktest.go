// Package leaktest finds goroutines that outlive the tests or the program that started them.
//
// goleak alone waits for less than half a second, which is short on a machine that does much else: a child that was killed has
// to be reaped first, and a connection to say that it is closed. What leaks is still there after [Wait].
package leaktest

import (
	"flag"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/mcphud/mcphud/session/test/budget"
)

// Wait is how long goroutines get to end.
const Wait = 30 * time.Second

// Main runs the tests of a package and exits: with 1 if they succeeded and a goroutine outlives them.
func Main(m *testing.M, ignored ...goleak.Option) { os.Exit(Run(m, ignored...)) }

// Run is [Main] for who has more to do before the exit, with the code that it returns.
func Run(m *testing.M, ignored ...goleak.Option) int {
	beside()
	code := m.Run()
	if code != 0 {
		return code
	}
	if err := Find(ignored...); err != nil {
		fmt.Fprintf(os.Stderr, "the tests succeeded, but goroutines are left over: %v\n", err)
		return 1
	}
	return 0
}

// beside lets more tests run beside each other than there are processors, unless the command line says how many: most of those that are
// parallel wait for a time, a child or a socket. With the race detector the processors have enough to do, and what is measured is alone.
func beside() {
	flag.Parse()
	if f := flag.Lookup("test.parallel"); f.Value.String() == f.DefValue && !budget.Race() && os.Getenv(budget.EnableEnv) == "" {
		_ = f.Value.Set(strconv.Itoa(3 * runtime.GOMAXPROCS(0))) // a number
	}
}

// Check fails t if anything that it starts from now on outlives it and the cleanups that come after this.
func Check(t testing.TB) {
	t.Helper()
	before := goleak.IgnoreCurrent()
	t.Cleanup(func() {
		if err := Find(before); err != nil {
			t.Errorf("goroutines are left over: %v", err)
		}
	})
}

// Find waits until no goroutine is left but the caller's and those ignored, and returns an error that names them if some
// still are after [Wait].
func Find(ignored ...goleak.Option) error { return find(Wait, ignored) }

func find(wait time.Duration, ignored []goleak.Option) error {
	for end := time.Now().Add(wait); ; {
		err := goleak.Find(ignored...) // which waits between its looks
		if err == nil || !time.Now().Before(end) {
			return err
		}
	}
}
