package conform

import (
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/mcphud/mcphud/session/base/jsonrpc"
)

// nears are servers that do nearly what breaks a rule, and are right. They pass it, as those of trips that have a good one do.
var nears = map[string]change{
	"ping":               on("ping", saying(`{"_meta":{"com.example/load":0.5}}`)),
	"echo-string":        where(`"id":"7"`, exchanging(`"id":"7"`, `"id":"\u0037"`)),
	"echo-number":        where(`"id":0`, exchanging(`"id":0`, `"id" : 0`)),
	"echo-large":         where(`740991`, exchanging(`"id":`, `"id" : `)),
	"initialize-shape":   on("initialize", exchanging(`"version"`, `"title":"T","version"`)),
	"server-info":        on("tools/list", exchanging(`"io.modelcontextprotocol/serverInfo"`, `"com.example/info":{},"io.modelcontextprotocol/serverInfo"`)),
	"list-order":         on("tools/list", marked),
	"tools-answer":       on("tools/call", saying(`{"content":[]}`)),
	"completion":         on("completion/complete", saying(`{"completion":{"values":[],"hasMore":false}}`)),
	"log-level-set":      on("logging/setLevel", saying(`{"_meta":{}}`)),
	"subscribe":          on("resources/subscribe", saying(`{"_meta":{}}`)),
	"prompts-rendered":   on("prompts/get", saying(`{"messages":[{"role":"user","content":{"type":"text","text":""}}]}`)),
	"unknown-tool":       where(missing, failing(-32602)),
	"unknown-prompt":     where(missing, failing(-32602)),
	"completion-refused": where(missing, failing(-32602)),
	"answer-type": on("ping", func(x *turn) bool {
		return x.say(200, "application/json; charset=utf-8", x.framed("{}"))
	}),
	"accepted": on("notifications/cancelled", status(202)),
	"get":      func(x *turn) bool { return x.r.Method == http.MethodGet && x.say(405, "text/plain", "") },
	"pages-end": on("tools/list", func(x *turn) bool {
		if x.has(`"cursor":"again"`) {
			return x.result(`{"tools":[]}`)
		}
		return x.result(`{"tools":[],"nextCursor":"again"}`)
	}),
	"progress": where("progressToken", func(x *turn) bool {
		token, _, _ := strings.Cut(x.body[strings.Index(x.body, `"progressToken":`)+len(`"progressToken":`):], "}")
		token, _, _ = strings.Cut(token, ",")
		note := func(n string) string {
			return `{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":` + token + `,"progress":` + n + `}}`
		}
		return x.events("", note("1"), "", note("1.5"), "", x.framed(`{"content":[]}`))
	}),
	"method-not-found": on(nobody, failing(-32601)),
	"other-version":    where(`"jsonrpc":"1.0"`, func(x *turn) bool { return x.say(400, "text/plain", "no") }),
	"null-id": where(`"id":null`, func(x *turn) bool {
		return x.say(400, "application/json", `{"jsonrpc":"2.0","error":{"code":-32600,"message":"no"}}`)
	}),
	"parse-error": func(x *turn) bool {
		return jsonrpc.Valid([]byte(x.body)) != nil && x.body != "" && x.say(400, "application/json", `{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"no"}}`)
	},
	"batch-refused": func(x *turn) bool {
		return strings.HasPrefix(x.body, "[") && x.say(400, "application/json", `{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"no"}}`)
	},
	"invalid-params": where(`"name":5`, func(x *turn) bool {
		return x.say(400, "application/json", `{"jsonrpc":"2.0","id":`+x.id()+`,"error":{"code":-32602,"message":"no","data":{"a":[1]}}}`)
	}),
	"missing-argument":      where(`"arguments":{}`, failing(-32602)),
	"cursor-refused":        where("mcphud-never-given", failing(-32602)),
	"log-level-invalid":     where(`"mcphud"}`, failing(-32602)),
	"notification-answered": func(x *turn) bool { return x.is("ping") && x.env.ID == nil && x.say(400, "text/plain", "no") },
	"concurrent": on("ping", func(x *turn) bool {
		time.Sleep(time.Duration(x.count("ping")%3) * 20 * time.Millisecond)
		return x.result("{}")
	}),
	"content-type": func(x *turn) bool {
		return !strings.HasPrefix(x.r.Header.Get("Content-Type"), "application/json") && x.r.Method == http.MethodPost && x.say(400, "text/plain", "")
	},
	"accept": func(x *turn) bool {
		return x.r.Method == http.MethodPost && !strings.Contains(x.r.Header.Get("Accept"), "text/event-stream") && x.say(400, "text/plain", "")
	},
	"version-header": func(x *turn) bool {
		v := x.r.Header.Get("MCP-Protocol-Version")
		return v != "" && v < "2024" && x.say(400, "application/json", `{"jsonrpc":"2.0","id":null,"error":{"code":-32000,"message":"no"}}`)
	},
	"cors": func(x *turn) bool { x.w.Header().Set("Vary", "Origin"); return false },
	"removed-methods": on("ping", func(x *turn) bool {
		return x.say(404, "application/json", `{"jsonrpc":"2.0","id":`+x.id()+`,"error":{"code":-32601,"message":"not any more"}}`)
	}),
	"task-unknown": on("tasks/get", failing(-32602)),
	"initialize-again": func(x *turn) bool {
		return x.is("initialize") && x.r.Header.Get("Mcp-Session-Id") != "" && x.fail(-32600)
	},
	"declared-lists":                on("prompts/list", saying(`{"prompts":[]}`)),
	"resources-read":                on("resources/read", saying(`{"contents":[{"uri":"a://b","text":""}]}`)),
	"stateless":                     on("tools/list", marked),
	"discovery":                     on("server/discover", exchanging(`"capabilities":`, `"com.example/since":"2027-01-01","capabilities":`)),
	"session-none":                  func(x *turn) bool { x.w.Header().Set("X-Session-Id", "mine"); return false },
	"unknown-resource":              where(missing, failing(-32602)),
	"log-level-refused":             where(`logLevel":"mcphud"`, failing(-32602)),
	"version-newest":                where("2999-01-01", exchanging(`"serverInfo":`, `"_meta":{"com.example/asked":"2999-01-01"},"serverInfo":`)),
	"version-offered":               where(absurd, exchanging(`"serverInfo":`, `"_meta":{"com.example/asked":"`+absurd+`"},"serverInfo":`)),
	"initialize-unknown-capability": where("mcphudUnknown", exchanging(`"serverInfo":`, `"_meta":{"com.example/unknown":["mcphudUnknown"]},"serverInfo":`)),
	"before-initialize": func(x *turn) bool {
		return x.is("tools/list") && x.r.Header.Get("Mcp-Session-Id") == "" && x.say(400, "text/plain", "initialize first")
	},
	"task-forbidden": where(`"task":`, failing(-32601)),
	"invalid-request": where("mcphud-invalid", func(x *turn) bool {
		return x.say(400, "application/json", `{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"no","data":{}}}`)
	}),
	"extra-members":     where("mcphudUnknown", exchanging(`"tools":`, `"mcphudUnknown":{"a":[1]},"tools":`)),
	"version-supported": on("initialize", exchanging(`"serverInfo":`, `"_meta":{"com.example/also":["2025-06-18"]},"serverInfo":`)),
	"version-refused": where(absurd, func(x *turn) bool {
		return x.say(400, "application/json", `{"jsonrpc":"2.0","id":`+x.id()+`,"error":{"code":-32022,"message":"no","data":{"supported":["2026-07-28"],"requested":"`+absurd+`","since":1}}}`)
	}),
	"meta-required": func(x *turn) bool {
		code := "-32602"
		switch {
		case x.env.ID == nil:
			return false
		case !x.has("protocolVersion"):
			code = "-32020" // the header says another version than none
		case x.has("clientCapabilities"):
			return false
		}
		return x.say(400, "application/json", `{"jsonrpc":"2.0","id":`+x.id()+`,"error":{"code":`+code+`,"message":"no"}}`)
	},
	"subscription-acknowledged": on("subscriptions/listen", func(x *turn) bool { return x.events(": hello\n", x.acknowledging(`{}`)) }),
	"subscription-filter": on("subscriptions/listen", func(x *turn) bool {
		return x.events("", x.acknowledging(`{"promptsListChanged":true,"toolsListChanged":false}`))
	}),
	"cancel-survived": on("notifications/cancelled", status(400)), // nobody need know the request by then
	"params-absent":   func(x *turn) bool { return x.is("tools/list") && x.env.Params == nil && x.result(`{"tools":[]}`) },
	"cursor-stable": where(`"cursor"`, func(x *turn) bool {
		return x.edit(func(b string, _ http.Header) string { // each cursor it gives is new
			return strings.Replace(b, `"nextCursor":"`, fmt.Sprintf(`"nextCursor":"%d`, x.count("")), 1)
		})
	}),
	"host": func(x *turn) bool {
		return strings.Contains(x.r.Host, "elsewhere") && x.say(421, "text/html", "<p>Misdirected</p>")
	},
	"accept-order": func(x *turn) bool {
		return x.is("ping") && strings.HasPrefix(x.r.Header.Get("Accept"), "text/event-stream,") && x.events("", x.framed("{}"))
	},
	"header-case": on("ping", func(x *turn) bool {
		x.w.Header()["content-type"] = []string{"application/json"}
		_, _ = io.WriteString(x.w, x.framed("{}"))
		return true
	}),
	"session-id": func(x *turn) bool { // the first and the last of the characters that may be in one
		id := x.r.Header.Get("Mcp-Session-Id")
		x.r.Header.Set("Mcp-Session-Id", strings.TrimSuffix(strings.TrimPrefix(id, "!"), "~"))
		if id == "" {
			x.r.Header.Del("Mcp-Session-Id")
		}
		return x.is("initialize") && x.edit(func(b string, h http.Header) string {
			h.Set("Mcp-Session-Id", "!"+h.Get("Mcp-Session-Id")+"~")
			return b
		})
	},
	"session-delete":  func(x *turn) bool { return x.r.Method == http.MethodDelete && x.say(405, "text/plain", "") },
	"session-unknown": func(x *turn) bool { return x.is("ping") && x.plainly(404) },
	"origin": func(x *turn) bool {
		return x.r.Header.Get("Origin") != "" && x.say(403, "application/json", `{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"no"}}`)
	},
	"content-type-parameter": func(x *turn) bool {
		return strings.Contains(x.r.Header.Get("Content-Type"), "charset") && x.say(200, "application/json; charset=UTF-8", x.framed("{}"))
	},
	"header-version": func(x *turn) bool { return x.r.Header.Get("MCP-Protocol-Version") != modern && x.mismatched() },
	"header-method":  func(x *turn) bool { return x.r.Header.Get("Mcp-Method") != x.env.Method && x.mismatched() },
	"header-name": func(x *turn) bool {
		n := nameOf(x.env)
		return n != "" && x.r.Header.Get("Mcp-Name") != encodeHeader(n) && x.mismatched()
	},
	"header-encoded": func(x *turn) bool {
		return strings.HasPrefix(x.r.Header.Get("Mcp-Name"), "=?base64?") && x.fail(-32602)
	},
	"unbuffered": on("subscriptions/listen", func(x *turn) bool {
		x.w.Header().Set("X-Accel-Buffering", "no")
		x.w.Header().Set("Content-Type", "text/event-stream; charset=utf-8")
		_, _ = io.WriteString(x.w, "data: "+x.acknowledging(`{}`)+"\n\n")
		return true
	}),
	"task-list": func(x *turn) bool {
		return x.is("tasks/list") && !x.has("cursor") && x.result(`{"tasks":[],"_meta":{}}`)
	},
	"task-life": func(x *turn) bool { // a task that was over before anybody asked, and that is kept for ever
		const task = `"taskId":"a","createdAt":"2027-01-01T00:00:00Z","lastUpdatedAt":"2027-01-01T00:00:00.5+01:00","ttl":null`
		switch {
		case x.is("tools/list"):
			return x.swap(`"name":"add"`, `"execution":{"taskSupport":"optional"},"name":"add"`)
		case x.is("tools/call"):
			return x.result(`{"task":{` + task + `,"status":"working"}}`)
		case x.is("tasks/get"):
			return x.result(`{` + task + `,"status":"completed"}`)
		case x.is("tasks/list"):
			return x.result(`{"tasks":[{"taskId":"b"},{` + task + `,"status":"completed"}]}`)
		case x.is("tasks/result"):
			return x.result(`{"content":[],"_meta":{"io.modelcontextprotocol/related-task":{"taskId":"a"}}}`)
		}
		return x.is("tasks/cancel") && x.fail(-32602)
	},
	"task-required": on("tools/call", failing(-32600)), // as the first text of the revision had it
	"task-capability": on("tasks/get", func(x *turn) bool {
		return x.say(400, "application/json", `{"jsonrpc":"2.0","id":`+x.id()+`,"error":{"code":-32021,"message":"no","data":{"requiredCapabilities":{},"more":1}}}`)
	}),
}

// nearsElsewhere are rules whose near miss is another test's.
var nearsElsewhere = map[string]string{"http-sse-only": "TestOnlySSE: Streamable HTTP at /mcp"}

// Each rule passes a server that is right and looks like one that breaks it.
func TestNearMisses(t *testing.T) {
	t.Parallel()
	agent := everything(t)
	ids := map[string]bool{}
	for _, u := range tables() {
		ids[u.name] = true
		near := nears[u.name]
		if u.Transport == "stdio" {
			t.Run(u.name, func(t *testing.T) {
				t.Parallel()
				if r := examined(t, oddServer(t), func() {}, u.name); !slices.Contains(passed(r), u.name) || finds(r, u.name) {
					t.Errorf("it does not pass: %+v %+v", r.Findings, r.Sections)
				}
			})
			continue
		}
		if near == nil && trips[u.name].good == nil && nearsElsewhere[u.name] == "" {
			t.Errorf("%s has no server that nearly breaks it", u.name)
		}
		if near == nil {
			continue
		}
		t.Run(u.name, func(t *testing.T) {
			t.Parallel()
			protocol := trips[u.name].protocol
			if protocol == "" {
				protocol = rev2511
			}
			var used atomic.Bool
			how := func(x *turn) bool {
				done := near(x)
				if done || len(x.w.Header()) > 0 {
					used.Store(true)
				}
				return done
			}
			if r := tried(t, agent, how, protocol, u.name); !slices.Contains(passed(r), u.name) || finds(r, u.name) {
				t.Errorf("it does not pass: %+v %+v", r.Findings, r.Sections)
			}
			if !used.Load() {
				t.Error("nothing is near: our agent answered by itself")
			}
		})
	}
	for id := range nears {
		if !ids[id] {
			t.Errorf("there is no rule %s", id)
		}
	}
}
