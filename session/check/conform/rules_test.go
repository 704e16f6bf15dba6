package conform

import (
	"net"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/mcphud/mcphud/session/base/jsonrpc"
	"github.com/mcphud/mcphud/session/check"
	"github.com/mcphud/mcphud/session/check/rules"
	"github.com/mcphud/mcphud/session/test/faketest"
	"github.com/mcphud/mcphud/session/test/faketest/behave"
	"github.com/mcphud/mcphud/session/test/require/assert"
)

// lenient makes headers what the body says.
func lenient(x *turn) bool {
	x.r.Header.Set("Mcp-Method", x.env.Method)
	x.r.Header.Set("MCP-Protocol-Version", modern)
	if n := nameOf(x.env); n != "" {
		x.r.Header.Set("Mcp-Name", encodeHeader(n))
	}
	return false
}

// on changes requests of one method.
func on(method string, do change) change {
	return func(x *turn) bool { return x.is(method) && do(x) }
}

// where changes requests that have a part.
func where(part string, do change) change {
	return func(x *turn) bool { return x.has(part) && do(x) }
}

func failing(code int) change     { return func(x *turn) bool { return x.fail(code) } }
func saying(result string) change { return func(x *turn) bool { return x.result(result) } }
func status(n int) change         { return func(x *turn) bool { return x.say(n, "text/plain", "") } }
func swapping(a, b string) change { return func(x *turn) bool { return x.swap(a, b) } }
func resending(a, b string) change {
	return func(x *turn) bool { return x.send(strings.Replace(x.body, a, b, 1)) }
}

// trips are servers that break each rule.
var trips = map[string]struct {
	protocol string // revision, "" for the legacy one
	how      change
	good     change // where our agent neither breaks the rule nor keeps it: one that keeps it
}{
	"ping":             {how: on("ping", failing(-32601))},
	"method-not-found": {how: on(nobody, saying("{}"))},
	"invalid-params":   {how: where(`"name":5`, saying(`{"content":[]}`))},
	"parse-error":      {how: func(x *turn) bool { return jsonrpc.Valid([]byte(x.body)) != nil && x.body != "" && x.result("{}") }},
	"invalid-request":  {how: where("mcphud-invalid", saying("{}"))},
	"other-version":    {how: resending(`"jsonrpc":"1.0"`, `"jsonrpc":"2.0"`)},
	"echo-string":      {how: where(`"id":"7"`, swapping(`"id":"7"`, `"id":7`))},
	"echo-number":      {how: where(`"id":0`, swapping(`"id":0`, `"id":"0"`))},
	"echo-large":       {how: where(`740991`, swapping(`740991`, `740992`))},
	"null-id":          {how: where(`"id":null`, func(x *turn) bool { return x.say(200, "application/json", `{"jsonrpc":"2.0","id":null,"result":{}}`) })},
	"batch-refused": {how: func(x *turn) bool {
		return strings.HasPrefix(x.body, "[") && x.say(200, "application/json", `[{"jsonrpc":"2.0","id":1,"result":{}}]`)
	}},
	"batch-served": {
		protocol: rev2503, how: func(x *turn) bool { return strings.HasPrefix(x.body, "[") && x.say(400, "text/plain", "") },
		good: func(x *turn) bool { return strings.HasPrefix(x.body, "[") && batched(x) },
	},
	"notification-answered": {how: func(x *turn) bool {
		return x.is("ping") && x.env.ID == nil && x.say(200, "application/json", `{"jsonrpc":"2.0","id":5,"result":{}}`)
	}},
	"extra-members": {how: where("mcphudUnknown", failing(-32602))},
	"concurrent":    {how: on("ping", func(x *turn) bool { return x.count("ping")%10 == 0 && x.swap(`"id":`, `"id":99`) })},

	"version-supported": {how: on("initialize", func(x *turn) bool {
		return x.count("") > 1 && x.swap(`"protocolVersion":"2025-11-25"`, `"protocolVersion":"2025-06-18"`)
	})},
	"version-offered":               {how: where(absurd, failing(-32602))},
	"version-newest":                {how: where("2999-01-01", swapping(`"protocolVersion":"2025-11-25"`, `"protocolVersion":"2024-11-05"`))},
	"initialize-shape":              {how: on("initialize", swapping(`"version"`, `"versions"`))},
	"initialize-unknown-capability": {how: where("mcphudUnknown", failing(-32602))},
	"before-initialize": {how: func(x *turn) bool {
		if x.is("tools/list") && x.r.Header.Get("Mcp-Session-Id") == "" {
			panic(http.ErrAbortHandler)
		}
		return false
	}},
	"initialize-again": {how: func(x *turn) bool {
		return x.is("initialize") && x.r.Header.Get("Mcp-Session-Id") != "" && x.say(500, "text/plain", "")
	}},

	"discovery":                 {protocol: modern, how: on("server/discover", swapping(modern, "2027-01-01"))},
	"version-refused":           {protocol: modern, how: where(absurd, saying(`{"resultType":"complete","tools":[],"ttlMs":0,"cacheScope":"private"}`))},
	"meta-required":             {protocol: modern, how: func(x *turn) bool { return x.env.ID != nil && !x.has("clientCapabilities") && x.result("{}") }},
	"stateless":                 {protocol: modern, how: func(x *turn) bool { return x.is("tools/list") && x.count("tools/list")%2 == 1 && x.fail(-32600) }},
	"removed-methods":           {protocol: modern, how: on("ping", saying("{}"))},
	"server-info":               {protocol: modern, how: on("tools/list", swapping("io.modelcontextprotocol/serverInfo", "com.example/info"))},
	"log-level-refused":         {protocol: modern, how: resending(`logLevel":"mcphud"`, `logLevel":"error"`)},
	"subscription-acknowledged": {protocol: modern, how: on("subscriptions/listen", saying(`{"resultType":"complete"}`))},
	"subscription-filter": {protocol: modern, how: on("subscriptions/listen", func(x *turn) bool {
		return x.events("", `{"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged","params":{"_meta":{"io.modelcontextprotocol/subscriptionId":`+x.id()+`},"notifications":{"toolsListChanged":true}}}`)
	})},
	"fallback-named": {
		protocol: modern, how: on("initialize", failing(-32601)),
		good: on("initialize", func(x *turn) bool {
			return x.say(400, "application/json", `{"jsonrpc":"2.0","id":1,"error":{"code":-32022,"message":"2026-07-28 only"}}`)
		}),
	},

	"declared-lists": {how: on("prompts/list", failing(-32601))},
	"undeclared": {
		how: on("initialize", swapping(`"prompts":`, `"experimental":`)),
		good: func(x *turn) bool {
			return x.is("initialize") && x.swap(`"prompts":`, `"experimental":`) || x.is("prompts/list") && x.fail(-32601)
		},
	},
	"params-absent":  {how: func(x *turn) bool { return x.is("tools/list") && x.env.Params == nil && x.fail(-32602) }},
	"cursor-refused": {how: resending("mcphud-never-given", "")},
	"cursor-stable":  {how: where(`"cursor"`, func(x *turn) bool { return x.count("") == 2 && x.result(`{"tools":[]}`) })},
	"pages-end":      {how: on("tools/list", saying(`{"tools":[],"nextCursor":"again"}`))},
	"list-order": {how: on("tools/list", func(x *turn) bool {
		return x.edit(func(b string, _ http.Header) string {
			if x.count("")%2 == 0 {
				return strings.NewReplacer(`"name":"add"`, `"name":"zzz"`).Replace(b)
			}
			return b
		})
	})},

	"unknown-tool":       {how: where(missing, saying(`{"content":[],"isError":true}`))},
	"unknown-resource":   {protocol: modern, how: where(missing, saying(`{"resultType":"complete","contents":[],"ttlMs":0,"cacheScope":"private"}`))},
	"unknown-prompt":     {how: where(missing, saying(`{"messages":[]}`))},
	"missing-argument":   {how: where(`"arguments":{}`, saying(`{"messages":[]}`))},
	"prompts-rendered":   {how: on("prompts/get", failing(-32602))},
	"resources-read":     {how: on("resources/read", failing(-32602))},
	"tools-answer":       {how: on("tools/call", saying("{}"))},
	"completion":         {how: on("completion/complete", failing(-32602))},
	"completion-refused": {how: where(missing, saying(`{"completion":{"values":[]}}`))},
	"log-level-set":      {how: on("logging/setLevel", failing(-32602))},
	"log-level-invalid":  {how: where(`"mcphud"}`, saying("{}"))},
	"subscribe":          {how: on("resources/subscribe", failing(-32602))},
	"cancel-survived": {how: func(x *turn) bool {
		return x.is("notifications/cancelled") && x.count("cancelled") == 0 || x.is("ping") && x.did("cancelled") && x.fail(-32600)
	}},
	"progress": {how: where("mcphud-token", func(x *turn) bool {
		return x.events("", `{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"mine","progress":1}}`, "", x.framed(`{"content":[]}`))
	})},

	"origin": {how: func(x *turn) bool { x.r.Header.Del("Origin"); return false }},
	"host": {how: func(x *turn) bool {
		x.r.Host = x.r.Context().Value(http.LocalAddrContextKey).(net.Addr).String()
		return false
	}},
	"cors": {how: func(x *turn) bool {
		x.w.Header().Set("Access-Control-Allow-Origin", "*")
		return x.r.Method == http.MethodOptions && x.say(204, "text/plain", "")
	}},
	"answer-type":  {how: on("ping", func(x *turn) bool { return x.say(200, "text/plain", x.framed("{}")) })},
	"accepted":     {how: on("notifications/cancelled", status(200))},
	"content-type": {how: func(x *turn) bool { x.r.Header.Set("Content-Type", "application/json"); return false }},
	"content-type-parameter": {how: func(x *turn) bool {
		return strings.Contains(x.r.Header.Get("Content-Type"), "charset") && x.say(415, "text/plain", "")
	}},
	"accept": {how: func(x *turn) bool { x.r.Header.Set("Accept", "application/json, text/event-stream"); return false }},
	"accept-order": {how: func(x *turn) bool {
		return strings.HasPrefix(x.r.Header.Get("Accept"), "text/event-stream,") && x.say(406, "text/plain", "")
	}},
	"header-case": {how: on("ping", func(x *turn) bool { return x.count("ping")%2 == 0 && x.say(406, "text/plain", "") })},
	"stream-ends": {
		how: on("ping", func(x *turn) bool {
			x.events("", x.framed("{}"))
			x.w.(http.Flusher).Flush()
			<-x.r.Context().Done()
			return true
		}),
		good: on("ping", func(x *turn) bool { return x.events("", x.framed("{}")) }),
	},
	"get":            {how: func(x *turn) bool { return x.r.Method == http.MethodGet && x.say(404, "text/plain", "") }},
	"version-header": {how: func(x *turn) bool { x.r.Header.Set("MCP-Protocol-Version", rev2511); return false }},
	"event-ids":      {how: on("ping", func(x *turn) bool { return x.events("id: 1\n", x.framed("{}")) }), good: on("ping", numbered)},
	"resumption": {how: func(x *turn) bool {
		return x.is("ping") && numbered(x) || x.r.Header.Get("Last-Event-ID") != "" && x.say(500, "text/plain", "")
	}, good: on("ping", numbered)},

	"session-id": {how: func(x *turn) bool {
		if x.is("initialize") {
			return x.edit(func(b string, h http.Header) string {
				x.s.mu.Lock()
				defer x.s.mu.Unlock()
				x.s.session = h.Get("Mcp-Session-Id")
				h.Set("Mcp-Session-Id", "always the same")
				return b
			})
		}
		return knownSession(x)
	}},
	"session-absent": {
		how: func(x *turn) bool {
			return x.r.Header.Get("Mcp-Session-Id") == "" && x.is("tools/list") && x.result(`{"tools":[]}`)
		},
		good: func(x *turn) bool {
			return x.r.Header.Get("Mcp-Session-Id") == "" && x.is("tools/list") && x.say(400, "text/plain", "")
		},
	},
	"session-unknown": {how: func(x *turn) bool { return x.is("ping") && x.result("{}") }},
	"session-delete":  {how: func(x *turn) bool { return x.r.Method == http.MethodDelete && x.say(200, "text/plain", "") }},
	"session-none": {protocol: modern, how: func(x *turn) bool {
		x.w.Header().Set("Mcp-Session-Id", "mine")
		return false
	}},

	"header-version": {protocol: modern, how: lenient},
	"header-method":  {protocol: modern, how: lenient},
	"header-name":    {protocol: modern, how: lenient},
	"header-encoded": {protocol: modern, how: func(x *turn) bool {
		return strings.HasPrefix(x.r.Header.Get("Mcp-Name"), "=?base64?") && x.say(400, "application/json", `{"jsonrpc":"2.0","id":`+x.id()+`,"error":{"code":-32020,"message":"no"}}`)
	}},
	"unbuffered": {protocol: modern, how: on("subscriptions/listen", func(x *turn) bool { return x.events("", `{}`) })},

	"task-unknown": {how: on("tasks/get", saying(`{"taskId":"a","status":"working"}`))},
	"task-undeclared": {
		how: on("initialize", swapping(`"tasks":`, `"experimental":`)),
		good: func(x *turn) bool {
			return x.is("initialize") && x.swap(`"tasks":`, `"experimental":`) || x.is("tasks/get") && x.fail(-32601)
		},
	},
	"task-list": {how: on("tasks/list", failing(-32602))},
	"task-life": {how: func(x *turn) bool {
		return x.is("tools/call") && x.has(`"task"`) && x.result(`{"task":{"taskId":"a","status":"completed"}}`) || x.is("tools/list") && x.swap(`"name":"add"`, `"execution":{"taskSupport":"optional"},"name":"add"`)
	}},
	"task-forbidden":  {how: where(`"task":`, saying(`{"task":{"taskId":"a","status":"working"}}`))},
	"task-required":   {how: on("tools/list", swapping(`"name":"add"`, `"execution":{"taskSupport":"required"},"name":"add"`))},
	"task-capability": {protocol: modern, how: on("tasks/get", saying("{}"))},
}

// numbered answers by an event with an id of its own.
func numbered(x *turn) bool {
	return x.events("id: "+strings.Repeat("x", x.count("event"))+"\n", x.framed("{}"))
}

// knownSession gives a request the session that there is.
func knownSession(x *turn) bool {
	x.s.mu.Lock()
	defer x.s.mu.Unlock()
	if x.s.session != "" {
		x.r.Header.Set("Mcp-Session-Id", x.s.session)
	}
	return false
}

// modes are processes that break the rules of stdio.
var modes = map[string]behave.Mode{"exits": behave.IgnoreTerm, "stdout-clean": behave.Noise, "pretty-printed": behave.Noise, "probe-survived": behave.ExitDiscover}

// Each rule has a server that breaks it.
func TestRulesTrip(t *testing.T) {
	t.Parallel()
	agent := everything(t)
	for _, u := range tables() {
		t.Run(u.name, func(t *testing.T) {
			t.Parallel()
			if mode, ok := modes[u.name]; ok {
				r := examined(t, faketest.Stdio(t, mode), func() {}, u.name)
				if !finds(r, u.name) {
					t.Errorf("%s is not found: %+v", mode, r.Sections)
				}
				return
			}
			if u.Transport == "sse" {
				t.Skip("it has a test of its own")
			}
			c, ok := trips[u.name]
			if !ok {
				t.Fatal("no server breaks it")
			}
			protocol := c.protocol
			if protocol == "" {
				protocol = rev2511
			}
			if r := tried(t, agent, c.how, protocol, u.name); !finds(r, u.name) {
				t.Errorf("it is not found: %+v", r.Sections)
			}
			if c.good != nil {
				if r := tried(t, agent, c.good, protocol, u.name); !slices.Contains(passed(r), u.name) {
					t.Errorf("who keeps it does not pass: %+v %+v", r.Findings, r.Sections)
				}
			}
		})
	}
}

func finds(r *check.Report, id string) bool {
	return slices.ContainsFunc(r.Findings, func(f check.Finding) bool { return f.ID == Name+"/"+id && f.Evidence != "" && f.Message != "" })
}

// passed are the rules that held.
func passed(r *check.Report) (out []string) {
	for _, s := range r.Sections {
		for _, o := range s.Outcomes {
			if o.Verdict == check.Passed {
				out = append(out, strings.TrimPrefix(o.Rule, Name+"/"))
			}
		}
	}
	return out
}

// batched answers a batch of pings.
func batched(x *turn) bool {
	var out []string
	_ = jsonrpc.Elements([]byte(x.body), func(one []byte) bool { // anything but a batch is answered by an empty one
		out = append(out, `{"jsonrpc":"2.0","id":`+string(jsonrpc.Get(one, "id"))+`,"result":{}}`)
		return true
	})
	return x.say(200, "application/json", "["+strings.Join(out, ",")+"]")
}

// An id is what it means: a server that writes a string with other escapes, as Python's json does, repeats it.
func TestIDsWithOtherEscapes(t *testing.T) {
	t.Parallel()
	escapes := where("✓", swapping(`"id":"ü ✓ 😀"`, `"id":"\u00fc \u2713 \ud83d\ude00"`))
	r := tried(t, everything(t), escapes, rev2511, "echo-string", "id-*", "answer-*")
	if len(r.Findings) > 0 || !slices.Contains(passed(r), "echo-string") {
		t.Errorf("%+v %+v", r.Findings, r.Sections)
	}
	for _, wrong := range []string{`\u00fc \u2713`, `\u00fd \u2713 \ud83d\ude00`, "ü ✓ �"} {
		r := tried(t, everything(t), where("✓", swapping(`"id":"ü ✓ 😀"`, `"id":"`+wrong+`"`)), rev2511, "echo-string")
		if !finds(r, "echo-string") {
			t.Errorf("%s: %+v", wrong, r.Sections)
		}
	}
}

// A batch is served when each of its requests is, in whichever form answers come.
func TestBatchServed(t *testing.T) {
	t.Parallel()
	agent := everything(t)
	for name, c := range map[string]struct {
		answer func(x *turn, all []string) bool
		served bool
	}{
		"an array": {func(x *turn, all []string) bool {
			return x.say(200, "application/json", "["+strings.Join(all, ",")+"]")
		}, true},
		"an array in another order": {func(x *turn, all []string) bool { return x.say(200, "application/json", "["+all[1]+","+all[0]+"]") }, true},
		"an event with an array":    {func(x *turn, all []string) bool { return x.events("", "["+strings.Join(all, ",")+"]") }, true},
		"an event each":             {func(x *turn, all []string) bool { return x.events("", all[0], "", all[1]) }, true},
		"only the first":            {func(x *turn, all []string) bool { return x.say(200, "application/json", "["+all[0]+"]") }, false},
		"only the first, as such":   {func(x *turn, all []string) bool { return x.say(200, "application/json", all[0]) }, false},
		"only the second":           {func(x *turn, all []string) bool { return x.say(200, "application/json", "["+all[1]+"]") }, false},
		"only the first, as event":  {func(x *turn, all []string) bool { return x.events("", all[0]) }, false},
		"the first one twice":       {func(x *turn, all []string) bool { return x.say(200, "application/json", "["+all[0]+","+all[0]+"]") }, false},
		"the second one is an error": {func(x *turn, all []string) bool {
			return x.say(200, "application/json", "["+all[0]+","+strings.Replace(all[1], `"result":{}`, `"error":{"code":-32603,"message":"result"}`, 1)+"]")
		}, false},
	} {
		how := func(x *turn) bool {
			if !strings.HasPrefix(x.body, "[") {
				return false
			}
			var all []string
			_ = jsonrpc.Elements([]byte(x.body), func(one []byte) bool { // it is an array
				all = append(all, `{"jsonrpc":"2.0","id":`+string(jsonrpc.Get(one, "id"))+`,"result":{}}`)
				return true
			})
			return c.answer(x, all)
		}
		r := tried(t, agent, how, rev2503, "batch-served")
		if served := slices.Contains(passed(r), "batch-served"); served != c.served || finds(r, "batch-served") == c.served {
			t.Errorf("%s: passed %v, want %v: %+v", name, served, c.served, r.Findings)
		}
	}
}

// deliberate are findings about our agent that stay: its numbers for errors of the legacy era are those that its clients know, it takes no
// batches, which one revision had, and its tools for every kind of content show them to clients of any revision.
func deliberate(f check.Finding) bool {
	switch f.ID {
	case Name + "/unknown-resource":
		return f.Place.Name < modern
	case Name + "/batch-served":
		return true
	case Name + "/schema-result":
		return f.Place.Name < rev2506
	}
	return f.Severity == check.Info
}

// Our agent keeps each rule, in the revisions that have it. The rules of stdio are tried on the program. It takes some seconds because tasks
// are polled, and tools called, that take their time.
func TestRulesPass(t *testing.T) {
	t.Parallel()
	agent := everything(t)
	reports := make([]*check.Report, 2)
	t.Run("revisions", func(t *testing.T) {
		for i, protocol := range []string{"", rev2503} {
			t.Run("from "+protocol, func(t *testing.T) {
				t.Parallel()
				var rules []string
				if protocol != "" {
					rules = []string{"[a-s]*", "[u-z]*"} // not again those that call tools
				}
				reports[i] = tried(t, agent, nil, protocol, rules...)
				for _, f := range reports[i].Findings {
					if !deliberate(f) {
						t.Errorf("%s %s %s: %s\n%s", f.Severity, f.ID, f.Place, f.Message, f.Evidence)
					}
				}
			})
		}
	})
	var held []string
	for _, r := range reports {
		held = append(held, passed(r)...)
	}
	for _, u := range tables() {
		if u.Transport != "stdio" && u.Transport != "sse" && trips[u.name].good == nil && !slices.Contains(held, u.name) {
			t.Errorf("%s did not pass", u.name)
		}
	}
}

// Rules have ids of their own, all that a report needs, and a trial; and each trial has a rule.
func TestRules(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, r := range known() {
		if seen[r.ID] || r.Title == "" || r.Why == "" || r.Fix == "" || r.Source == "" || r.Read == "" {
			t.Errorf("%s: %+v", r.ID, r)
		}
		seen[r.ID] = true
	}
	why := map[string][]string{}
	for _, r := range known() {
		why[r.Why] = append(why[r.Why], r.ID)
	}
	for text, ids := range why {
		if len(ids) > 3 {
			t.Errorf("%q is the reason of %d rules, and so of none: %s", text, len(ids), strings.Join(ids, ", "))
		}
	}
	tried := map[string]bool{sdkHabits: true, suiteFailed: true, suiteWarned: true} // by those that they stand for, and by the suite
	for _, u := range trials() {
		if tried[u.name] || rules.Find(Name, Name+"/"+u.name) == nil {
			t.Errorf("the trial of %q is of no rule of conform.yaml, or the second of one", u.name)
		}
		tried[u.name] = true
	}
	for _, r := range rules.Of(Name) {
		if !tried[r.Name()] {
			t.Errorf("%s has no trial", r.ID)
		}
	}
}

// Completion that is not declared is served, too, where it is answered; also an empty list that nobody declared is said.
func TestUndeclared(t *testing.T) {
	t.Parallel()
	agent := everything(t)
	for name, c := range map[string]struct {
		how  change
		want string
	}{
		"completion": {func(x *turn) bool {
			return x.is("initialize") && x.swap(`"completions":`, `"experimental":`) || x.is("completion/complete") && x.result(`{"completion":{"values":[]}}`)
		}, "error completion/complete is served, and completions is not declared"},
		"completion, refused": {func(x *turn) bool {
			return x.is("initialize") && x.swap(`"completions":`, `"experimental":`) || x.is("completion/complete") && x.fail(-32601)
		}, ""},
		"no prompts": {func(x *turn) bool {
			return x.is("initialize") && x.swap(`"prompts":`, `"experimental":`) || x.is("prompts/list") && x.result(`{"prompts":[]}`)
		}, "info prompts/list answers an empty list, and is not declared"},
		"a prompt": {func(x *turn) bool {
			return x.is("initialize") && x.swap(`"prompts":`, `"experimental":`) || x.is("prompts/list") && x.result(`{"prompts":[{"name":"a"}]}`)
		}, "error prompts/list has 1 items, and prompts is not declared"},
	} {
		got := ""
		for _, f := range tried(t, agent, c.how, rev2511, "undeclared").Findings {
			got += f.Severity.String() + " " + f.Message
		}
		assert.Equalf(t, got, c.want, "%s", name)
	}
}

// Who has no templates may leave the method out; any other list that was declared has to be there, and to be one.
func TestDeclared(t *testing.T) {
	t.Parallel()
	agent := everything(t)
	for name, c := range map[string]struct {
		how  change
		want string
	}{
		"no templates":         {on("resources/templates/list", failing(-32601)), ""},
		"templates that fail":  {on("resources/templates/list", failing(-32600)), `resources/templates/list: status 200, error -32600 "no", not a result`},
		"no resources":         {on("resources/list", failing(-32601)), `resources/list: status 200, error -32601 "no", not a result`},
		"prompts that are one": {on("prompts/list", saying(`{"prompts":{}}`)), "the result of prompts/list has no array prompts"},
		"tools by no name":     {on("tools/list", saying(`{"items":[]}`)), "the result of tools/list has no array tools"},
	} {
		got := ""
		for _, f := range tried(t, agent, c.how, rev2511, "declared-lists").Findings {
			got += f.Message
		}
		assert.Equalf(t, got, c.want, "%s", name)
	}
}

// The evidence of a finding is where the specification says so, what was sent, and what came back by which status.
func TestEvidence(t *testing.T) {
	t.Parallel()
	agent := everything(t)
	ids := regexp.MustCompile(`"id":\d+`)
	for rule, c := range map[string]struct {
		how      change
		severity check.Severity
		want     []string
	}{
		"ping": {on("ping", saying(`{"a":1}`)), check.Warning, []string{
			"https://modelcontextprotocol.io/specification/2025-11-25/basic/utilities/ping#behavior-requirements", "> ping", `< {"jsonrpc":"2.0","id":N,"result":{"a":1}}`, `  HTTP status 200, Content-Type "application/json"`,
		}},
		"accepted": {on("notifications/cancelled", status(204)), check.Error, []string{
			"https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#sending-messages-to-the-server", `> {"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"nobody asked this"}}`, `  HTTP status 204, Content-Type "text/plain"`,
		}},
	} {
		r := tried(t, agent, c.how, rev2511, rule)
		if len(r.Findings) != 1 || r.Findings[0].Severity != c.severity {
			t.Errorf("%s: %+v", rule, r.Findings)
			continue
		}
		f := r.Findings[0]
		for _, want := range c.want {
			if !slices.Contains(strings.Split(ids.ReplaceAllString(f.Evidence, `"id":N`), "\n"), want) {
				t.Errorf("%s: %s is not in\n%s", rule, want, f.Evidence)
			}
		}
	}
}
