package basics

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math/big"
	"strconv"
	"strings"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"github.com/mcphud/mcphud/agentsrv/kit"
)

// maxDigit is how many digits a number may have that add takes.
const maxDigit = 1000

// Tools are the tools; each server that has them needs a Set of its own, for the counter.
func (a *Set) Tools() []server.ServerTool {
	return []server.ServerTool{
		kit.Tool("echo", "Echo", "Returns the message it was given.", kit.ReadOnly, kit.Args(a.echo),
			`{"type":"object","properties":{"message":{"type":"string","description":"What to return"}},"required":["message"]}`, ""),
		kit.Tool("add", "Add", "Adds two numbers; integers of any size stay exact.", kit.ReadOnly, kit.Args(a.add),
			`{"type":"object","properties":{"a":{"type":"number","description":"First summand"},"b":{"type":"number","description":"Second summand"}},"required":["a","b"]}`,
			`{"type":"object","properties":{"sum":{"type":"number"},"exact":{"type":"boolean","description":"false when the sum was rounded to a 64-bit float"}},"required":["sum","exact"]}`),
		kit.Tool("sleep", "Sleep", "Takes its time: reports progress after each step and stops at once when cancelled.", kit.ReadOnly, kit.ArgsOver(pace{2, 10}, a.sleep),
			`{"type":"object","properties":{"seconds":{"type":"number","minimum":0,"maximum":3600,"default":2,"description":"How long in all"},"steps":{"type":"integer","minimum":1,"maximum":100000,"default":10,"description":"How many progress reports"}}}`, ""),
		kit.Tool("fail", "Fail", "Always answers with isError.", kit.ReadOnly, kit.ArgsOver(message{"failed as asked"}, a.fail),
			`{"type":"object","properties":{"message":{"type":"string","default":"failed as asked","description":"The error text"}}}`, ""),
		kit.Tool("log", "Log", "Sends one log message at each level, lowest first; the client's level decides which arrive.", kit.ReadOnly, kit.ArgsOver(message{"a log message"}, a.logLevels),
			`{"type":"object","properties":{"message":{"type":"string","default":"a log message","description":"Text of each message"}}}`, ""),
		kit.Tool("contents", "Contents", "Returns one of each kind of content.", kit.ReadOnly, kit.ArgsOver(struct{ Kind string }{"all"}, a.contents),
			`{"type":"object","properties":{"kind":{"type":"string","enum":["all","text","markdown","json","image","audio","resource_text","resource_blob","resource_link"],"default":"all","description":"Only this kind"}}}`, ""),
		kit.Tool(Gallery, "Form gallery", "Has every JSON Schema keyword in its input schema and returns exactly what it received.", kit.ReadOnly, a.gallery,
			string(gallerySchema), ""),
		kit.Tool("reset_counter", "Reset counter", "Forgets how many tools were called.", kit.Destructive, a.reset,
			`{"type":"object","properties":{}}`,
			`{"type":"object","properties":{"was":{"type":"integer"},"now":{"type":"integer"}},"required":["was","now"]}`),
	}
}

// Called is what reset_counter counts: a tool of the server is about to run.
func (a *Set) Called() { a.counter.Add(1) }

// count is the middleware that does it, around all tools of a server.
func (a *Set) count(next server.ToolHandlerFunc) server.ToolHandlerFunc {
	return func(ctx context.Context, r mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		a.Called()
		return next(ctx, r)
	}
}

// message is the argument of several tools, and pace those of sleep.
type (
	message struct{ Message string }
	pace    struct {
		Seconds float64
		Steps   int
	}
)

func (a *Set) echo(_ context.Context, _ mcp.CallToolRequest, in message) (*mcp.CallToolResult, error) {
	return mcp.NewToolResultText(in.Message), nil
}

func (a *Set) add(_ context.Context, _ mcp.CallToolRequest, in struct{ A, B json.Number }) (*mcp.CallToolResult, error) {
	sum, exact, err := sumOf(string(in.A), string(in.B))
	if err != nil {
		return mcp.NewToolResultErrorf("add: %v", err), nil
	}
	res := mcp.NewToolResultText(sum)
	res.RawStructuredContent = fmt.Appendf(nil, `{"sum":%s,"exact":%t}`, sum, exact)
	return res, nil
}

// sumOf adds two JSON numbers: exactly if both are written as integers, else as 64-bit floats.
func sumOf(a, b string) (sum string, exact bool, err error) {
	if len(a) > maxDigit || len(b) > maxDigit {
		return "", false, fmt.Errorf("a number has more than %d digits", maxDigit)
	}
	x, okX := new(big.Int).SetString(a, 10)
	y, okY := new(big.Int).SetString(b, 10)
	if okX && okY {
		return x.Add(x, y).String(), true, nil
	}
	f, err := strconv.ParseFloat(a, 64)
	if err != nil {
		return "", false, fmt.Errorf("a is %s, beyond a 64-bit float", a)
	}
	g, err := strconv.ParseFloat(b, 64)
	if err != nil {
		return "", false, fmt.Errorf("b is %s, beyond a 64-bit float", b)
	}
	out, err := json.Marshal(f + g)
	if err != nil {
		return "", false, fmt.Errorf("the sum of %s and %s is beyond a 64-bit float", a, b)
	}
	return string(out), false, nil
}

func (a *Set) sleep(ctx context.Context, r mcp.CallToolRequest, in pace) (*mcp.CallToolResult, error) {
	total := time.Duration(in.Seconds * float64(time.Second))
	start := time.Now()
	for step := 1; step <= in.Steps; step++ {
		if err := kit.Sleep(ctx, time.Until(start.Add(total*time.Duration(step)/time.Duration(in.Steps)))); err != nil {
			return nil, fmt.Errorf("sleep: cancelled after %d of %d steps: %w", step-1, in.Steps, err)
		}
		if err := kit.Progress(ctx, r, float64(step), float64(in.Steps), fmt.Sprintf("step %d of %d", step, in.Steps)); err != nil {
			return nil, fmt.Errorf("sleep: report step %d: %w", step, err)
		}
	}
	return mcp.NewToolResultText(fmt.Sprintf("slept %v in %d steps", total, in.Steps)), nil
}

func (a *Set) fail(_ context.Context, _ mcp.CallToolRequest, in message) (*mcp.CallToolResult, error) {
	return mcp.NewToolResultError(in.Message), nil
}

func (a *Set) logLevels(ctx context.Context, _ mcp.CallToolRequest, in message) (*mcp.CallToolResult, error) {
	levels := []mcp.LoggingLevel{
		mcp.LoggingLevelDebug, mcp.LoggingLevelInfo, mcp.LoggingLevelNotice, mcp.LoggingLevelWarning,
		mcp.LoggingLevelError, mcp.LoggingLevelCritical, mcp.LoggingLevelAlert, mcp.LoggingLevelEmergency,
	}
	for _, l := range levels {
		if err := kit.Log(ctx, l, "demo", map[string]any{"message": in.Message, "level": l}); err != nil {
			return nil, fmt.Errorf("log: send at %s: %w", l, err)
		}
	}
	return mcp.NewToolResultText(fmt.Sprintf("sent %d messages, debug to emergency; those below your level were kept back", len(levels))), nil
}

func (a *Set) gallery(_ context.Context, r mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	raw := kit.RawArguments(r)
	if len(raw) == 0 {
		return mcp.NewToolResultText("no arguments were sent"), nil
	}
	// The text is the arguments byte for byte. In structuredContent mcp-go drops insignificant white space and writes
	// <, > and & as \u escapes; names, their order, numbers and strings stay what they were.
	res := mcp.NewToolResultText(strings.ToValidUTF8(string(raw), "\uFFFD"))
	if bytes.HasPrefix(raw, []byte("{")) {
		res.RawStructuredContent = raw
	}
	return res, nil
}

func (a *Set) reset(context.Context, mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	was := a.counter.Swap(0)
	res := mcp.NewToolResultText(fmt.Sprintf("the counter was %d and is 0 now", was))
	res.RawStructuredContent = fmt.Appendf(nil, `{"was":%d,"now":0}`, was)
	return res, nil
}
