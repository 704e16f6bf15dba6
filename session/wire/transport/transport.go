// Package transport carries frames to one server and back: over the pipes of a child process, Streamable HTTP, HTTP+SSE, WebSocket, or memory.
//
// [New] makes a [Transport] of a kind for an entry of the configuration; it lives for one connection, and once Close has returned there is no
// goroutine, process or descriptor left of it. Frames are bytes as they came: nothing here parses more of a message than it must to deliver it, such
// as the id that an HTTP answer belongs to. Journalling frames is the layer above's, exchanges of HTTP and stderr are written here.
//
// README.md says which file holds what, and in which order Streamable HTTP does things.
package transport

import (
	"context"
	"fmt"
	"net/http"

	"github.com/mcphud/mcphud/session/base/jsonrpc"
	"github.com/mcphud/mcphud/session/wire/diagnosis"
	"github.com/mcphud/mcphud/session/wire/journal"
)

// Transport carries JSON-RPC frames to one server and back: over a child's pipes, HTTP, HTTP+SSE, a WebSocket or memory. It is
// used for one connection: Start once, then Send, Close once; a reconnect makes a new one. After Start has returned, all methods are
// safe for concurrent use. A Start that failed may have left something behind: Close it all the same.
//
// Frames are journalled by whoever sits above a Transport, in both directions. A transport journals what only it
// sees, through its Tap: stderr, HTTP status lines and headers, bodies that are not messages.
type Transport interface {
	// Traits says what the layers above have to know of this way to reach a server. They do not change.
	Traits() Traits
	// Start connects, and delivers what arrives to in until Close. ctx bounds the connecting only. Over stdio it starts
	// the process, once; over plain HTTP there is nothing to do yet.
	Start(ctx context.Context, in Receiver) error
	// Send writes one message. Over HTTP ctx bounds the whole exchange (cancelling it closes the response stream, which
	// is how the modern era cancels), and Send returns when the exchange is over: an error if no answer to a request
	// came, *HTTPError for a refused one. Over pipes it returns once the frame is written.
	Send(ctx context.Context, m Message) error
	// Close ends the connection and returns when nothing of it is left: no goroutine, no process, no descriptor.
	Close() error
}

// Message is one outgoing frame.
type Message struct {
	// Frame is without a line end, and must have none inside where it goes over a pipe: a line is a frame there. Nobody modifies it.
	Frame []byte
	Env   jsonrpc.Envelope // of Frame; its slices are parts of it
	// Header is for this message alone, on transports whose Traits have HTTP: in the place of headers that the transport sets itself, but
	// not of those of the server's configuration. nil for none.
	Header http.Header
}

// Receiver takes what arrives. Its methods may be called from several goroutines, do not block for long, and must not be
// called after Close has returned.
type Receiver interface {
	// Frame takes one frame, whole, without line end, valid or not. The receiver owns the bytes, and keeps them.
	Frame(frame []byte)
	// Broken reports a frame that could not be delivered, such as one above the size limit. head is its beginning and
	// tail its end (for finding out whose answer it was), both at most a few KB; err says why.
	Broken(head, tail []byte, err error)
	// Lost reports that the connection ended by itself. Called at most once, and never because of Close.
	Lost(err error)
}

// Traits are what sets one transport apart from another, for the layers above. The rpc package cancels by closing the stream where HTTP is
// set and the era is modern, and the handshake knows by Child that a server can be started a second time.
type Traits struct {
	Kind   string    // what configurations and Status call it, see config.Stdio, or "memory"
	Legacy bool      // the transport does not exist in the modern era
	HTTP   Versioned // nil unless messages have HTTP headers
	Child  Child     // nil unless the server is a child process
}

// Child is the server as a child process.
type Child interface {
	// PID is its process id, 0 before it was started.
	PID() int
	// Stderr is the last lines that it wrote to stderr.
	Stderr() string
	// Reason is why it became no server, as its stderr has it; the zero Reason if it wrote nothing.
	Reason() diagnosis.Reason
	// Ignored reports whether it exited without having read all that it was sent. Only then is it sure that it did not
	// exit because of what it read.
	Ignored() bool
}

// Stream is a Receiver that distinguishes what arrives on the stream that answers one request from what arrives elsewhere. Over
// Streamable HTTP it is only by the stream that a log message, or a question of the server, is known to be about a call. Transports look for this interface with a type assertion: a Receiver need not have it.
type Stream interface {
	// Of is the receiver for the stream that answers the request with this id, the bytes as they were sent. It is used for the answer
	// itself as well, and after it for up to a second more.
	Of(id []byte) Receiver
}

// Versioned is what transports over HTTP offer in addition. Of a WebSocket only its opening has headers, so that it is none.
type Versioned interface {
	// SetVersion sets the protocol version for the MCP-Protocol-Version header of messages that do not bring their own. It is known once
	// the handshake is over; versions before 2025-06-18 have no such header, and are not sent.
	SetVersion(protocolVersion string)
	// SessionID is the Mcp-Session-Id in use, "" if none: before initialize was answered, in the modern era, with servers that keep no
	// sessions, and over HTTP+SSE, where the session is a part of the URL that messages are posted to.
	SessionID() string
}

// Authorizer adds credentials to requests over HTTP, and hears how the server took them. Safe for concurrent use.
type Authorizer interface {
	// Authorize is called before each attempt to send a request. It may wait, such as for a token that is being refreshed, until the
	// request's context ends. An error is what the request ends with.
	Authorize(req *http.Request) error
	// Answered is called with the answer, whatever its status; the body is not for it. again says that there are better credentials
	// now. An error is what the request ends with; for none of both a refusal is an *HTTPError.
	Answered(req *http.Request, resp *http.Response) (again bool, err error)
}

// HTTPError is an answer over HTTP that is not what was asked for: a refusal by its status, an error response that names no request, a
// page in the place of a stream. A server that gave no HTTP answer at all is a *failure.Error of kind Transport instead.
type HTTPError struct {
	Status int         // as it came; never 0, and 2xx where it is the body that is wrong
	Method string      // POST, or GET for streams and WebSockets
	URL    string      // that was asked, without what may be a secret in it
	Header http.Header // of the answer
	Body   []byte      // at most 1 MiB. If it is a JSON-RPC error response it counts as the answer
}

// Error gives method, URL and status.
func (e *HTTPError) Error() string {
	return fmt.Sprintf("%s %s was answered with %d %s", e.Method, e.URL, e.Status, http.StatusText(e.Status))
}

// Tap is where a transport journals, and the mux above it. The zero value discards. It is copied freely: nothing in it changes.
type Tap struct {
	Journal *journal.Journal
	Server  string // name in the configs
	Conn    uint64 // which connection of that server, from 1
}

// Append fills in server and connection, and appends. It returns the entry's number, by which a later one can name it as its Peer; 0
// where nothing is recorded.
func (t Tap) Append(e journal.Entry, body []byte) uint64 {
	if t.Journal == nil {
		return 0
	}
	e.Server, e.Conn = t.Server, t.Conn
	return t.Journal.Append(e, body)
}
