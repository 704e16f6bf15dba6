package require

import (
	"errors"
	"testing"
)

// ended is a test that notes what it was ended with.
type ended struct {
	testing.TB
	with []any
}

func (*ended) Helper()             {}
func (e *ended) Fatal(with ...any) { e.with = with }

func TestAnErrorEndsTheTest(t *testing.T) {
	var e ended
	NoError(&e, nil)
	if e.with != nil {
		t.Errorf("ended with %v where nothing failed", e.with)
	}
	err := errors.New("no room left")
	NoError(&e, err)
	if len(e.with) != 1 || e.with[0] != err {
		t.Errorf("ended with %v", e.with)
	}
}
