package sandbox

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
)

// What passes between the agent and a worker are frames: a length of 4 bytes (big endian), one byte that says what it
// is, and that many bytes of JSON or nothing.
const (
	frameReady   = 'r' // worker: I am up
	frameRun     = 'q' // agent: run this (request)
	frameStarted = 's' // worker: I have the request and run it from now on
	frameDone    = 'd' // worker: this came of it (outcome)
)

// maxFrame bounds what one side takes from the other. Code and output are capped far below it, so only a worker that is
// not itself any more sends so much.
const maxFrame = 16 << 20

// request is one piece of code to run.
type request struct {
	Code    string `json:"code"`
	Memory  int64  `json:"memory"`        // bytes that the engine may allocate
	Output  int    `json:"output"`        // bytes of JSON that result and console may have together
	Timeout int64  `json:"timeout_ms"`    // how long the agent will wait
	PDF     []byte `json:"pdf,omitempty"` // a document to read instead
}

// outcome is what became of a request.
type outcome struct {
	Type      string          `json:"type,omitempty"`   // typeof the completion value
	Result    json.RawMessage `json:"result,omitempty"` // its JSON; none for undefined
	Console   []Line          `json:"console"`
	Truncated bool            `json:"truncated,omitempty"`
	Error     *Thrown         `json:"error,omitempty"`
	Spent     bool            `json:"spent,omitempty"` // the worker ran out of memory and should not be used again
	Micros    int64           `json:"us"`
	Pages     []string        `json:"pages,omitempty"` // of a document
}

func writeFrame(w io.Writer, kind byte, v any) error {
	var b bytes.Buffer
	b.Write([]byte{0, 0, 0, 0, kind})
	if v != nil {
		e := json.NewEncoder(&b)
		e.SetEscapeHTML(false) // it would make six bytes of one
		if err := e.Encode(v); err != nil {
			return fmt.Errorf("sandbox: frame %q: %w", kind, err)
		}
	}
	binary.BigEndian.PutUint32(b.Bytes(), uint32(b.Len()-5))
	_, err := w.Write(b.Bytes())
	return err
}

// readFrame decodes the next frame into v and fails if it is of another kind.
func readFrame(r io.Reader, kind byte, v any) error {
	var head [5]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return err
	}
	n := binary.BigEndian.Uint32(head[:4])
	if n > maxFrame || head[4] != kind {
		return fmt.Errorf("sandbox: unexpected frame %q of %d bytes, want %q", head[4], n, kind)
	}
	body := make([]byte, n)
	if _, err := io.ReadFull(r, body); err != nil {
		return err
	}
	if v == nil {
		return nil
	}
	return json.Unmarshal(body, v)
}
