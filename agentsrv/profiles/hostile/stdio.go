package hostile

import (
	"bufio"
	"context"
	"io"
	"sync"
	"time"

	"github.com/mcphud/mcphud/session/base/jsonrpc"
)

// maxLine is how long a line may be that is looked at; longer ones are passed on unseen.
const maxLine = 1 << 20

// maxBusy bounds the broken tools that run at once over stdio.
const maxBusy = 256

// Stdio puts the broken tools between a client's pipes and the agent: it returns what the agent shall read and write instead.
// Those that take time end with ctx.
func (s *Server) Stdio(ctx context.Context, in io.Reader, out io.Writer) (io.Reader, io.Writer) {
	w := &lockedWriter{out: out}
	return &filter{s: s, ctx: ctx, from: in, in: bufio.NewReaderSize(in, maxLine), out: w, busy: make(chan struct{}, maxBusy)}, w
}

// lockedWriter keeps what two sides write from getting into each other. Each write is a whole frame.
type lockedWriter struct {
	mu  sync.Mutex
	out io.Writer
}

func (l *lockedWriter) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.out.Write(p)
}

// filter reads lines, and keeps those that call a broken tool to itself.
type filter struct {
	s    *Server
	ctx  context.Context
	from io.Reader
	in   *bufio.Reader
	out  *lockedWriter
	rest []byte // of a line that is passed on
	long bool   // rest is a part of a line
	busy chan struct{}
}

// SetReadDeadline is what lets the agent stop reading, where the pipe underneath has it.
func (f *filter) SetReadDeadline(t time.Time) error {
	if d, ok := f.from.(interface{ SetReadDeadline(time.Time) error }); ok {
		return d.SetReadDeadline(t)
	}
	return nil
}

func (f *filter) Read(p []byte) (int, error) {
	for len(f.rest) == 0 {
		line, err := f.in.ReadSlice('\n')
		part := f.long
		f.long = err == bufio.ErrBufferFull
		if !part && !f.long && f.answerBroken(line) {
			line = nil
		}
		f.rest = line
		if err != nil && !f.long && len(line) == 0 {
			return 0, err
		}
	}
	n := copy(p, f.rest)
	f.rest = f.rest[n:]
	return n, nil
}

// answerBroken answers a line if it calls a broken tool.
func (f *filter) answerBroken(line []byte) bool {
	env, err := jsonrpc.Scan(line)
	if err != nil || env.Method != "tools/call" || env.ID == nil {
		return false
	}
	tool := jsonrpc.GetString(env.Params, "name")
	id, args := string(env.ID), []byte(string(jsonrpc.Get(env.Params, "arguments"))) // the line's bytes are used again
	w := overStdio{f.out}
	if do := wireTool(tool); do != nil {
		select {
		case f.busy <- struct{}{}:
			go func() {
				defer func() { <-f.busy }()
				do(f.ctx, f.s, w, id, args)
			}()
		default: // not answering is broken too
		}
		return true
	}
	for _, d := range httpTools() {
		if d.name == tool {
			unavailable(w, id, tool)
			return true
		}
	}
	return false
}

// overStdio answers on stdout.
type overStdio struct{ out io.Writer }

func (o overStdio) message(frame string) { o.bytes(frame + "\n") }
func (o overStdio) bytes(b string)       { _, _ = io.WriteString(o.out, b) } // a client that is gone misses nothing
func (o overStdio) end()                 { o.bytes("\n") }
func (overStdio) hangUp()                {}
