package aggregate_test

import (
	"fmt"
	"net/http"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/mcphud/mcphud/proxy/aggregate"
	"github.com/mcphud/mcphud/session/test/budget"
	"github.com/mcphud/mcphud/session/test/require"
	"github.com/mcphud/mcphud/session/test/require/assert"
)

// Many clients, in sessions and without, use the same ids at once. Each gets its own answers and its own progress.
func TestR19_ManyClientsWithTheSameIDs(t *testing.T) {
	const clients, rounds = 64, 5
	agent := func(name string, modern bool) *script {
		return &script{modern: modern, caps: `{"tools":{}}`, answer: func(a asked, say func(string, ...any)) string {
			if a.Method != "tools/call" {
				return ""
			}
			if token := a.param("_meta", "progressToken"); token != "" {
				say(`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":%s,"progress":1,"message":%s}}`, token, a.param("arguments", "n"))
			}
			return fmt.Sprintf(`{"content":[{"type":"text","text":"%s has %s"}]}`, name, strings.Trim(a.param("arguments", "n"), `"`))
		}}
	}
	s := router(t, map[string]string{"a": agent("a", false).serve(t), "b": agent("b", true).serve(t)}, nil)
	var wg sync.WaitGroup
	var wrong atomic.Int64
	for i := range clients {
		wg.Go(func() {
			session := ""
			if i%3 == 0 {
				session, _ = s.open("{}", "2025-11-25")
			}
			for round := range rounds {
				name := []string{"a", "b"}[(i+round)%2]
				n := fmt.Sprintf("n%d-%d.", i, round)
				var e *events
				if i%3 == 1 {
					e = s.events(s.modern("same", "tools/call", "mcp__"+name+"__t", `,"name":"mcp__`+name+`__t","arguments":{"n":"`+n+`"}`, `{},"progressToken":"tok"`))
				} else {
					e = s.events(s.do(http.MethodPost, session, `{"jsonrpc":"2.0","id":"same","method":"tools/call","params":{"name":"mcp__`+name+`__t","arguments":{"n":"`+n+`"},"_meta":{"progressToken":"tok"}}}`))
				}
				progress := false
				for got := range e.all {
					if strings.Contains(got, "progressToken") {
						progress = strings.Contains(got, `"progressToken":"tok"`) && strings.Contains(got, n)
						continue
					}
					if !progress || !strings.Contains(got, `"id":"same"`) || !strings.Contains(got, name+" has "+n) {
						wrong.Add(1)
						t.Errorf("%d: %s (progress %v)", i, got, progress)
					}
				}
			}
		})
	}
	wg.Wait()
}

// Twenty agents with five hundred tools each are listed page by page, each tool once, by several clients, within bounds.
func TestR19_ManyTools(t *testing.T) {
	const agents, clients = 20, 4
	tools := 500
	if budget.Race() {
		tools = 100
	}
	urls := map[string]string{}
	for i := range agents {
		var b strings.Builder
		for j := range tools {
			fmt.Fprintf(&b, `,{"name":"tool_%03d","description":"%s","inputSchema":{"type":"object","properties":{"x":{"type":"string"}}}}`, j, strings.Repeat("what it does ", 20))
		}
		list := `{"tools":[` + b.String()[1:] + `]}`
		a := &script{caps: `{"tools":{}}`, answer: func(a asked, _ func(string, ...any)) string {
			if a.Method == "tools/list" {
				return list
			}
			return ""
		}}
		urls[fmt.Sprintf("agent%02d", i)] = a.serve(t)
	}
	s := router(t, urls, func(o *aggregate.Options) { o.Patience = time.Minute })
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	for c := range clients {
		id, _ := s.open("{}", "2025-11-25")
		began := time.Now()
		seen := map[string]bool{}
		params, last := "{}", ""
		for {
			a := s.ask(id, "tools/list", params)
			for _, n := range names(a) {
				if seen[n] || n <= last {
					t.Fatal("not in order, or twice: ", n, last)
				}
				seen[n], last = true, n
			}
			if params = `{"cursor":"` + a.Result.NextCursor + `"}`; a.Result.NextCursor == "" {
				break
			}
		}
		assert.Equal(t, len(seen), agents*tools)
		t.Logf("client %d: %v", c, time.Since(began))
	}
	runtime.GC()
	runtime.ReadMemStats(&after)
	grown := (int64(after.HeapAlloc) - int64(before.HeapAlloc)) / clients
	t.Logf("a client's lists: %d KiB", grown>>10)
	if grown > 30<<20 {
		t.Errorf("a client's lists hold %d MiB", grown>>20)
	}
}

// Agents whose lists have no end, repeat themselves, or are not what they should be spoil nobody else's part.
func TestR19_HostileLists(t *testing.T) {
	t.Parallel()
	lists := map[string]func(cursor string) string{
		"array":   func(string) string { return `{"tools":{"name":"x"}}` },
		"broken":  func(string) string { return `[]` },
		"repeats": func(string) string { return `{"tools":[{"name":"r","inputSchema":{}}],"nextCursor":"again"}` },
		"endless": func(cursor string) string {
			return `{"tools":[{"name":"e` + strings.Trim(cursor, `"c`) + `","inputSchema":{}}],"nextCursor":"c` + strings.Trim(cursor, `"`) + `"}`
		},
		"long": func(string) string {
			return `{"tools":[{"name":"` + strings.Repeat("n", 1<<20) + `","inputSchema":{}},{"name":"ok","inputSchema":{}}]}`
		},
		"twice": func(string) string {
			return `{"tools":[{"name":"t","inputSchema":{}},{"name":"t","inputSchema":{}},{"inputSchema":{}},7]}`
		},
		"huge": func(string) string {
			return `{"tools":[{"name":"h","description":"` + strings.Repeat("d", 16<<20) + `","inputSchema":{}}]}`
		},
		"good": func(string) string { return `{"tools":[{"name":"g","inputSchema":{}}]}` },
	}
	urls := map[string]string{}
	for name, list := range lists {
		a := &script{caps: `{"tools":{}}`, answer: func(a asked, _ func(string, ...any)) string {
			if a.Method == "tools/list" {
				return list(a.param("cursor"))
			}
			return ""
		}}
		urls[name] = a.serve(t)
	}
	s := router(t, urls, func(o *aggregate.Options) { o.Patience, o.Timeout = 30*time.Second, 8*time.Second })
	var got, missing []string
	params := "{}"
	for pages := 0; ; pages++ {
		a := s.ask("", "tools/list", params)
		if len(a.raw) > 1<<20 || pages > 100 {
			t.Fatal("unbounded", len(a.raw), pages)
		}
		got = append(got, names(a)...)
		missing = append(missing, string(a.Result.Meta["mcphud/missing"]))
		if params = `{"cursor":"` + a.Result.NextCursor + `"}`; a.Result.NextCursor == "" {
			break
		}
	}
	text := strings.Join(got, " ")
	for _, want := range []string{"mcp__good__g", "mcp__long__ok", "mcp__repeats__r", "mcp__twice__t"} {
		if strings.Count(text+" ", want+" ") != 1 {
			t.Errorf("%s: %.300s", want, text)
		}
	}
	for _, agent := range []string{"array", "broken", "repeats", "endless", "long", "twice", "huge"} {
		if !strings.Contains(missing[0], `"agent":"`+agent+`"`) {
			t.Errorf("nothing is said of %s: %.1000s", agent, missing[0])
		}
	}
	assert.NotContains(t, missing[0], `"agent":"good"`)
}

// What callers without a session can be asked for they make up. Of one principal there are few kinds at a time.
func TestR19_CallersOfManyKinds(t *testing.T) {
	var began, listening atomic.Int64
	a := &script{modern: true, caps: `{"tools":{"listChanged":true}}`, answer: func(a asked, say func(string, ...any)) string {
		switch a.Method {
		case "tools/list":
			return `{"tools":[{"name":"t","inputSchema":{}}]}`
		case "subscriptions/listen":
			say(`{"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged","params":{"_meta":{"io.modelcontextprotocol/subscriptionId":%s},"notifications":{}}}`, a.ID)
			listening.Add(1)
			began.Add(1)
			<-a.r.Context().Done()
			listening.Add(-1)
		}
		return ""
	}}
	s := router(t, map[string]string{"a": a.serve(t)}, nil)
	const kinds = 40
	for i := range kinds {
		caps := "{"
		for bit, name := range []string{"form", "url", "tools", "context"} {
			if i>>bit&1 == 1 {
				caps += `"` + name + `":{},`
			}
		}
		caps = `{"sampling":` + strings.TrimSuffix(caps, ",") + "}"
		for bit, name := range []string{"elicitation", "roots"} {
			if i>>(4+bit)&1 == 1 {
				caps += `,"` + name + `":{}`
			}
		}
		if got := s.modernAsk("tools/list", "", "", caps+"}"); len(names(got)) != 1 {
			t.Fatalf("%s: %s", caps, got.raw)
		}
		require.Eventually(t, "this kind listens", func() bool { return began.Load() == int64(i)+1 })
	}
	require.Eventually(t, "the oldest kinds are let go", func() bool { return listening.Load() == 32 })
}

// A page begins where the last one ended, also when the agent changed in between, and none is a page of another list.
func TestP5_PagesStayInPlaceWhileAnAgentChanges(t *testing.T) {
	var now atomic.Pointer[string]
	put := func(names string) {
		var b strings.Builder
		for _, n := range strings.Fields(names) {
			b.WriteString(`,{"name":"` + n + `","inputSchema":{}}`)
		}
		list := `{"tools":[` + strings.TrimPrefix(b.String(), ",") + `]}`
		now.Store(&list)
	}
	put("a b c d e f")
	a := &script{caps: `{"tools":{"listChanged":true},"prompts":{}}`, answer: func(a asked, _ func(string, ...any)) string {
		if a.Method == "tools/list" {
			return *now.Load()
		}
		return ""
	}}
	urls := map[string]string{"m": a.serve(t), "z": living(false, "z").serve(t)}
	s := router(t, urls, func(o *aggregate.Options) { o.Page = 2 })
	id, _ := s.open("{}", "2025-11-25")
	stream := s.general(id)
	first := s.ask(id, "tools/list", "")
	second := s.ask(id, "tools/list", `{"cursor":"`+first.Result.NextCursor+`"}`)
	if got := strings.Join(append(names(first), names(second)...), " "); got != "mcp__m__a mcp__m__b mcp__m__c mcp__m__d" {
		t.Fatal(got)
	}
	require.Eventually(t, "the stream is open", func() bool { return a.streams() == 1 })
	for _, c := range []struct{ list, want string }{
		{"x a b c d e f", "mcp__m__e mcp__m__f"}, // one more before
		{"b c d e f", "mcp__m__e mcp__m__f"},     // one less before
		{"a b c e f", "mcp__m__e mcp__m__f"},     // the one at the end of the page is gone
		{"a", "mcp__z__z"},                       // and all behind it
	} {
		put(c.list)
		a.tell(`{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}`)
		stream.next("tools/list_changed")
		if got := s.ask(id, "tools/list", `{"cursor":"`+second.Result.NextCursor+`"}`); strings.Join(names(got), " ") != c.want {
			t.Errorf("%s: %s", c.list, got.raw)
		}
	}
	s.reload(map[string]string{"z": urls["z"]})
	if got := s.ask(id, "tools/list", `{"cursor":"`+second.Result.NextCursor+`"}`); strings.Join(names(got), " ") != "mcp__z__z" {
		t.Error(got.raw)
	}
	for _, c := range [][2]string{{"prompts/list", first.Result.NextCursor}, {"tools/list", ""}, {"tools/list", "x" + first.Result.NextCursor}, {"tools/list", "dG9vbHMAYQAwAGI"}} {
		if got := s.ask(id, c[0], `{"cursor":"`+c[1]+`"}`); got.Error == nil || got.Error.Code != -32602 {
			t.Errorf("%v: %s", c, got.raw)
		}
	}
}
