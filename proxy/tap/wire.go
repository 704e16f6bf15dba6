package tap

import (
	"bufio"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/mcphud/mcphud/session/wire/journal"
)

// Version is the version of the stream.
const Version = 1

// The kinds of producers.
const (
	Router  = "router" // each entry names its agent
	Wrapped = "server" // one server, started by another client
	Agent   = "agent"  // the bundled agent, which records no frames but spans
)

// Hello describes a producer. All of it is untrusted text of another process.
type Hello struct {
	Version  int       `json:"mcphud-tap"`
	Name     string    `json:"name"`
	Kind     string    `json:"kind"` // Router, Wrapped or Agent
	PID      int       `json:"pid"`
	Argv     []string  `json:"argv"`     // its command line, secrets masked
	Started  time.Time `json:"started"`  // when the socket was opened
	Instance string    `json:"instance"` // unique id of the producer
}

// The messages of the stream.
const (
	msgHello   = 'h'
	msgEntry   = 'e'
	msgDropped = 'd'
	msgLive    = 'l'
)

// Limits of a message. Masking can lengthen a body a little.
const (
	maxHead = 64 << 10
	maxBody = 2 * MaxBody
)

// head is the metadata of an entry on the wire.
type head struct {
	Seq    uint64 `json:"seq"`  // counts up by one for each record of a producer; a record can be several entries
	Time   int64  `json:"time"` // nanoseconds since 1970
	Server string `json:"server,omitempty"`
	Conn   uint32 `json:"conn,omitempty"`
	Dir    string `json:"dir,omitempty"`
	Kind   string `json:"kind"`
	Method string `json:"method,omitempty"`
	ID     string `json:"id,omitempty"`
	Tool   string `json:"tool,omitempty"`
	Status string `json:"status,omitempty"`
	Note   string `json:"note,omitempty"`
	Trace  string `json:"trace,omitempty"`
	Took   int64  `json:"took,omitempty"` // of a span, in nanoseconds
}

type dropped struct {
	Dropped uint64 `json:"dropped"`
}

// headOf returns the metadata of an entry for sending.
func headOf(seq uint64, e journal.Entry) head {
	return head{
		Seq: seq, Time: e.Time.UnixNano(), Server: e.Server, Conn: uint32(e.Conn), Dir: e.Dir.String(), Kind: e.Kind.String(),
		Method: e.Method, ID: e.ID, Tool: e.Tool, Status: e.Status, Note: e.Note,
		Trace: e.Trace, Took: int64(e.Took),
	}
}

// entry converts received metadata. One of an unknown kind becomes a State entry.
func (h head) entry() journal.Entry {
	e := journal.Entry{
		Time: time.Unix(0, h.Time), Server: h.Server, Conn: uint64(h.Conn), Method: h.Method, ID: h.ID, Tool: h.Tool, Status: h.Status, Note: h.Note,
		Trace: h.Trace, Took: time.Duration(max(h.Took, 0)), Dir: journal.DirOf(h.Dir), Kind: journal.KindOf(h.Kind),
	}
	if e.Kind == 0 {
		e.Kind, e.Note = journal.State, fmt.Sprintf("entry of unknown kind %.40q", h.Kind)
	}
	return e
}

// write writes one message.
func write(w *bufio.Writer, kind byte, v any, body []byte) error {
	text, err := json.Marshal(v)
	if err != nil { // strings and numbers only: cannot happen
		return err
	}
	var prefix [9]byte
	prefix[0] = kind
	binary.BigEndian.PutUint32(prefix[1:], uint32(len(text)))
	binary.BigEndian.PutUint32(prefix[5:], uint32(len(body)))
	_, _ = w.Write(prefix[:]) // a bufio.Writer keeps its first error
	_, _ = w.Write(text)
	_, err = w.Write(body)
	return err
}

// errStream is wrapped by errors about data that no producer sends.
var errStream = errors.New("not a tap stream")

// read reads one message.
func read(r *bufio.Reader) (kind byte, text, body []byte, err error) {
	var prefix [9]byte
	if _, err := io.ReadFull(r, prefix[:]); err != nil {
		return 0, nil, nil, err
	}
	nt, nb := binary.BigEndian.Uint32(prefix[1:]), binary.BigEndian.Uint32(prefix[5:])
	if nt > maxHead || nb > maxBody {
		return 0, nil, nil, fmt.Errorf("%w: message of %d and %d bytes", errStream, nt, nb)
	}
	text = make([]byte, nt)
	if _, err := io.ReadFull(r, text); err != nil {
		return 0, nil, nil, err
	}
	if nb > 0 {
		body = make([]byte, nb)
		if _, err := io.ReadFull(r, body); err != nil {
			return 0, nil, nil, err
		}
	}
	return prefix[0], text, body, nil
}
