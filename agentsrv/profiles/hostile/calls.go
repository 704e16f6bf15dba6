package hostile

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strings"

	"github.com/mcphud/mcphud/agentsrv/front"
	"github.com/mcphud/mcphud/agentsrv/kit"
	"github.com/mcphud/mcphud/session/base/jsonrpc"
	"github.com/mcphud/mcphud/session/serve/fault"
)

// specialTool is a tool of the middleware that is not a payload.
type specialTool struct {
	entry
	do func(ctx context.Context, x *front.Exchange, args []byte) (string, error)
}

// most bounds the numbers that calls may ask for.
const (
	mostNotes = 1_000_000
	mostBytes = 1 << 28
)

// fixedTool is a tool that always answers the same.
func fixedTool(name, does, result string) specialTool {
	return specialTool{entry{name, does, ""}, func(context.Context, *front.Exchange, []byte) (string, error) { return result, nil }}
}

// flood is a tool that sends count notifications.
func flood(name, does string, count int, note func(x *front.Exchange, i, n int) (method string, params map[string]any)) specialTool {
	return specialTool{entry{name, does, number1("count", count)}, func(ctx context.Context, x *front.Exchange, args []byte) (string, error) {
		n := number(args, "count", count, mostNotes)
		for i := range n {
			method, params := note(x, i+1, n)
			if err := kit.Notify(ctx, method, params); err != nil {
				return emptyAnswer(ctx, err)
			}
		}
		return emptyAnswer(ctx, nil)
	}}
}

// special are all of them.
func special() []specialTool {
	return []specialTool{
		{entry{"deep_json", "A result nested depth levels deep", number1("depth", 50_000)}, func(_ context.Context, _ *front.Exchange, args []byte) (string, error) {
			depth := number(args, "depth", 50_000, 10_000_000)
			return `{"content":[{"type":"text","text":"deep"}],"structuredContent":` + nest(`{"a":[`, `1`, `]}`, depth/2) + `}`, nil
		}},
		{entry{"long_line", "A text of bytes bytes on one line", number1("bytes", 10<<20)}, func(_ context.Context, _ *front.Exchange, args []byte) (string, error) {
			return text(strings.Repeat("0123456789", number(args, "bytes", 10<<20, mostBytes)/10)), nil
		}},
		{entry{"many_contents", "A result with count contents", number1("count", 100_000)}, func(_ context.Context, _ *front.Exchange, args []byte) (string, error) {
			one := `{"type":"text","text":"x"}`
			return `{"content":[` + one + strings.Repeat(","+one, max(number(args, "count", 100_000, mostNotes), 1)-1) + `]}`, nil
		}},
		fixedTool("unknown_content", "A kind of content that does not exist, and known kinds with the wrong members",
			`{"content":[{"type":"hologram","payload":1},{"type":"text"},{"type":"text","text":5},{"type":"image"},{"type":"resource"},{"type":"resource_link"},{},null,7,[]]}`),
		fixedTool("bad_base64", "An image and a sound whose data is not base64",
			`{"content":[{"type":"image","mimeType":"image/png","data":"!!!"},{"type":"audio","mimeType":"audio/wav","data":"A"}]}`),
		// A PNG whose header claims 2^31-1 by 2^31-1 pixels, a GIF that ends after its header, a script.
		fixedTool("bad_media", "Data that is not an image, and images that claim to be huge", `{"content":[{"type":"image","mimeType":"image/png","data":"iVBORw0KGgoAAAANSUhEUn////9/////CAIAAAAHZGkk"},`+
			`{"type":"image","mimeType":"image/gif","data":"R0lGODlh"},{"type":"image","mimeType":"image/svg+xml","data":"PHN2ZyBvbmxvYWQ9ImFsZXJ0KDEpIi8+"},`+
			`{"type":"image","mimeType":"`+`\u001b]0;owned\u0007","data":"AAAA"}]}`),
		{entry{"evil_links", "Resource links with URIs that must not be opened and names that must not become files", ""}, func(context.Context, *front.Exchange, []byte) (string, error) { return links(), nil }},
		flood("progress_flood", "count progress notifications as fast as possible", 10_000, func(x *front.Exchange, i, n int) (string, map[string]any) {
			return "notifications/progress", map[string]any{"progressToken": token(x), "progress": i, "total": n, "message": fmt.Sprintf("\x1b[2Kstep %d", i)}
		}),
		{entry{"progress_lies", "Progress that goes backwards, beyond its total, and is not a number", ""}, func(ctx context.Context, x *front.Exchange, _ []byte) (string, error) {
			for _, p := range []any{5, 3, -1, 1e300, "half", nil} {
				if err := kit.Notify(ctx, "notifications/progress", map[string]any{"progressToken": token(x), "progress": p, "total": 4}); err != nil {
					return emptyAnswer(ctx, err)
				}
			}
			return emptyAnswer(ctx, kit.Notify(ctx, "notifications/progress", map[string]any{"progressToken": "somebody else's", "progress": 1}))
		}},
		flood("log_flood", "count log messages as fast as possible", 10_000, func(_ *front.Exchange, i, _ int) (string, map[string]any) {
			return "notifications/message", map[string]any{"level": "info", "logger": "\x1b]0;owned\x07", "data": fmt.Sprintf("\x1b[31mmessage %d\r\n", i)}
		}),
		flood("list_changed_flood", "count times: the list of tools changed", 1_000, func(*front.Exchange, int, int) (string, map[string]any) {
			return "notifications/tools/list_changed", nil
		}),
		{entry{"stderr_flood", "bytes bytes on stderr, with escape sequences", number1("bytes", 10<<20)}, func(ctx context.Context, _ *front.Exchange, args []byte) (string, error) {
			return text("done"), stderr(ctx, number(args, "bytes", 10<<20, mostBytes))
		}},
		fixedTool("silent_error", "isError without any content", `{"content":[],"isError":true}`),
		fixedTool("error_as_success", "A text that says success, with isError", `{"content":[{"type":"text","text":"Tool executed successfully"}],"isError":true}`),
	}
}

// call is the answer of a payload or of one of special, "" if the tool is neither.
func (s *Server) call(ctx context.Context, x *front.Exchange, tool string, args []byte) (string, error) {
	if p, ok := find(tool); ok {
		return serve(ctx, p, args)
	}
	for _, t := range special() {
		if t.name == tool {
			return t.do(ctx, x, args)
		}
	}
	return "", nil
}

func token(x *front.Exchange) json.RawMessage {
	if x.Token == nil {
		return json.RawMessage(`"nobody asked"`)
	}
	return x.Token
}

// emptyAnswer is the answer of a tool that sent notifications: a client that takes a plain JSON body gets none.
func emptyAnswer(ctx context.Context, err error) (string, error) {
	switch {
	case ctx.Err() != nil:
		return "", ctx.Err()
	case err != nil:
		return `{"content":[{"type":"text","text":` + quote("cannot send notifications: "+err.Error()) + `}],"isError":true}`, nil
	}
	return text("done"), nil
}

func stderr(ctx context.Context, n int) error {
	line := []byte("\x1b]0;owned\x07\x1b[2J\x1b[Hnoise on stderr \xff\x9b31m\r")
	line = append(line, []byte(strings.Repeat("x", 4096-len(line)-1)+"\n")...)
	for ; n > 0 && ctx.Err() == nil; n -= len(line) {
		if _, err := os.Stderr.Write(line[:min(n, len(line))]); err != nil {
			return jsonrpc.Errorf(jsonrpc.KindToolExecution, "stderr_flood: %w", err)
		}
	}
	return ctx.Err()
}

// serve answers with a payload, in the place that as names.
func serve(ctx context.Context, p fault.Payload, args []byte) (string, error) {
	as := jsonrpc.GetString(args, "as")
	q := quote(p.Text)
	switch as {
	case "error":
		return `{"content":[{"type":"text","text":` + q + `}],"isError":true}`, nil
	case "rpc_error":
		return "", &jsonrpc.Error{Code: -32050, Message: p.Text, Data: jsonrpc.Quote(p.Text)}
	case "structured":
		return `{"content":[{"type":"text","text":` + q + `}],"structuredContent":{` + q + `:` + q + `,"list":[{` + q + `:1}]}}`, nil
	case "link":
		return `{"content":[{"type":"resource_link","uri":` + q + `,"name":` + q + `,"title":` + q + `,"description":` + q + `,"mimeType":` + q + `},` +
			`{"type":"resource","resource":{"uri":` + q + `,"mimeType":` + q + `,"text":` + q + `}}]}`, nil
	case "log":
		return emptyAnswer(ctx, kit.Notify(ctx, "notifications/message", map[string]any{"level": p.Text, "logger": p.Text, "data": p.Text}))
	case "stderr":
		_, _ = os.Stderr.WriteString(p.Text + "\n")
		return text("written"), nil
	}
	return text(p.Text), nil
}

// links are URIs that nobody should open without looking, with names that nobody should save to.
func links() string {
	uris := []string{
		"javascript:alert(1)", "JaVaScRiPt:alert(1)", "data:text/html,<script>alert(1)</script>", "vbscript:x", "file:///etc/passwd", `file://evil.example/share`,
		"https://good.example@evil.example/", "https://xn--pple-43d.example/", "https://good.example\u202e/moc.live", "-oProxyCommand=sh", "--help",
		"http://127.0.0.1:22/", "http://169.254.169.254/latest/meta-data/", "ssh://-oProxyCommand=sh/x", "https://evil.example/$(id)", "mailto:a@b?attach=/etc/passwd",
		"https://[::1]%00.example/", "", " ", "://", "https://" + strings.Repeat("a", 100_000),
	}
	names := []string{
		"../../../../.bashrc", "/etc/cron.d/x", `..\..\evil.exe`, "~/.ssh/authorized_keys", "-rf", "CON", "nul.txt", "a\x00.png", "invoice\u202efdp.exe",
		".", "..", "", strings.Repeat("n", 10_000), "a/b", "C:evil", "x\n.sh", "|sh", "$(id)", "report.pdf .exe", "\x1b]0;owned\x07", "ok",
	}
	var b strings.Builder
	for i, uri := range uris {
		fmt.Fprintf(&b, `,{"type":"resource_link","uri":%s,"name":%s}`, quote(uri), quote(names[i]))
		fmt.Fprintf(&b, `,{"type":"resource","resource":{"uri":%s,"mimeType":"application/octet-stream","blob":"AAAA"}}`, quote("file:///"+names[i]))
	}
	return `{"content":[` + b.String()[1:] + `]}`
}
