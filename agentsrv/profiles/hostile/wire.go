package hostile

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/mcphud/mcphud/agentsrv/kit"
	"github.com/mcphud/mcphud/session/base/jsonrpc"
)

// maxWait bounds how long a tool keeps a request open.
const maxWait = 10 * time.Minute

// wire is the way to one client, below JSON-RPC.
type wire interface {
	// message sends one well-formed frame.
	message(frame string)
	// bytes sends what may be no frame at all.
	bytes(b string)
	// end ends a frame that was sent with bytes.
	end()
	// hangUp ends the connection in the middle of what was sent; over stdio there is only silence.
	hangUp()
}

// brokenTool is a tool that answers in a way the protocol does not allow.
type brokenTool struct {
	entry
	do func(ctx context.Context, s *Server, w wire, id string, args []byte)
}

// answer is a good answer.
func answer(id, said string) string {
	return `{"jsonrpc":"2.0","id":` + id + `,"result":` + text(said) + `}`
}

// frameTool is one that sends one string, in which $ID stands for the request's id, and $TEXT for a string of that.
func frameTool(name, does, frame string) brokenTool {
	return brokenTool{entry{name, does, ""}, func(_ context.Context, _ *Server, w wire, id string, _ []byte) {
		w.message(strings.NewReplacer("$ID", id, "$TEXT", string(jsonrpc.Quote(id))).Replace(frame))
	}}
}

const good = `"result":{"content":[{"type":"text","text":"ok"}]}`

// wireTools are all of them.
func wireTools() []brokenTool {
	return []brokenTool{
		frameTool("answer_other_id", "Answers a request that nobody made", `{"jsonrpc":"2.0","id":"somebody else's",`+good+`}`),
		frameTool("answer_null_id", "Answers with id null", `{"jsonrpc":"2.0","id":null,`+good+`}`),
		frameTool("answer_no_id", "Answers without an id", `{"jsonrpc":"2.0",`+good+`}`),
		frameTool("answer_id_as_text", "Answers with the id as a string of its JSON", `{"jsonrpc":"2.0","id":$TEXT,`+good+`}`),
		frameTool("answer_batch", "Answers with an array", `[{"jsonrpc":"2.0","id":$ID,`+good+`}]`),
		frameTool("answer_no_version", "Answers without jsonrpc", `{"id":$ID,`+good+`}`),
		frameTool("answer_both", "Answers with a result and an error", `{"jsonrpc":"2.0","id":$ID,`+good+`,"error":{"code":1,"message":"both"}}`),
		frameTool("answer_neither", "Answers with neither result nor error", `{"jsonrpc":"2.0","id":$ID}`),
		frameTool("answer_duplicate_keys", "Answers with members given twice and in other letter cases", `{"jsonrpc":"2.0","id":$ID,"id":99,`+good+`,"Result":{},"re\u017fult":{}}`),
		frameTool("answer_null_result", "Answers with result null", `{"jsonrpc":"2.0","id":$ID,"result":null}`),
		frameTool("answer_list_result", "Answers with an array as the result", `{"jsonrpc":"2.0","id":$ID,"result":[]}`),
		frameTool("answer_bad_error", "Answers with an error that is a string", `{"jsonrpc":"2.0","id":$ID,"error":"no"}`),
		frameTool("answer_error_code", "Answers with an error whose code is not an integer", `{"jsonrpc":"2.0","id":$ID,"error":{"code":1.5,"message":7}}`),
		frameTool("answer_huge_number", "Answers with numbers that nothing can hold", `{"jsonrpc":"2.0","id":$ID,"result":{"content":[],"structuredContent":{"a":1e400,"b":-1e-400,"c":123456789012345678901234567890}}}`),
		frameTool("answer_lone_surrogate", "Answers with half of a surrogate pair", `{"jsonrpc":"2.0","id":$ID,"result":{"content":[{"type":"text","text":"\ud800"}]}}`),
		frameTool("answer_request", "Asks back a method that does not exist", `{"jsonrpc":"2.0","id":$ID,"method":"evil/method","params":{}}`),
		frameTool("bad_json", "Answers with JSON that is broken", `{"jsonrpc":"2.0","id":$ID,"result":{"content":[}}`),
		frameTool("trailing_garbage", "Answers with a frame and more on the same line", `{"jsonrpc":"2.0","id":$ID,`+good+`} and more`),
		frameTool("bad_utf8", "Answers with bytes that are not UTF-8", "{\"jsonrpc\":\"2.0\",\"id\":ID,\"result\":{\"content\":[{\"type\":\"text\",\"text\":\"\xff\xc0\xaf\xed\xa0\x80\x9b2J\"}]}}"),
		frameTool("not_json", "Answers with an HTML page", "<html><body>502 Bad Gateway\x1b[2J</body></html>"),
		frameTool("answer_byte_order_mark", "Answers with a byte order mark first", "\ufeff"+`{"jsonrpc":"2.0","id":$ID,`+good+`}`),
		{entry{"noise", "Sends log lines where frames belong, then answers", ""}, func(_ context.Context, _ *Server, w wire, id string, _ []byte) {
			w.bytes("loading model…\n\x1b[31mWARN\x1b[0m cache is cold\n{\"level\":\"info\"}\n")
			w.message(answer(id, "after the noise"))
		}},
		{entry{"answer_twice", "Answers twice, differently", ""}, func(_ context.Context, _ *Server, w wire, id string, _ []byte) {
			w.message(answer(id, "once"))
			w.message(answer(id, "twice"))
		}},
		{entry{"answer_late", "Answers after ms milliseconds, also if the call was cancelled", number1("ms", 1000)}, func(ctx context.Context, _ *Server, w wire, id string, args []byte) {
			_ = kit.Sleep(ctx, time.Duration(number(args, "ms", 1000, int(maxWait.Milliseconds())))*time.Millisecond)
			w.message(answer(id, "late"))
		}},
		{entry{"half_frame", "Sends half a frame and stops", ""}, func(_ context.Context, _ *Server, w wire, id string, _ []byte) {
			frame := answer(id, "you will not see the end of this")
			w.bytes(frame[:len(frame)/2])
			w.hangUp()
		}},
		{entry{"never", "Answers never", ""}, func(ctx context.Context, _ *Server, _ wire, _ string, _ []byte) { _ = kit.Sleep(ctx, maxWait) }},
		{entry{"hang_up", "Closes the connection without an answer", ""}, func(_ context.Context, _ *Server, w wire, _ string, _ []byte) { w.hangUp() }},
		{entry{"exit", "Ends the agent in the middle of a call, with exit code code", number1("code", 3)}, func(_ context.Context, s *Server, w wire, id string, args []byte) {
			w.bytes(answer(id, "going")[:20])
			s.o.Exit(number(args, "code", 3, 255))
		}},
		{entry{"big_frame", "Answers with a text of bytes bytes, up to 1 GiB", number1("bytes", 100<<20)}, func(ctx context.Context, _ *Server, w wire, id string, args []byte) {
			const end = `"}]}}`
			piece := strings.Repeat("x", 1<<20)
			w.bytes(strings.TrimSuffix(answer(id, ""), end))
			for n := number(args, "bytes", 100<<20, 1<<30); n > 0 && ctx.Err() == nil; n -= len(piece) {
				w.bytes(piece[:min(n, len(piece))])
			}
			w.bytes(end)
			w.end()
		}},
		{entry{"foreign_progress", "Reports progress of a call that nobody made, then answers", ""}, func(_ context.Context, _ *Server, w wire, id string, _ []byte) {
			w.message(`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"nobody's","progress":1}}`)
			w.message(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":` + id + `,"reason":"\u001b[2J"}}`)
			w.message(answer(id, "after the progress"))
		}},
	}
}

// raw is the list of the tools below JSON-RPC.
func raw() (all []entry) {
	for _, m := range wireTools() {
		all = append(all, m.entry)
	}
	for _, m := range httpTools() {
		all = append(all, m.entry)
	}
	return all
}

// wireTool finds what a tool does on the wire; nil if it is not one of these.
func wireTool(tool string) func(ctx context.Context, s *Server, w wire, id string, args []byte) {
	for _, m := range wireTools() {
		if m.name == tool {
			return m.do
		}
	}
	return nil
}

// unavailable is what a tool of the other transport answers.
func unavailable(w wire, id, tool string) {
	w.message(string(jsonrpc.NewError([]byte(id), jsonrpc.CodeInvalidParams, fmt.Sprintf("%s is available over HTTP only", tool), nil)))
}
