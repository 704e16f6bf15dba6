package budget

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"
)

// Load is a burst of equal HTTP POSTs.
type Load struct {
	Addr    string   // host:port
	Path    string   // such as /mcp
	Header  []string // further lines, such as "Mcp-Session-Id: x"
	Body    string   // JSON
	Want    string   // what each answer has to contain
	Clients int      // connections at a time
	Calls   int      // in all
}

// Run sends the load and returns how long that took. Each client has a connection of its own and writes the same bytes
// again and again, so that it costs as little as it can. Answers that are not 200 or lack Want fail the test.
func (l Load) Run(t testing.TB) time.Duration {
	t.Helper()
	var head strings.Builder
	for _, h := range l.Header {
		head.WriteString(h + "\r\n")
	}
	request := fmt.Appendf(nil, "POST %s HTTP/1.1\r\nHost: %s\r\nContent-Type: application/json\r\nAccept: application/json, text/event-stream\r\n%sContent-Length: %d\r\n\r\n%s",
		l.Path, l.Addr, head.String(), len(l.Body), l.Body)
	conns := make([]net.Conn, l.Clients)
	for i := range conns {
		c, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", l.Addr)
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		conns[i] = c
	}
	return Time(func() {
		var wg sync.WaitGroup
		for _, c := range conns {
			wg.Go(func() {
				r := bufio.NewReader(c)
				for range l.Calls / l.Clients {
					if err := l.call(c, r, request); err != nil {
						t.Error(err)
						return
					}
				}
			})
		}
		wg.Wait()
	})
}

func (l Load) call(c net.Conn, r *bufio.Reader, request []byte) error {
	if _, err := c.Write(request); err != nil {
		return err
	}
	res, err := http.ReadResponse(r, nil)
	if err != nil {
		return err
	}
	got, err := io.ReadAll(res.Body)
	if err != nil || res.StatusCode != http.StatusOK || !strings.Contains(string(got), l.Want) {
		return fmt.Errorf("%d %s %w", res.StatusCode, got, err)
	}
	return nil
}
