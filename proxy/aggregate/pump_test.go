package aggregate

import (
	"bytes"
	"context"
	"net/http/httptest"
	"strconv"
	"testing"
	"time"

	"github.com/mcphud/mcphud/session/test/require/assert"
	"github.com/mcphud/mcphud/session/wire/sse"
)

// busy is a response to which another message waits whenever one was written.
type busy struct {
	*httptest.ResponseRecorder
	wrote func()
}

func (b busy) Write(p []byte) (int, error) {
	b.wrote()
	return b.ResponseRecorder.Write(p)
}

// A client whose rights end gets no more messages, however many wait.
func TestR9_AStreamEndsWhileMessagesWait(t *testing.T) {
	ctx, revoke := context.WithCancel(t.Context())
	s := New(Options{Bind: func(context.Context, string) (context.Context, func()) { return ctx, func() {} }})
	m, n := newMailbox(), 0
	w := busy{httptest.NewRecorder(), func() {
		if n++; n == 3 {
			revoke()
			time.Sleep(10 * time.Millisecond) // the context may tell others of its end a little later
		}
		if n < 100 {
			m.put([]byte(strconv.Itoa(n)))
		}
	}}
	r := httptest.NewRequestWithContext(t.Context(), "GET", "/mcp", nil)
	m.put([]byte("0"))
	x := &exchange{s: s, w: w, r: r, c: &client{}, out: sse.NewWriter(w, r, time.Second)}
	x.pump(r.Context(), m)
	if got := bytes.Count(w.Body.Bytes(), []byte("data: ")); got != 3 {
		t.Errorf("%d messages:\n%s", got, w.Body)
	}
	assert.NoError(t, s.Close())
}
