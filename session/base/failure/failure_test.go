package failure

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/mcphud/mcphud/session/test/require/assert"
)

func TestKindOf(t *testing.T) {
	for _, c := range []struct {
		err  error
		want Kind
	}{
		{nil, ""},
		{errors.New("x"), ""},
		{fmt.Errorf("a: %w", &Error{Kind: OAuth}), OAuth},
		{fmt.Errorf("a: %w", context.Canceled), Interrupted},
		{context.DeadlineExceeded, Timeout},
		{&Error{Kind: Transport, Err: context.Canceled}, Transport},
	} {
		assert.Equalf(t, KindOf(c.err), c.want, "%v", c.err)
	}
}

// TestWrap: where an error happened is filled in, what is there stays, and the error that was given is not changed.
func TestWrap(t *testing.T) {
	if Wrap(nil, "srv", "ping") != nil {
		t.Error("nil is an error")
	}
	inner := &Error{Kind: Protocol, Stage: "tools/call x", Message: "broken"}
	if got := Wrap(inner, "srv", "connecting").Error(); got != "srv: tools/call x: broken" || inner.Server != "" {
		t.Errorf("%q, %+v", got, inner)
	}
	cause := errors.New("no route")
	got := Wrap(cause, "srv", "connecting")
	if KindOf(got) != Transport || !errors.Is(got, cause) || got.Error() != "srv: connecting: no route" {
		t.Errorf("%v", got)
	}
}

func TestSurfacesNameWhatTheyHaveForARemedy(t *testing.T) {
	names := map[Remedy]string{RaiseTimeout: "--timeout"}
	e := &Error{Message: "no answer", Next: "raise the timeout", Remedy: RaiseTimeout}
	assert.Equal(t, e.With(names, strings.ToUpper).Error(), "no answer; raise the timeout (--timeout)")
	assert.Equalf(t, e.With(names, strings.ToUpper).With(names, strings.ToUpper).Error(), "no answer; raise the timeout (--timeout)", "the second time")
	if e.With(nil, nil) != e || e.Next != "raise the timeout" {
		t.Errorf("%+v", e)
	}
	about := &Error{Message: "no value", Next: "set it", Remedy: SetVariable, Object: "key"}
	assert.Equal(t, about.With(map[Remedy]string{SetVariable: "-e %s=VALUE"}, strings.ToUpper).Error(), "no value; set it (-e KEY=VALUE)")
	bare := &Error{Message: "no answer", Remedy: RaiseTimeout}
	assert.Equal(t, bare.With(names, strings.ToUpper).Error(), "no answer; --timeout")
}

// A reason stands first everywhere, and once.
func TestReasonsStandFirst(t *testing.T) {
	e := &Error{
		Kind: SpawnFailed, Server: "s", Stage: "initialize", Message: "it exited", Reason: "no key", Detail: "no key\nbye", Next: "no key: set it",
	}
	if got, want := e.Error(), "s: no key (initialize: it exited): bye; set it"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	assert.Equalf(t, Why(e), "no key", "why")
	assert.Contains(t, string(e.JSON()), `"reason":"no key"`)
	assert.Equalf(t, Why(&Error{Server: "s", Stage: "initialize", Message: "it exited", Next: "wait"}), "initialize: it exited", "without a reason it")
}
