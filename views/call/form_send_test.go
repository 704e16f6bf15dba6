package call

import (
	"context"
	"testing"

	"github.com/mcphud/mcphud/session"
	"github.com/mcphud/mcphud/session/offer"
	"github.com/mcphud/mcphud/session/offer/schema"
	"github.com/mcphud/mcphud/session/wire/rpc"
	"github.com/mcphud/mcphud/tui/form"
)

// A call sends what the draft held when it was started, also where the server's list changes before it runs.
func TestCallSendsTheDraftAsItWas(t *testing.T) {
	v := newFormScreen(nil, nil, nil, formKind{name: itemName})
	got := ""
	v.sessionCall = func(_ context.Context, _ *session.Session, it offer.Item, args []byte, _ map[string]string, _ session.CallOptions) (rpc.Reply, error) {
		got = it.Name + string(args)
		return rpc.Reply{}, nil
	}
	d := &draft{item: offer.Item{Name: "before"}, form: form.New(schema.ParseArguments(nil), nil), sent: []byte(`{"a":1}`)}
	run := v.operation(nil, d)
	d.item, d.sent = offer.Item{Name: "after"}, []byte(`{}`)
	if _, err := run(t.Context()); err != nil || got != `before{"a":1}` {
		t.Errorf("sent %s, %v", got, err)
	}
}
