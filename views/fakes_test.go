package views_test

import (
	"bufio"
	"context"
	"errors"
	"io"
	"time"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/mcphud/mcphud/agentsrv/tools/basics"
	"github.com/mcphud/mcphud/session/base/jsonrpc"
	"github.com/mcphud/mcphud/session/config"
	"github.com/mcphud/mcphud/tui/tuitest"
)

// agent is the bundled agent, as `mcphud -- mcphud agent` opens it.
func agent() []tuitest.Option {
	return []tuitest.Option{tuitest.Memory(
		config.Server{Name: "demo", Transport: config.Stdio, Command: "mcphud", Args: []string{"agent"}},
		basics.NewServer("1.0.0"),
	)}
}

// several are servers in all states, none connected yet.
func several() []tuitest.Option {
	home := config.Source{File: "/home/ada/.config/Claude/claude_desktop_config.json", Dialect: "claude-desktop"}
	return append(agent(),
		tuitest.NoConnect(),
		tuitest.PeerAs(config.Server{Name: "files", Transport: config.Stdio, Command: "npx", Args: []string{"-y", "@modelcontextprotocol/server-filesystem", "/home/ada/notes"}, Source: home}, crash),
		tuitest.PeerAs(config.Server{Name: "github", Transport: config.HTTP, URL: "https://api.example.com/mcp", Headers: map[string]string{"Authorization": "Bearer s3cret"}, Source: home}, mute),
		tuitest.PeerAs(config.Server{Name: "old-one", Transport: config.Stdio, Command: "old-server", Disabled: true, Source: home}, crash),
		tuitest.PeerAs(config.Server{Name: "weather", Transport: config.SSE, URL: "https://weather.example.com/sse", Source: config.Source{File: ".mcp.json", Dialect: "mcpServers", Project: true}}, crash),
		tuitest.PeerAs(config.Server{Name: "database", Transport: config.Stdio, Command: "db-mcp", Problem: errors.New("the variable DB_URL is not set"), Source: home}, crash),
	)
}

// severalStates connects some of them: github is left waiting for an answer.
func severalStates(a *tuitest.App) {
	_ = a.Manager().Connect(context.Background(), "demo")
	_ = a.Manager().Connect(context.Background(), "files")
	go func() { _ = a.Manager().Connect(context.Background(), "github") }()
	a.Sleep(1200 * time.Millisecond)
	a.Press("down")
}

// crash is a server that ends with a message instead of an answer.
func crash(_ context.Context, in io.Reader, _ io.Writer) error {
	if _, err := bufio.NewReader(in).ReadBytes('\n'); err != nil {
		return err
	}
	return errors.New("Error: ENOENT: no such file or directory, stat '/home/ada/notes'")
}

// mute is a server that never answers.
func mute(ctx context.Context, in io.Reader, _ io.Writer) error {
	_, err := io.Copy(io.Discard, in)
	return err
}

// silent is a server that shakes hands and then answers nothing.
func silent() []tuitest.Option {
	return []tuitest.Option{tuitest.Peer("slow", handshake(`{"tools":{}}`, func(string) string { return "" }))}
}

// broken is a server that answers tools/list with an error.
func broken() []tuitest.Option {
	return []tuitest.Option{tuitest.Peer("broken", handshake(`{"tools":{}}`, func(id string) string {
		return `{"jsonrpc":"2.0","id":` + id + `,"error":{"code":-32603,"message":"database is locked","data":{"retryAfter":5}}}`
	}))}
}

// worldly is a server whose texts are not English, and one item that is
// malformed.
func worldly() []tuitest.Option {
	return []tuitest.Option{tuitest.Peer("世界", handshake(`{"tools":{"listChanged":true}}`, func(id string) string {
		return `{"jsonrpc":"2.0","id":` + id + `,"result":{"tools":[` +
			`{"name":"天気","title":"天気予報","description":"指定した都市の天気予報を返します。都市名は日本語でも英語でも構いません。","inputSchema":{"type":"object","properties":{"都市":{"type":"string","description":"都市の名前、たとえば「東京」"},"日数":{"type":"integer","minimum":1,"maximum":7,"default":3}},"required":["都市"]}},` +
			`{"name":"emoji_🚀","description":"Launches 🚀🚀🚀 and 👩‍👩‍👧‍👦, flags 🇯🇵🇫🇷, and e\u0301 in two code points","inputSchema":{"type":"object"}},` +
			`{"name":"rtl","description":"שלום עולם \u202e desrever","inputSchema":{"type":"object"}},` +
			`{"name":"escape","description":"clears \u001b[2J the screen","inputSchema":{"type":"object"},"annotations":{"destructiveHint":true}},` +
			`{"description":"has no name","inputSchema":{"type":"object"}},` +
			`{"name":"a_name_that_is_much_longer_than_any_column_could_be_on_a_screen_of_this_width","description":"Long name","inputSchema":{"type":"object"}}` +
			`]}}`
	}))}
}

// handshake is a server of the 2025 revisions that answers initialize itself,
// and any other request with what answer makes of the id ("" is nothing).
func handshake(capabilities string, answer func(id string) string) tuitest.Serve {
	return func(_ context.Context, in io.Reader, out io.Writer) error {
		lines := bufio.NewScanner(in)
		lines.Buffer(nil, 1<<20)
		for lines.Scan() {
			id, method := requestOf(lines.Bytes())
			reply := ""
			switch {
			case id == "":
			case method == string(mcp.MethodInitialize):
				reply = `{"jsonrpc":"2.0","id":` + id + `,"result":{"protocolVersion":"2025-11-25","capabilities":` + capabilities + `,"serverInfo":{"name":"test","version":"1"}}}`
			case method == string(mcp.MethodToolsList):
				reply = answer(id)
			default:
				reply = `{"jsonrpc":"2.0","id":` + id + `,"error":{"code":-32601,"message":"method not found"}}`
			}
			if reply == "" {
				continue
			}
			if _, err := io.WriteString(out, reply+"\n"); err != nil {
				return err
			}
		}
		return lines.Err()
	}
}

// requestOf is the id and the method of a frame, "" where it has none.
func requestOf(frame []byte) (id, method string) {
	env, err := jsonrpc.Scan(frame)
	if err != nil {
		return "", ""
	}
	return string(env.ID), env.Method
}
