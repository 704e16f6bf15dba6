package everything

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/mcphud/mcphud/agentsrv/kit"
	"github.com/mcphud/mcphud/session/base/jsonrpc"
)

func TestStateComesBackOnlyAsItWasMade(t *testing.T) {
	s, ctx := sealer{[]byte("a key")}, context.Background()
	state, err := s.pack(ctx, "tool", 2, map[string]string{"name": "Ada"})
	if err != nil {
		t.Fatal(err)
	}
	if r, err := s.open(ctx, "tool", state); err != nil || r.Step != 2 || r.Known["name"] != "Ada" {
		t.Fatalf("%+v, %v", r, err)
	}
	refused := func(what string, ctx context.Context, s sealer, tool, state string) {
		t.Helper()
		r, err := s.open(ctx, tool, state)
		f, ok := jsonrpc.AsRequestError(err)
		if !ok || f.Code(true) != -32602 || f.Data["field"] != "requestState" {
			t.Errorf("%s: %+v, %v", what, r, err)
		}
	}
	for i := range state {
		for _, c := range []byte("A.~") {
			if state[i] != c {
				refused("a changed byte", ctx, s, "tool", state[:i]+string(c)+state[i+1:])
			}
		}
		refused("a cut state", ctx, s, "tool", state[:i])
	}
	refused("a longer state", ctx, s, "tool", state+"-TAMPERED")
	refused("a state of another tool", ctx, s, "other", state)
	refused("a state of another server", ctx, sealer{[]byte("another key")}, "tool", state)
	if r, err := (sealer{[]byte("a key")}).open(ctx, "tool", state); err != nil || r.Step != 2 {
		t.Errorf("another server with the same key: %+v, %v", r, err)
	}
	refused("a state of another caller", kit.WithCaller(ctx, kit.Identity{Principal: "mallory"}), s, "tool", state)
	refused("nothing", ctx, s, "tool", "")
	refused("a long state", ctx, s, "tool", strings.Repeat("A", 1<<20))

	old, err := json.Marshal(round{Tool: "tool", Step: 1, Until: time.Now().Add(-time.Second).Unix()})
	if err != nil {
		t.Fatal(err)
	}
	enc := base64.RawURLEncoding
	refused("an expired state", ctx, s, "tool", enc.EncodeToString(old)+"."+enc.EncodeToString(s.sum(old)))
}
