package front

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/mcphud/mcphud/session/test/budget"
	"github.com/mcphud/mcphud/session/test/require"
	"github.com/mcphud/mcphud/session/test/require/assert"
)

// pipe is a client over stdio.
type pipe struct {
	in    *os.File
	lines *bufio.Scanner
	done  chan error
	stop  context.CancelFunc
}

func (f *fixture) stdio(t *testing.T) *pipe {
	t.Helper()
	r, in, err := os.Pipe()
	require.NoError(t, err)
	outR, outW, err := os.Pipe()
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(context.Background())
	p := &pipe{in: in, lines: bufio.NewScanner(outR), done: make(chan error, 1), stop: cancel}
	p.lines.Buffer(nil, 4<<20)
	go func() {
		p.done <- f.ServeStdio(ctx, r, outW)
		_ = outW.Close()
	}()
	t.Cleanup(func() {
		cancel()
		_ = in.Close()
		_ = r.Close()
		_ = outR.Close()
	})
	return p
}

func (p *pipe) write(lines ...string) {
	_, _ = io.WriteString(p.in, strings.Join(lines, "\n")+"\n")
}

func (p *pipe) line(t *testing.T) string {
	t.Helper()
	if !p.lines.Scan() {
		t.Fatal("the output ended: ", p.lines.Err())
	}
	return p.lines.Text()
}

// longDrain is how long calls get where the process is stopped, which is not what they get at the end of the input: that is
// atOnce, even on a machine that has much else to do.
func longDrain(o *Options) { o.Timeouts.Drain = time.Hour }

const atOnce = 30 * time.Second

func TestA10_StdioAnswersAndEnds(t *testing.T) {
	f := start(t, longDrain)
	p := f.stdio(t)
	p.write(`{"jsonrpc":"2.0","id":"i","method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`)
	if l := p.line(t); !strings.HasPrefix(l, `{"jsonrpc":"2.0","id":"i","result":{`) {
		t.Fatal(l)
	}
	modernCall, _ := modern(`"m"`, "tools/call", `"name":"echo","arguments":{"x":1}`, "echo")
	p.write(`{"jsonrpc":"2.0","method":"notifications/initialized"}`, "", "  ", `{bad`, `[{}]`, `{"id":1}`, modernCall, call("9007199254740993", "echo", `{"é":1}`))
	want := map[string]bool{
		`{"jsonrpc":"2.0","id":null,"error":{"code":-32700`: true, `{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"Batch requests are not supported"`: true,
		`{"jsonrpc":"2.0","id":1,"error":{"code":-32600`: true, `{"jsonrpc":"2.0","id":"m","result":{`: true, `{"jsonrpc":"2.0","id":9007199254740993,"result":{`: true,
	}
	_ = p.in.Close()
	began := time.Now()
	for p.lines.Scan() {
		found := false
		for prefix := range want {
			if strings.HasPrefix(p.lines.Text(), prefix) {
				delete(want, prefix)
				found = true
			}
		}
		if !found {
			t.Errorf("stray output: %s", p.lines.Text())
		}
	}
	if err := <-p.done; err != nil || len(want) > 0 || time.Since(began) > atOnce {
		t.Error(err, want, time.Since(began))
	}
}

func TestA10_StdioEOFEndsWhatRuns(t *testing.T) {
	t.Parallel()
	f := start(t, longDrain)
	p := f.stdio(t)
	p.write(call("1", "block", "{}"))
	<-f.started
	_ = p.in.Close()
	began := time.Now()
	if err := <-p.done; err != nil || time.Since(began) > atOnce {
		t.Error(err, time.Since(began))
	}
	<-f.ended
}

func TestA10_StdioStopsByContext(t *testing.T) {
	f := start(t, nil)
	p := f.stdio(t)
	p.write(call("1", "echo", "{}"))
	p.line(t)
	p.stop()
	assert.NoError(t, <-p.done)
}

func TestQ9_StdioDrainsWhenItIsStopped(t *testing.T) {
	t.Parallel()
	const drain = 1200 * time.Millisecond // longer than what calls get at the end of the input
	f := start(t, func(o *Options) { o.Timeouts.Drain = drain })
	p := f.stdio(t)
	p.write(call("1", "block", "{}"))
	<-f.started
	p.stop()
	began := time.Now()
	if err := <-p.done; err != nil || time.Since(began) < drain {
		t.Errorf("%v after %v", err, time.Since(began))
	}
	<-f.ended
}

func TestA7_StdioLineLimit(t *testing.T) {
	f := start(t, func(o *Options) { o.MaxLine = 1000 })
	p := f.stdio(t)
	frame := func(n int) string {
		head := call("1", "echo", `{"x":"%s"}`)
		return fmt.Sprintf(head, strings.Repeat("x", n-len(head)+2))
	}
	p.write(frame(1000))
	assert.Contains(t, p.line(t), `"id":1,"result"`)
	for _, n := range []int{1001, 500_000} {
		p.write(frame(n))
		if l := p.line(t); !strings.HasPrefix(l, `{"jsonrpc":"2.0","id":1,"error":{"code":-32600`) || !strings.Contains(l, `"kind":"too_large"`) || !strings.Contains(l, "1000 bytes") {
			t.Error(n, l)
		}
	}
	// Whoever waits for an answer to it gets one, wherever the id stands; what has none, or two, gets null.
	long := strings.Repeat("x", 200_000)
	for frame, id := range map[string]string{
		`{"jsonrpc":"2.0","id":"a\"b","method":"x","params":{"p":"` + long + `"}}`:                               `"a\"b"`,
		`{"method":"x","params":{"id":5,"q":[{"id":6}],"p":"\"id\":7,` + long + `"},"jsonrpc":"2.0", "id" : 8 }`: `8`,
		`{"jsonrpc":"2.0","method":"x","params":{"p":"` + long + `"}}`:                                           `null`,
		`{"id":1,"id":2,"jsonrpc":"2.0","method":"x","params":{"p":"` + long + `"}}`:                             `null`,
		`{"id":{"a":1},"jsonrpc":"2.0","method":"x","params":{"p":"` + long + `"}}`:                              `null`,
		`{"id":"` + long + `","jsonrpc":"2.0","method":"x"}`:                                                     `null`,
		long: `null`,
	} {
		p.write(frame)
		if l := p.line(t); !strings.HasPrefix(l, `{"jsonrpc":"2.0","id":`+id+`,"error":{"code":-32600`) {
			t.Errorf("%.80s: %.200s", frame, l)
		}
	}
	p.write(call("2", "echo", "{}"))
	assert.Contains(t, p.line(t), `"id":2,"result"`)
	assert.Equalf(t, New(Options{Engine: f.engine}).o.MaxLine, 1<<20, "the default is 1 MiB")
}

// Both eras: over stdio a cancellation is a notification, and the cancelled request gets no answer.
func TestQ7_StdioCancel(t *testing.T) {
	f := start(t, nil)
	p := f.stdio(t)
	blocked, _ := modern(`"m"`, "tools/call", `"name":"block","arguments":{}`, "")
	p.write(call("7", "block", "{}"), blocked)
	<-f.started
	<-f.started
	p.write(
		`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":7}}`,
		`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"m"}}`,
		`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":99}}`)
	<-f.ended
	<-f.ended
	p.write(call("8", "echo", "{}"))
	assert.Contains(t, p.line(t), `"id":8,`)
}

func TestP9_StdioNotificationsInOrder(t *testing.T) {
	f := start(t, nil)
	p := f.stdio(t)
	p.write(call("1", "notify", `{"n":50}`))
	for i := range 50 {
		if l := p.line(t); !strings.Contains(l, fmt.Sprintf(`"progress":%d,`, i)) {
			t.Fatal(i, l)
		}
	}
	assert.Contains(t, p.line(t), `"id":1,"result"`)
}

func TestStdioSampling(t *testing.T) {
	f := start(t, nil)
	p := f.stdio(t)
	p.write(`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{"sampling":{}},"clientInfo":{"name":"t","version":"1"}}}`)
	p.line(t)
	p.write(call(`"1"`, "ask", "{}"))
	if l := p.line(t); !strings.HasPrefix(l, `{"jsonrpc":"2.0","id":1,"method":"sampling/createMessage"`) {
		t.Fatal(l)
	}
	p.write(`{"jsonrpc":"2.0","id":1,"result":{"role":"assistant","model":"me","content":{"type":"text","text":"I"}}}`)
	assert.Contains(t, p.line(t), "I by me")
}

// A client that is gone listens no more: its open subscriptions must not hold up the end, or whoever started the process
// kills it before its database is closed.
func TestEndOfInputEndsListening(t *testing.T) {
	f := start(t, nil)
	limit := lastWords / 2
	took := budget.Median(func() {
		p := f.stdio(t)
		body, _ := modern("1", "subscriptions/listen", `"notifications":{"toolsListChanged":true}`, "")
		p.write(body)
		p.line(t) // it listens
		_ = p.in.Close()
		assert.NoError(t, <-p.done)
	})
	if took > limit {
		t.Errorf("%v from the end of the input", took)
	}
}
