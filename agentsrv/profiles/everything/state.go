package everything

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"time"

	"github.com/mcphud/mcphud/agentsrv/kit"
	"github.com/mcphud/mcphud/session/base/jsonrpc"
)

// stateLife is how long a client may take between being asked and asking again.
const stateLife = 15 * time.Minute

// sealer makes the requestState that a client carries from one round to the next, and tells whether one that comes back
// is its own: revision 2026-07-28 wants a server to refuse any that was changed, since the client is not trusted with it.
type sealer struct{ key []byte }

// round is where a call is: which tool, which step, and what was learned.
type round struct {
	Tool      string            `json:"t"`
	Principal string            `json:"p,omitempty"`
	Step      int               `json:"s"`
	Known     map[string]string `json:"k,omitempty"`
	Until     int64             `json:"u"` // Unix seconds
}

// pack is base64url of the state, a dot, and base64url of its HMAC-SHA256.
func (s sealer) pack(ctx context.Context, tool string, step int, known map[string]string) (string, error) {
	raw, err := json.Marshal(round{tool, kit.Caller(ctx).Principal, step, known, time.Now().Add(stateLife).Unix()})
	if err != nil {
		return "", fmt.Errorf("%s: keep the state of step %d: %w", tool, step, err)
	}
	return base64.RawURLEncoding.EncodeToString(raw) + "." + base64.RawURLEncoding.EncodeToString(s.sum(raw)), nil
}

// open is the state that pack made, or -32602 if it was made by somebody else, for another tool or caller, or too long ago.
func (s sealer) open(ctx context.Context, tool, state string) (round, error) {
	var r round
	refuse := func(why string) error {
		return jsonrpc.Errorf(jsonrpc.KindInvalidParams, "Invalid params: requestState %s; call %s again without it", why, tool).
			With("field", "requestState").With("reason", why)
	}
	enc := base64.RawURLEncoding.Strict()
	dot := len(state) - enc.EncodedLen(sha256.Size) - 1
	if dot < 0 || state[dot] != '.' {
		return r, refuse("is not from this server")
	}
	raw, err := enc.DecodeString(state[:dot])
	if err != nil {
		return r, refuse("is not from this server")
	}
	sum, err := enc.DecodeString(state[dot+1:])
	if err != nil || !hmac.Equal(sum, s.sum(raw)) {
		return r, refuse("is not from this server")
	}
	if err := json.Unmarshal(raw, &r); err != nil {
		return r, refuse("cannot be read")
	}
	switch {
	case r.Tool != tool:
		return r, refuse("belongs to another tool")
	case r.Principal != kit.Caller(ctx).Principal:
		return r, refuse("belongs to another caller")
	case time.Now().Unix() > r.Until:
		return r, refuse("has expired")
	}
	return r, nil
}

func (s sealer) sum(raw []byte) []byte {
	h := hmac.New(sha256.New, s.key)
	h.Write(raw)
	return h.Sum(nil)
}
