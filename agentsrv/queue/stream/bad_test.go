package stream

import (
	"bytes"
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"

	"github.com/mcphud/mcphud/agentsrv/queue"
	"github.com/mcphud/mcphud/agentsrv/queue/queuetest"
	"github.com/mcphud/mcphud/session/base/jsonrpc"
	"github.com/mcphud/mcphud/session/serve/natsconn"
	"github.com/mcphud/mcphud/session/test/natstest"
	"github.com/mcphud/mcphud/session/test/require"
	"github.com/mcphud/mcphud/session/test/require/assert"
)

// A server without room refuses the call, which says that it may be made again; what fits goes on.
func TestServerWithoutRoom(t *testing.T) {
	s := natstest.Run(t, func(o *server.Options) { o.JetStreamMaxStore = 64 << 10 })
	var b queuetest.Board
	q := join(t, s.URL, &b, nil)
	large := jsonrpc.Quote(string(bytes.Repeat([]byte("x"), 100<<10)))
	here := func(context.Context) (json.RawMessage, error) { return json.RawMessage(`1`), nil }
	began, release, ended := make(chan struct{}), make(chan struct{}), make(chan error, 1)
	go func() {
		_, err := q.Do(t.Context(), queue.Job{Tenant: "t", Payload: large}, func(context.Context) (json.RawMessage, error) {
			close(began)
			<-release
			return nil, nil
		})
		ended <- err
	}()
	<-began
	_, err := q.Do(t.Context(), queue.Job{Tenant: "t", Payload: []byte(`1`)}, here)
	if f := queuetest.Failure(t, err, jsonrpc.KindInterrupted); f.RetryAfter <= 0 || !strings.Contains(f.Message, "does not take the call; call again later") {
		t.Errorf("%+v", f)
	}
	close(release)
	assert.NoError(t, <-ended)
	queuetest.Until(t, "there is room again", func() bool {
		raw, err := q.Do(t.Context(), queue.Job{Tenant: "t", Payload: []byte(`1`)}, here)
		return err == nil && string(raw) == "1"
	})
}

// A user without the rights is told at start which are missing.
func TestRightsOfTheQueue(t *testing.T) {
	s := natstest.Run(t, func(o *server.Options) {
		o.Users = []*server.User{{Username: "ada", Password: "hunter2", Permissions: &server.Permissions{
			Publish: &server.SubjectPermission{Deny: []string{"$JS.API.STREAM.CREATE.>"}},
		}}}
	})
	conn, err := natsconn.Open(t.Context(), natsconn.Options{URL: strings.Replace(s.URL, "://", "://ada:hunter2@", 1), Logger: quiet})
	require.NoError(t, err)
	defer conn.Close()
	_, err = New(t.Context(), Options{Conn: conn, Name: "demo", Options: queue.Options{Logger: quiet}})
	if err == nil || !strings.Contains(err.Error(), "nats: the user may not use the stream mcphud_queue_demo: nats://***@127.0.0.1") || strings.Contains(err.Error(), "hunter2") {
		t.Error(err)
	}
}

// What waits in a group of which nobody is left is taken by the others; another version's is not touched, and a task without a record is not
// begun: it may have run before.
func TestCallsOfReplicasThatAreGone(t *testing.T) {
	t.Parallel()
	s := natstest.Run(t)
	var b queuetest.Board
	var ends settled
	quick := func(o *Options) {
		o.pace = pace{beat: 50 * time.Millisecond}
		o.Settle = ends.settle
		o.Over = func(_ context.Context, id string) (over, known bool, err error) { return false, id != "forgotten", nil }
	}
	q := join(t, s.URL, &b, quick)
	for task, group := range map[string]string{"left": "1-0123456789ab", "forgotten": "1-0123456789ab", "newer": "9-0123456789ab"} {
		f := func(context.Context) (json.RawMessage, error) { return json.RawMessage(`"done"`), nil }
		raw, err := json.Marshal(message{ID: "id-" + task, Origin: "nobody", Task: task, Tenant: "t", Tool: "x", Payload: b.Pin(f)})
		require.NoError(t, err)
		if _, err := q.js.Publish(t.Context(), q.names.work+"."+group+".t."+task, raw); err != nil {
			t.Fatal(err)
		}
	}
	queuetest.Until(t, "the call ended", func() bool { return ends.end("left") == `"done"` })
	queuetest.Until(t, "what nobody knows left the stream", func() bool {
		there, err := q.Queued(t.Context(), "forgotten")
		return !there && err == nil
	})
	assert.Equalf(t, ends.end("forgotten"), "", "what nobody knows ran")
	if there, err := q.Queued(t.Context(), "newer"); !there || err != nil || ends.end("newer") != "" {
		t.Errorf("the call of a newer version: there %v, %v, %q", there, err, ends.end("newer"))
	}
}
