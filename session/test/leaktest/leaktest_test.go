package leaktest

import (
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/mcphud/mcphud/session/test/require/assert"
)

func TestMain(m *testing.M) { Main(m) }

// fakeT is a test whose verdict is only looked at.
type fakeT struct {
	testing.TB
	cleanups []func()
	failed   string
}

func (*fakeT) Helper()                             {}
func (f *fakeT) Cleanup(c func())                  { f.cleanups = append(f.cleanups, c) }
func (f *fakeT) Errorf(format string, args ...any) { f.failed = format + args[0].(error).Error() }

func TestFind(t *testing.T) {
	before := goleak.IgnoreCurrent()
	release := make(chan struct{})
	go leaking(release)
	err := find(time.Millisecond, []goleak.Option{before})
	assert.ErrorContains(t, err, "leaktest.leaking")
	go func() {
		time.Sleep(time.Second) // longer than goleak waits, and far from Wait
		close(release)
	}()
	if err := Find(before); err != nil {
		t.Error("a goroutine that ends late:", err)
	}
}

func TestCheck(t *testing.T) {
	f := &fakeT{TB: t}
	Check(f)
	release := make(chan struct{})
	close(release)
	go leaking(release)
	if len(f.cleanups) != 1 {
		t.Fatal(len(f.cleanups))
	}
	if f.cleanups[0](); f.failed != "" {
		t.Error(f.failed)
	}
}

func leaking(release <-chan struct{}) { <-release }
