package proxy

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"io"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/mcphud/mcphud/session/base/jsonrpc"
	"github.com/mcphud/mcphud/session/test/budget"
)

// largeGrowth is how much memory the router may take for a large answer, in bytes.
const largeGrowth = 8_000_000

// largeText is how many bytes the text of a large answer has.
func largeText() int {
	if budget.Race() { // with which nobody measures memory
		return 5_000_000
	}
	return 50_000_000
}

// large answers a call with a text of 50 MB: as a JSON text, one of unknown length, or an event, as the arguments say.
func large(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	e, err := jsonrpc.Scan(body)
	switch {
	case err != nil:
		w.WriteHeader(http.StatusBadRequest)
		return
	case e.Method == "initialize":
		w.Header().Set("Mcp-Session-Id", "large")
		fallthrough
	case e.Method != "tools/call":
		reply(w, e.ID, `{"protocolVersion":"2025-06-18"}`)
		return
	case bytes.Contains(body, []byte(`"small"`)):
		reply(w, e.ID, `{}`)
		return
	}
	switch as := string(body); {
	case strings.Contains(as, `"event"`):
		sseHead(w)
	case strings.Contains(as, `"length"`):
		w.Header().Set("Content-Length", strconv.Itoa(writeLarge(io.Discard, e.ID, "", "")))
		fallthrough
	default:
		w.Header().Set("Content-Type", "application/json")
	}
	if strings.Contains(string(body), `"event"`) {
		writeLarge(w, e.ID, "event: message\ndata: ", "\n\n")
		return
	}
	writeLarge(w, e.ID, "", "")
}

// writeLarge writes the large answer and returns how many bytes it has.
func writeLarge(w io.Writer, id []byte, before, after string) int {
	n, _ := fmt.Fprintf(w, `%s{"jsonrpc":"2.0","id":%s,"result":{"content":[{"type":"text","text":"`, before, id) // who reads compares the hash
	line := make([]byte, 0, 4096)
	for i := 0; i < largeText(); i += len(line) {
		line = fmt.Appendf(line[:0], "%d ", i)
		for len(line) < 4000 {
			line = append(line, line[:min(len(line), 4000-len(line))]...)
		}
		k, err := w.Write(line[:min(4000, largeText()-i)])
		if n += k; err != nil {
			return n
		}
	}
	k, _ := fmt.Fprintf(w, `"}]}}%s`, after) // as above
	return n + k
}

// largeAnswers lets large answers pass, which must arrive as they were sent, and returns by how much the router's memory grew
// while one of each kind did.
func largeAnswers(t testing.TB) (growth int64) {
	t.Helper()
	_, router := stackOf(t, "large")
	call := func(as, accept string, want []byte) {
		body := fmt.Appendf(nil, `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"echo","arguments":{"as":%q}}}`, as)
		req, err := http.NewRequestWithContext(t.Context(), "POST", router.endpoint(), bytes.NewReader(body))
		if err != nil {
			t.Error(err)
			return
		}
		req.Header.Set("Content-Type", "application/json")
		req.Header.Set("Accept", accept)
		req.Header.Set("Authorization", "Bearer "+budgetToken)
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Error(err)
			return
		}
		defer func() { _ = res.Body.Close() }()
		sum := sha256.New()
		if n, err := io.Copy(sum, res.Body); err != nil || res.StatusCode != 200 || want != nil && !bytes.Equal(sum.Sum(nil), want) {
			t.Errorf("%s: %d with %d bytes, which are others than were sent; %v", as, res.StatusCode, n, err)
		}
		if as == "length" && res.ContentLength < int64(largeText()) {
			t.Errorf("Content-Length: %d", res.ContentLength)
		}
	}
	sum := func(before, after string) []byte {
		s := sha256.New()
		writeLarge(s, []byte("7"), before, after)
		return s.Sum(nil)
	}
	plain, event := sum("", ""), sum("event: message\ndata: ", "\n\n")
	call("small", accept, nil)
	for _, c := range []struct {
		as, accept string
		want       []byte
		callers    int // at once, with one id
	}{
		{"length", accept, plain, 1},
		{"chunks", accept, plain, 1},
		{"event", accept, event, 1},
		{"chunks", accept, plain, 2},
		{"event", "*/*", plain, 1}, // taken out of its event
		{"event", "*/*", plain, 2},
	} {
		before := budget.Status(t, router.pid, "VmRSS")
		router.forgetPeak(t)
		var all sync.WaitGroup
		for range c.callers {
			all.Go(func() { call(c.as, c.accept, c.want) })
		}
		all.Wait()
		growth = max(growth, budget.Status(t, router.pid, "VmHWM")-before)
	}
	http.DefaultClient.CloseIdleConnections()
	return growth
}

func TestR6_LargeAnswersPassWithoutBeingKept(t *testing.T) {
	if growth := largeAnswers(t); growth > largeGrowth && !budget.Race() {
		t.Errorf("the router grew by %d bytes", growth)
	}
}

func TestBudgetRouterLargeAnswer(t *testing.T) {
	budget.Skip(t)
	budget.Size(t, "router: memory while a reply of 50 MB passes", largeAnswers(t), largeGrowth, 1)
}

// forgetPeak makes what a child holds now the most that it held.
func (c *child) forgetPeak(t testing.TB) {
	t.Helper()
	if err := os.WriteFile("/proc/"+strconv.Itoa(c.pid)+"/clear_refs", []byte("5"), 0o600); err != nil {
		t.Skipf("the memory of another process is not to be had here: %v", err)
	}
}
