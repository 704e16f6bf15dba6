package transport

import (
	"context"
	"fmt"
	"io"
	"sync"
	"time"
)

// NewMemory returns a transport to a server in this process. serve speaks MCP's stdio framing over in and out, one frame
// a line, until in ends or ctx is done; mcp-go's server.NewStdioServer(s).Listen is such a function. It runs once, from
// Start to Close.
func NewMemory(serve func(ctx context.Context, in io.Reader, out io.Writer) error) Transport {
	return &memory{serve: serve, done: make(chan struct{})}
}

// memory is a server in this process, at the other end of two pipes.
type memory struct {
	serve func(context.Context, io.Reader, io.Writer) error
	w     *lineWriter
	stop  func()         // ends the server's input and context; nil before Start
	once  sync.Once      // of Close
	done  chan struct{}  // closed by Close, after which an end is not reported
	wg    sync.WaitGroup // the server, and who reads from it
}

// Traits have a kind that no configuration can name, and nothing of HTTP or of a child.
func (m *memory) Traits() Traits { return Traits{Kind: "memory"} }

// Start runs the server.
func (m *memory) Start(_ context.Context, in Receiver) error {
	theirIn, ourOut := io.Pipe()
	ourIn, theirOut := io.Pipe()
	ctx, cancel := context.WithCancel(context.Background())
	m.stop = func() {
		cancel()
		_, _ = ourOut.Close(), ourIn.Close()
	}
	m.w = newLineWriter(ourOut, m.done, func(error) { m.stop() })
	var failed error
	m.wg.Go(func() {
		failed = m.serve(ctx, theirIn, theirOut)
		_, _ = theirOut.Close(), theirIn.Close()
	})
	m.wg.Go(func() {
		_ = newLineReader(0, in).run(ourIn) // a pipe in memory only ever ends
		select {
		case <-m.done:
			return
		default:
		}
		// theirOut was closed after failed was set, or by the server itself, which is an end as well.
		err := fmt.Errorf("the server ended")
		if failed != nil {
			err = fmt.Errorf("the server ended: %w", failed)
		}
		in.Lost(err)
	})
	return nil
}

// Send writes one frame to the server.
func (m *memory) Send(ctx context.Context, msg Message) error { return m.w.write(ctx, msg.Frame) }

// Close ends the server's input and context, and waits for it to return, five seconds at most. One that does not is an error, and what is left
// of it: a goroutine cannot be killed.
func (m *memory) Close() error {
	m.once.Do(func() {
		close(m.done)
		if m.stop != nil {
			m.stop()
		}
	})
	gone := make(chan struct{})
	go func() { m.wg.Wait(); close(gone) }()
	select {
	case <-gone:
		return nil
	case <-time.After(5 * time.Second):
		return fmt.Errorf("the in-memory server did not return within 5 s of being told to stop")
	}
}
