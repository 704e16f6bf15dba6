package session

import (
	"encoding/json"
	"time"

	"github.com/mcphud/mcphud/session/wire/rpc"
)

// State is the state of a session.
type State string

// The states, in the words that users and scripts see: scripts compare them, so that they stay as they are.
const (
	Disconnected State = "Disconnected" // not connected, and nobody wants it to be
	Connecting   State = "Connecting"   // an attempt is running
	Connected    State = "Connected"    // initialize or server/discover was answered
	NeedsLogin   State = "Needs login"  // the last attempt was refused until somebody logs in
	Failed       State = "Error"        // the last attempt failed or the connection was lost; Status.RetryAt says when the next one comes
)

// Era says which generation of the protocol a server speaks.
type Era string

// The eras: Legacy are 2024-11-05 to 2025-11-25 with the initialize handshake, Modern is 2026-07-28 and later.
const (
	Legacy Era = "legacy"
	Modern Era = "modern"
)

// Status is a snapshot of a session. What the handshake found out is zero without a connection.
type Status struct {
	State     State
	Err       error     // why State is Failed or NeedsLogin, else nil
	Attempt   int       // of automatic reconnection, 0 when none is going on
	RetryAt   time.Time // when the next attempt starts; zero if none is planned
	Since     time.Time // when State was entered
	Retired   string    // why Retire closed the connection; "" if something else did
	Transport string    // "stdio", "http", "sse", "ws", "memory"
	Version   string    // protocol version, "" before the handshake
	Era       Era       // "" before the handshake

	ServerInfo, Capabilities json.RawMessage // as sent, nil if the server sent none
	Instructions             string          // as sent, "" if the server sent none; of any length

	Latency   time.Duration  // of the last health check, or of the handshake
	PID       int            // of the child, 0 if there is none
	Stderr    string         // the last lines of a child that has not answered yet
	URL       string         // that connections are made to from here on; "" for a command
	SessionID string         // Mcp-Session-Id, over HTTP
	Conn      uint64         // which connection of this session, as in the journal
	Inflight  []rpc.Inflight // requests waiting for an answer, oldest first; no health checks, no listening streams
	Rev       uint64         // grows with every change
}
