package views_test

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"strconv"
	"strings"
	"time"
)

// flood is a server of two tools that sends log notifications all the time, and
// while a call runs its progress. All calls take until answer is closed.
type flood struct {
	perSecond int
	progress  int  // notifications in one call
	quiet     bool // no log notifications
	answer    chan struct{}
}

// floodBeat is the distance of two bursts.
const floodBeat = 5 * time.Millisecond

func (f *flood) serve(ctx context.Context, in io.Reader, out io.Writer) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	replies, calls := make(chan string), make(chan floodCall)
	go f.write(ctx, out, replies, calls)
	lines := bufio.NewScanner(in)
	for lines.Scan() {
		var c floodCall
		if json.Unmarshal(lines.Bytes(), &c) != nil || c.ID == nil {
			continue
		}
		reply := `"result":{}`
		switch c.Method {
		case "server/discover":
			reply = `"error":{"code":-32601,"message":"unknown method"}`
		case "initialize":
			reply = `"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{},"logging":{}},"serverInfo":{"name":"flood","version":"1"}}`
		case "tools/list":
			reply = `"result":{"tools":[{"name":"first","inputSchema":{"type":"object"}},{"name":"second","inputSchema":{"type":"object"}}]}`
		case "tools/call":
			select {
			case calls <- c:
			case <-ctx.Done():
			}
			continue
		}
		select {
		case replies <- c.reply(reply):
		case <-ctx.Done():
		}
	}
	return lines.Err()
}

// floodCall is what a request says.
type floodCall struct {
	ID     json.RawMessage
	Method string
	Params struct {
		Meta struct{ ProgressToken json.RawMessage } `json:"_meta"`
	}
}

func (c *floodCall) reply(member string) string {
	return `{"jsonrpc":"2.0","id":` + string(c.ID) + `,` + member + "}\n"
}

// progress renders the notifications from..to-1 of total.
func (c *floodCall) progress(from, to, total int) string {
	var b strings.Builder
	for i := from; i < to; i++ {
		b.WriteString(`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":` + string(c.Params.Meta.ProgressToken) +
			`,"progress":` + strconv.Itoa(i+1) + `,"total":` + strconv.Itoa(total) + "}}\n")
	}
	return b.String()
}

// write is the only one that writes to out.
func (f *flood) write(ctx context.Context, out io.Writer, replies <-chan string, calls <-chan floodCall) {
	burst := f.perSecond * int(floodBeat) / int(time.Second)
	logs := strings.Repeat(`{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","logger":"flood","data":"one of many"}}`+"\n", burst)
	clock := time.NewTicker(floodBeat)
	defer clock.Stop()
	var call *floodCall
	sent := 0
	for {
		var s string
		select {
		case <-clock.C:
			if !f.quiet {
				s = logs
			}
			if call != nil && sent < f.progress {
				next := min(sent+burst, f.progress)
				s += call.progress(sent, next, f.progress)
				sent = next
			}
		case s = <-replies:
		case c := <-calls:
			call, sent = &c, 0
		case <-f.answer:
			if call == nil {
				return
			}
			s = call.reply(`"result":{"content":[{"type":"text","text":"all done"}]}`)
			call = nil
			f.answer = nil
		case <-ctx.Done():
			return
		}
		if _, err := io.WriteString(out, s); err != nil {
			return
		}
	}
}
