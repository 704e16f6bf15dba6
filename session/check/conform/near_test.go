package conform

import (
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/mcphud/mcphud/session/jsonrpc"
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
}

// exchanging replaces a part of the answer, which has to be there.
func exchanging(old, with string) change {
	return func(x *turn) bool {
		return x.edit(func(b string, _ http.Header) string {
			if !strings.Contains(b, old) {
				panic("the agent does not say " + old)
			}
			return strings.Replace(b, old, with, 1)
		})
	}
}

// marked gives each second answer a member that no rule is about.
func marked(x *turn) bool {
	return x.edit(func(b string, _ http.Header) string {
		if x.count("")%2 == 0 {
			return strings.Replace(b, `"tools":`, `"com.example/n":1,"tools":`, 1)
		}
		return b
	})
}

// nearless are the rules that have no such server, only our agent, which passes them. The list may only shrink.
var nearless = strings.Fields(`
	invalid-request extra-members version-supported probe-survived version-refused meta-required subscription-acknowledged
	subscription-filter cancel-survived params-absent cursor-stable host accept-order header-case http-sse-only session-id
	session-delete header-version header-method header-name header-encoded unbuffered exits stdout-clean pretty-printed task-list
	task-life task-required task-capability session-unknown content-type-parameter origin
`)

// Each rule passes a server that is right and looks like one that breaks it.
func TestNearMisses(t *testing.T) {
	t.Parallel()
	agent := everything(t)
	ids := map[string]bool{}
	for _, u := range tables() {
		ids[u.ID] = true
		near := nears[u.ID]
		if has := near != nil || trips[u.ID].good != nil; has == slices.Contains(nearless, u.ID) {
			t.Errorf("%s: a server that nearly breaks it: %v; is it in nearless: %v", u.ID, has, !has)
		}
		if near == nil {
			continue
		}
		t.Run(u.ID, func(t *testing.T) {
			t.Parallel()
			protocol := trips[u.ID].protocol
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
			if r := tried(t, agent, how, protocol, u.ID); !slices.Contains(passed(r), u.ID) || finds(r, u.ID) {
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
	for _, id := range nearless {
		if !ids[id] {
			t.Errorf("there is no rule %s", id)
		}
	}
}
