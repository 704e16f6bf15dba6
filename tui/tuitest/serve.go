package tuitest

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"sync"
	"sync/atomic"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"
)

// serveMCP speaks for an mcp-go server over in and out. mcp-go's own stdio
// server keeps one session in a package variable, whose channel is not of the
// bubble, so that no bubble with it is ever idle.
func serveMCP(s *server.MCPServer) Serve {
	var count atomic.Int64
	return func(ctx context.Context, in io.Reader, out io.Writer) error {
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		client := server.NewInProcessSession(fmt.Sprintf("memory-%d", count.Add(1)), nil)
		if err := s.RegisterSession(ctx, client); err != nil {
			return err
		}
		defer s.UnregisterSession(context.WithoutCancel(ctx), client.SessionID())
		ctx = s.WithContext(ctx, client)

		w := &lineWriter{out: out}
		var wg sync.WaitGroup
		defer wg.Wait()
		defer cancel()
		wg.Go(func() {
			for {
				select {
				case <-ctx.Done():
					return
				case n := <-client.ClientNotifications():
					w.write(n)
				}
			}
		})
		r := bufio.NewReader(in)
		for {
			line, err := r.ReadBytes('\n')
			if err != nil {
				if err == io.EOF || ctx.Err() != nil {
					return nil
				}
				return err
			}
			var head struct {
				ID     json.RawMessage `json:"id"`
				Method string          `json:"method"`
			}
			if json.Unmarshal(line, &head) == nil && head.Method != "" && head.ID != nil && head.Method != string(mcp.MethodInitialize) {
				wg.Go(func() { w.write(s.HandleMessage(ctx, line)) })
				continue
			}
			w.write(s.HandleMessage(ctx, line))
		}
	}
}

// lineWriter writes one message a line. An error means that the client is
// gone, which the reading side notices.
type lineWriter struct {
	mu  sync.Mutex
	out io.Writer
}

func (w *lineWriter) write(m any) {
	if m == nil {
		return
	}
	b, err := json.Marshal(m)
	if err != nil {
		b, _ = json.Marshal(mcp.NewJSONRPCError(mcp.NewRequestId(nil), mcp.INTERNAL_ERROR, err.Error(), nil))
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	_, _ = w.out.Write(append(b, '\n'))
}
