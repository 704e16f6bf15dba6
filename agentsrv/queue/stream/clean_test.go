package stream

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/mcphud/mcphud/agentsrv/queue/queuetest"
	"github.com/mcphud/mcphud/session/test/natstest"
	"github.com/mcphud/mcphud/session/test/require"
	"github.com/mcphud/mcphud/session/test/require/assert"
)

// What is left in the stream of a call that is over, and that no consumer gives to anybody, goes; a task that is not over stays.
func TestMessagesOfCallsThatAreOverGo(t *testing.T) {
	s := natstest.Run(t)
	q := join(t, s.URL, nil, func(o *Options) {
		o.pace = pace{beat: 20 * time.Millisecond}
		o.Over = func(_ context.Context, id string) (over, known bool, err error) {
			return id == "over", id != "forgotten", nil
		}
	})
	for _, m := range []string{
		`{"id":"a","origin":"gone","task":"over"}`, `{"id":"b","origin":"gone","task":"open"}`, `{"id":"c","origin":"` + q.me + `"}`,
		`{"id":"d","origin":"gone","task":"forgotten"}`, `{"id":"e","origin":"` + q.me + `","task":"forgotten"}`,
	} {
		// Of a version that nobody takes calls of.
		if _, err := q.js.Publish(t.Context(), q.names.work+".0-other.tenant."+m[7:8], []byte(m)); err != nil {
			t.Fatal(err)
		}
	}
	queuetest.Until(t, "who is silent counts as gone", func() bool { return !q.Alive("gone") })
	state, err := q.look(t.Context(), q.names.work+".>")
	if err != nil || len(state.State.Subjects) != 5 {
		t.Fatalf("%+v, %v", state, err)
	}
	for subject := range state.State.Subjects {
		if err := q.cleanOne(t.Context(), subject); err != nil {
			t.Errorf("%s: %v", subject, err)
		}
	}
	state, err = q.look(t.Context(), q.names.work+".>")
	if err != nil || len(state.State.Subjects) != 1 || state.State.Subjects[q.names.work+".0-other.tenant.b"] != 1 {
		t.Errorf("%+v, %v", state, err)
	}
}

// A cleaning that takes long holds up no heartbeats, without which others would take this replica for gone, and ends with the replica.
func TestCleaningThatTakesLong(t *testing.T) {
	s := natstest.Run(t)
	began, ended := make(chan struct{}, 1000), make(chan error, 1000)
	q := join(t, s.URL, nil, func(o *Options) {
		o.pace = pace{ackWait: 30 * time.Millisecond, beat: 20 * time.Millisecond}
		o.Over = func(ctx context.Context, _ string) (over, known bool, err error) {
			began <- struct{}{}
			<-ctx.Done()
			ended <- ctx.Err()
			return false, false, ctx.Err()
		}
	})
	beats := make(chan *nats.Msg, 1000)
	sub, err := q.nc.ChanSubscribe(q.names.alive, beats)
	require.NoError(t, err)
	defer sub.Unsubscribe()
	if _, err := q.js.Publish(t.Context(), q.names.work+".0-other.tenant.a", []byte(`{"id":"a","origin":"gone","task":"open"}`)); err != nil {
		t.Fatal(err)
	}
	<-began
	n := len(beats)
	queuetest.Until(t, "it lives", func() bool { return len(beats) > n+5 })
	if len(ended) > 0 {
		t.Fatal("no heartbeats while it went on")
	}
	assert.NoError(t, q.Drain(t.Context()))
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Errorf("it ended as %v", err)
	}
}
