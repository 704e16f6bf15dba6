package behave

import (
	"context"
	"encoding/json"
	"strconv"
	"strings"
	"time"
)

// goodTools renders the tools of every mode without a list of its own. Each
// line is one thing that a server can do to a call.
func goodTools() string {
	tool := func(name, description, properties string) string {
		return `{"name":"` + name + `","description":"` + description + `","inputSchema":{"type":"object","properties":{` + properties + `}}}`
	}
	return `[` + strings.Join([]string{
		tool("echo", "Returns its arguments as text", `"text":{"type":"string"}`),
		tool("add", "Adds two numbers; structured result", `"a":{"type":"number"},"b":{"type":"number"}`),
		tool("kinds", "Returns one content of each kind, one unknown", ``),
		tool("is_error", "Returns isError", ``),
		tool("rpc_error", "Answers a JSON-RPC error with data", ``),
		tool("sleep", "Answers after ms milliseconds, unless cancelled", `"ms":{"type":"integer","default":1000}`),
		tool("wait", "Answers never, ends when cancelled", ``),
		tool("late", "Answers only after it was cancelled", ``),
		tool("cancelled", "Lists the request ids that were cancelled", ``),
		tool("methods", "Lists the methods that arrived so far", ``),
		tool("progress", "Sends count progress notifications, then answers", `"count":{"type":"integer","default":10000}`),
		tool("notify", "Sends count log notifications, then answers", `"count":{"type":"integer","default":100}`),
		tool("big", "Returns one text of the given bytes", `"bytes":{"type":"integer","default":50000000}`),
		tool("twice", "Answers twice", ``),
		tool("wrong_id", "Answers with a foreign id", ``),
		tool("half", "Sends half a frame, then nothing", ``),
		tool("noise", "Prints log lines on stdout, then answers", ``),
		tool("crash", "Ends the server mid-call", ``),
		tool("pids", "Tells the process ids of the server and its child", ``),
		tool("hostile", "Returns text full of escape sequences", ``),
	}, ",") + `]`
}

// arguments are those of every tool.
type arguments struct {
	A, B  json.Number
	Ms    *int
	Count *int
	Bytes *int
}

// or returns *p, or def where the argument was left out.
func or(p *int, def int) int {
	if p == nil {
		return def
	}
	return *p
}

// call runs one tools/call.
func (s *server) call(ctx context.Context, c conn, r request) {
	var a arguments
	_ = json.Unmarshal(r.Params.Arguments, &a) // echo takes any arguments; the others fall back on defaults
	reply := func(body string) { s.answer(c, r, result(r.ID, s.complete(body))) }
	switch r.Params.Name {
	case "big":
		s.answerBig(c, r, or(a.Bytes, bigBytes))
	case "wait":
		<-ctx.Done()
	case "late":
		<-ctx.Done()
		reply(text("too late"))
	case "sleep":
		select {
		case <-ctx.Done():
		case <-time.After(time.Duration(or(a.Ms, 1000)) * time.Millisecond):
			reply(text("slept"))
		}
	case "progress":
		s.progress(ctx, c, r, or(a.Count, 10_000))
		reply(text("done"))
	case "notify":
		for i := range or(a.Count, 100) {
			c.write(notification("notifications/message", `{"level":"info","logger":"fake","data":"message `+strconv.Itoa(i+1)+`"}`))
		}
		reply(text("done"))
	case "rpc_error":
		s.answer(c, r, failure(r.ID, -32050, "The flux capacitor is cold", `{"retryAfter":30,"big":9007199254740993,"list":[1.0,null]}`))
	case "twice":
		reply(text("once"))
		reply(text("twice"))
	case "wrong_id":
		c.write(result([]byte(`"foreign"`), text("for somebody else")))
	case "half":
		c.raw(`{"jsonrpc":"2.0","id":` + string(r.ID) + `,"result":{"content":[{"type":"te`)
	case "noise":
		c.raw("loading model…\n\x1b[31mWARN\x1b[0m cache is cold\n{\"level\":\"info\"}\n")
		reply(text("after the noise"))
	case "crash":
		c.crash()
	default:
		if body := s.plain(r, a); body != "" {
			reply(body)
		} else {
			s.answer(c, r, failure(r.ID, -32602, "Unknown tool: "+r.Params.Name, ""))
		}
	}
	if s.mode == Changing {
		c.write(notification("notifications/tools/list_changed", "{}"))
	}
}

// complete adds what the modern revision wants of a result.
func (s *server) complete(body string) string {
	if s.mode == Modern {
		return `{"resultType":"complete",` + strings.TrimPrefix(body, "{")
	}
	return body
}

// plain returns the result of the tools that just answer; "" for none.
func (s *server) plain(r request, a arguments) string {
	switch r.Params.Name {
	case "echo":
		return text(string(r.Params.Arguments))
	case "add":
		x, _ := a.A.Float64() // not a number counts as 0
		y, _ := a.B.Float64()
		sum := strconv.FormatFloat(x+y, 'g', -1, 64)
		return `{"content":[{"type":"text","text":"` + sum + `"}],"structuredContent":{"sum":` + sum + `}}`
	case "kinds":
		return kinds
	case "is_error":
		return `{"content":[{"type":"text","text":"the tool failed"}],"isError":true}`
	case "hostile":
		return text(payloads())
	case "pids":
		return `{"content":[{"type":"text","text":` + quote(s.pids()) + `}],"structuredContent":` + s.pids() + `}`
	case "reach":
		return text(s.reach(r.Params.Arguments))
	case "cancelled":
		s.mu.Lock()
		defer s.mu.Unlock()
		return text("[" + strings.Join(s.cancelled, ",") + "]")
	case "methods":
		s.mu.Lock()
		defer s.mu.Unlock()
		return text(strings.Join(s.methods, "\n"))
	}
	if s.mode != Good && s.mode != Modern && s.mode != Liar {
		return text("called " + r.Params.Name)
	}
	return ""
}

// kinds is a result with every kind of content, a 1x1 PNG and a silent WAV
// among them, and one kind that does not exist.
const kinds = `{"content":[{"type":"text","text":"plain"},` +
	`{"type":"image","data":"iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==","mimeType":"image/png"},` +
	`{"type":"audio","data":"UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAIA+AAACABAAZGF0YQAAAAA=","mimeType":"audio/wav"},` +
	`{"type":"resource","resource":{"uri":"fake://text","mimeType":"text/plain","text":"embedded"}},` +
	`{"type":"resource_link","uri":"fake://blob","name":"blob"},` +
	`{"type":"hologram","payload":{"n":9007199254740993}}],"structuredContent":{"list":[{"a":1},{"a":2}]}}`

// progress sends count progress notifications if the call asked for them.
func (s *server) progress(ctx context.Context, c conn, r request, count int) {
	token := string(r.Params.Meta.ProgressToken)
	if token == "" {
		return
	}
	total := strconv.Itoa(count)
	for i := 1; i <= count && ctx.Err() == nil; i++ {
		c.write(`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":` + token +
			`,"progress":` + strconv.Itoa(i) + `,"total":` + total + `,"message":"step ` + strconv.Itoa(i) + `"}}`)
	}
}

// answerBig answers with a text of n bytes, the rendered one where it fits.
func (s *server) answerBig(c conn, r request, n int) {
	body := s.big
	if n != bigBytes || body == "" {
		body = string(renderText(n))
	}
	c.write(`{"jsonrpc":"2.0","id":`, string(r.ID), `,"result":`, s.complete(`{"content":[{"type":"text","text":`), body, `}]}}`)
}
