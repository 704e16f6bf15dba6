package mock

import (
	"math"
	"strings"
	"testing"

	"github.com/mcphud/mcphud/session/test/leaktest"
	"github.com/mcphud/mcphud/session/test/require/assert"
)

func TestMain(m *testing.M) { leaktest.Main(m) }

var fast = Options{Speed: math.Inf(1)}

const calls = `>2 tools/list
<2 {"tools":[{"name":"echo","inputSchema":{"type":"object"},"x":1.0}],"nextCursor":"p2"}
>3 tools/list {"cursor":"p2"}
<3 {"tools":[{"name":"sum","inputSchema":{},"outputSchema":{"type":"object","properties":{"n":{"type":"integer"}},"required":["n"]}}]}
>4 tools/call {"name":"echo","arguments":{"message":"hi","n":1}}
<4 {"content":[{"type":"text","text":"hi"}],"_meta":{"keep":1e2}}
>5 tools/call {"name":"echo","arguments":{"message":"bye","deep":{"a":[1,2]}}}
<5 {"content":[{"type":"text","text":"bye"}],"isError":true}
>6 tools/call {"name":"echo","arguments":{"n":1,"message":"hi"}}
<6 {"content":[{"type":"text","text":"hi again"}]}
>7 tools/call {"name":"echo","arguments":{"message":"bad"}}
<7! {"code":-32042,"message":"no <b>","data":{"why":[1]}}
`

// Both eras get what was recorded in either.
func eras(t *testing.T, f func(t *testing.T, hello string, c func(o Options, body, caps string) *client, sameEra bool)) {
	t.Helper()
	for recorded, hello := range map[string]string{"legacy": legacyHello, "modern": modernHello} {
		for era, modern := range map[string]bool{"legacy": false, "modern": true} {
			t.Run(recorded+" for "+era, func(t *testing.T) {
				f(t, hello, func(o Options, body, caps string) *client {
					if recorded == "modern" {
						body = strings.ReplaceAll(strings.ReplaceAll(body, `call {`, `call {`+meta+`,`), "tools/list\n", "tools/list {"+meta+"}\n")
						body = strings.ReplaceAll(body, `{"cursor":`, `{`+meta+`,"cursor":`)
					}
					return serve(t, tape(t, hello+body), o).dial(t, modern, caps)
				}, (recorded == "modern") == modern)
			})
		}
	}
}

func TestAnswersAsRecorded(t *testing.T) {
	eras(t, func(t *testing.T, _ string, dial func(Options, string, string) *client, same bool) {
		c := dial(fast, calls, "{}")
		list := c.result("tools/list", "")
		assert.Contains(t, list, `"tools":[{"name":"echo","inputSchema":{"type":"object"},"x":1.0},{"name":"sum",`)
		assert.NotContains(t, list, "nextCursor")
		if strings.Contains(list, `"resultType":"complete"`) != (c.modern && !same) {
			t.Errorf("%s", list)
		}
		for i, want := range []string{`"text":"hi"}],"_meta":{"keep":1e2}`, `"text":"hi again"`, `"text":"hi again"`} {
			if got := c.result("tools/call", `"name":"echo","arguments":{"message":"hi","n":1}`); !strings.Contains(got, want) {
				t.Errorf("call %d: %s, want %s", i, got, want)
			}
		}
		assert.Contains(t, c.result("tools/call", `"arguments":{ "deep":{"a":[1,2]}, "message":"bye" },"name":"echo"`), `"isError":true`)
		if e := c.fails("tools/call", `"name":"echo","arguments":{"message":"bad"}`); e.Code != -32042 || e.Message != "no <b>" || string(e.Data) != `{"why":[1]}` {
			t.Errorf("%+v", e)
		}
	})
}

func TestHello(t *testing.T) {
	eras(t, func(t *testing.T, _ string, dial func(Options, string, string) *client, same bool) {
		c := dial(fast, calls, "{}")
		got := ""
		if c.modern {
			got = c.result("server/discover", "")
		} else {
			got = c.result("initialize", `"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"c","version":"1"}`)
			assert.Contains(t, got, `"protocolVersion":"2025-11-25"`)
		}
		for _, want := range []string{`"name":"real","version":"7"`, `"instructions":"Be kind."`, `"tools":{`} {
			assert.Contains(t, got, want)
		}
		assert.NotContains(t, got, `"prompts"`)
	})
}

func TestNotRecorded(t *testing.T) {
	eras(t, func(t *testing.T, _ string, dial func(Options, string, string) *client, _ bool) {
		c := dial(fast, calls, "{}")
		if got := c.result("tools/call", `"name":"echo","arguments":{"message":"hi!","n":2}`); !strings.Contains(got, `"text":"hi"`) ||
			!strings.Contains(got, `"keep":1e2,"mcphud/mock":{"nearest":{"arguments":{"message":"hi","n":1},"name":"echo"}}`) {
			t.Errorf("%s", got)
		}
		assert.Contains(t, c.result("tools/call", `"name":"echo","arguments":{"message":"x","deep":{"a":[1,3]}}`), `"text":"bye"`)
		assert.Contains(t, c.result("tools/call", `"name":"sum","arguments":{}`), `"structuredContent":{"n":`, `"mcphud/mock":{"example":true}`)
		if e := c.fails("tools/call", `"name":"nope"`); !strings.Contains(e.Message, "not in the recording: tools/call nope; recorded: echo") {
			t.Errorf("%+v", e)
		}
		if e := c.fails("prompts/list", ""); e.Code != -32601 {
			t.Errorf("%+v", e)
		}
		if e := c.fails("resources/read", `"uri":"a:b"`); !strings.Contains(e.Message, "resources/read a:b") {
			t.Errorf("%+v", e)
		}
		strict := dial(Options{Speed: math.Inf(1), Strict: true}, calls, "{}")
		if e := strict.fails("tools/call", `"name":"echo","arguments":{"message":"hi!"}`); !strings.Contains(e.Message, `tools/call echo with these arguments; recorded: {"message":"hi","n":1}, {"deep":{"a":[1,2]},"message":"bye"}`) {
			t.Errorf("%+v", e)
		}
		if e := strict.fails("tools/call", `"name":"sum","arguments":{}`); !strings.Contains(e.Message, "recorded: echo") {
			t.Errorf("%+v", e)
		}
	})
}

// A second client begins with the first answers.
func TestEachSessionBeginsAnew(t *testing.T) {
	m := serve(t, tape(t, legacyHello+calls), fast)
	for range 2 {
		c := m.dial(t, false, "{}")
		assert.Contains(t, c.result("tools/call", `"name":"echo","arguments":{"message":"hi","n":1}`), `"text":"hi"}`)
	}
	c := m.dial(t, true, "{}")
	for range 2 {
		c.result("server/discover", "")
		assert.Contains(t, c.result("tools/call", `"name":"echo","arguments":{"message":"hi","n":1}`), `"text":"hi"}`)
	}
}
