package stream

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/mcphud/mcphud/agentsrv/queue"
	"github.com/mcphud/mcphud/agentsrv/queue/queuetest"
	"github.com/mcphud/mcphud/session/serve/natsconn"
	"github.com/mcphud/mcphud/session/test/natstest"
)

// The same tests at the server that Debian has, over TLS with a client certificate and credentials.
func TestBackendNATS(t *testing.T) {
	s := natstest.RunInstalled(t)
	at := natsconn.Options{URL: s.URL, CA: s.CA, Cert: s.Cert, Key: s.Key, Creds: s.Creds, Logger: quiet}
	queuetest.Suite(t, func(t *testing.T, b *queuetest.Board, o queue.Options) queue.Engine {
		return joinAt(t, at, b, func(all *Options) { all.Options = o })
	})
}

// A server that is killed has what it took when it comes back, and refuses those without credentials.
func TestBackendNATSIsKilled(t *testing.T) {
	s := natstest.RunInstalled(t)
	at := natsconn.Options{URL: s.URL, CA: s.CA, Cert: s.Cert, Key: s.Key, Creds: s.Creds, Logger: quiet}
	var b queuetest.Board
	q := joinAt(t, at, &b, nil)
	busy := queuetest.Begin(t, &b, q, queue.Job{Tenant: "t"}, false)
	busy.Runs()
	next := queuetest.Begin(t, &b, q, queue.Job{Tenant: "t"}, false)
	queuetest.Until(t, "it is in the stream", func() bool {
		all, err := q.look(t.Context(), "")
		return err == nil && all.State.Messages == 2
	})
	s.Kill()
	queuetest.Until(t, "noticed", func() bool { return !q.o.Conn.Up() })
	s.Restart()
	queuetest.Until(t, "back", q.o.Conn.Up)
	busy.End()
	next.Runs()
	next.End()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	if raw, err := q.Do(ctx, queue.Job{Tenant: "t"}, func(context.Context) (json.RawMessage, error) { return json.RawMessage(`1`), nil }); err != nil || string(raw) != "1" {
		t.Errorf("%s %v", raw, err)
	}
	at.Creds = ""
	if _, err := natsconn.Open(t.Context(), at); err == nil || !strings.Contains(err.Error(), "refuses the user") {
		t.Errorf("without credentials: %v", err)
	}
	at.CA = ""
	if _, err := natsconn.Open(t.Context(), at); err == nil || !strings.Contains(err.Error(), "certificate is not trusted") {
		t.Errorf("without the authority: %v", err)
	}
}
