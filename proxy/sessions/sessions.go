// Package sessions ties the session ids that the router gives to its clients to the sessions that agents gave to the router. An id
// is good for one agent and one caller only. Ids are random and kept in a Table, or they are sealed tokens that carry all of
// it themselves, so that any router with the same key understands them.
package sessions

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"

	"github.com/mcphud/mcphud/session/serve/ingress"
)

// Binding is what an id stands for.
type Binding struct {
	Agent     string
	Principal string // who opened the session, "" for anybody
	Endpoint  string // of the agent, without secrets; a session is not carried to another
	Upstream  string // the agent's id, "" where it gave none
	Version   string // negotiated protocol version
}

// Errors of ids.
var (
	// ErrUnknown is an id that no session has: never given, expired, ended, or damaged.
	ErrUnknown = errors.New("unknown session")
	// ErrForeign is the id of a session of another agent or another caller.
	ErrForeign = errors.New("the session belongs to another agent or caller")
	// ErrFull means that there are as many sessions as there may be, and none can give way.
	ErrFull = errors.New("too many sessions: all that this router serves at once are in use")
	// ErrNoID is an invalid session id from an agent.
	ErrNoID = fmt.Errorf("invalid session id from the agent: longer than %d bytes, or not visible ASCII", maxUpstream)
)

const maxUpstream = 1024

// Check validates a session id from an agent: ErrNoID if it is too long or has characters that a header must not have.
func Check(upstream string) error {
	if len(upstream) > maxUpstream || !ingress.Visible(upstream) {
		return ErrNoID
	}
	return nil
}

func (p Binding) check(agent, principal string) error {
	if p.Agent != agent || p.Principal != principal {
		return ErrForeign
	}
	return nil
}

// Short is a name of an id that is safe to log: the first 8 digits of its SHA-256.
func Short(id string) string {
	sum := sha256.Sum256([]byte(id))
	return hex.EncodeToString(sum[:4])
}
