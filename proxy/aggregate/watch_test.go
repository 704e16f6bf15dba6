package aggregate_test

import (
	"fmt"
	"net/http"
	"testing"

	"github.com/mcphud/mcphud/session/test/require"
	"github.com/mcphud/mcphud/session/test/require/assert"
)

// shelf is an agent with a resource, whose subscriptions it counts.
func shelf(uri string, modern bool, change func() <-chan string) *script {
	return &script{modern: modern, caps: `{"resources":{"subscribe":true,"listChanged":true}}`, answer: func(a asked, say func(string, ...any)) string {
		switch a.Method {
		case "resources/list":
			return `{"resources":[{"uri":"` + uri + `","name":"r"}]}`
		case "resources/templates/list":
			return `{"resourceTemplates":[]}`
		case "resources/subscribe", "resources/unsubscribe":
			return `{}`
		case "subscriptions/listen":
			said := a.param("notifications")
			say(`{"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged","params":{"notifications":%s,"_meta":{"io.modelcontextprotocol/subscriptionId":%s}}}`, said, a.ID)
			if a.param("notifications", "resourceSubscriptions") == "" {
				<-a.r.Context().Done()
				return `{}`
			}
			changes := change()
			for {
				select {
				case uri := <-changes:
					say(`{"jsonrpc":"2.0","method":"notifications/resources/updated","params":{"uri":%q,"_meta":{"io.modelcontextprotocol/subscriptionId":%s}}}`, uri, a.ID)
				case <-a.r.Context().Done():
					return `{}`
				}
			}
		}
		return ""
	}}
}

const updated = `{"jsonrpc":"2.0","method":"notifications/resources/updated","params":{"uri":%q}}`

// A session follows a resource at the agent that has it, under the URI that it used, until it says otherwise.
func TestR19_ResourcesAreFollowed(t *testing.T) {
	a, b := shelf("same://r", false, nil), shelf("same://r", false, nil)
	only := shelf("b://only", false, nil)
	s := router(t, map[string]string{"a": a.serve(t), "b": b.serve(t), "only": only.serve(t)}, nil)
	id, _ := s.open("{}", "2025-11-25")
	other, _ := s.open("{}", "2025-11-25")
	stream, others := s.general(id), s.general(other)
	if got := s.ask(id, "resources/subscribe", `{"uri":"same://r"}`); got.Error == nil || got.Error.Code != -32602 {
		t.Errorf("whose it is is ambiguous: %s", got.raw)
	}
	for _, uri := range []string{"mcp:b:same://r", "b://only", "b://only"} {
		if got := s.ask(id, "resources/subscribe", `{"uri":"`+uri+`"}`); got.Error != nil {
			t.Error(got.raw)
		}
	}
	if a.count("resources/subscribe") != 0 || b.count("resources/subscribe") != 1 || only.count("resources/subscribe") != 1 {
		t.Error(a.seen, b.seen, only.seen)
	}
	require.Eventually(t, "the general streams are open", func() bool { return b.streams() == 2 && only.streams() == 2 })
	b.tell(fmt.Sprintf(updated, "same://r"))
	stream.next("resources/updated", `"uri":"mcp:b:same://r"`)
	only.tell(fmt.Sprintf(updated, "b://only"))
	stream.next("resources/updated", `"uri":"b://only"`)
	if got := s.ask(id, "resources/unsubscribe", `{"uri":"mcp:b:same://r"}`); got.Error != nil || b.count("resources/unsubscribe") != 1 {
		t.Error(got.raw, b.seen)
	}
	b.tell(fmt.Sprintf(updated, "same://r"))
	b.tell(`{"jsonrpc":"2.0","method":"notifications/resources/list_changed"}`)
	stream.not("updated", "list_changed")
	others.not("updated", "list_changed")
}

// A listener of the modern era hears of what it asked for, and the agent is told when nobody follows a resource any more.
func TestR19_ModernListenersFollowResources(t *testing.T) {
	changes := make(chan string, 10)
	old, new := shelf("old://r", false, nil), shelf("new://r", true, func() <-chan string { return changes })
	s := router(t, map[string]string{"old": old.serve(t), "new": new.serve(t)}, nil)
	listen := func(id string, uris string) *events {
		return s.events(s.modern(id, "subscriptions/listen", "", `,"notifications":{"resourceSubscriptions":[`+uris+`]}`, ""))
	}
	one := listen("1", `"old://r","new://r","none://r"`)
	one.next("acknowledged", `"resourceSubscriptions":["old://r","new://r"]`, `subscriptionId":"1"`)
	two := listen("2", `"old://r"`)
	two.next("acknowledged", `["old://r"]`, `subscriptionId":"2"`)
	if old.count("resources/subscribe") != 1 {
		t.Error(old.seen)
	}
	require.Eventually(t, "the general stream is open", func() bool { return old.streams() > 0 })
	old.tell(fmt.Sprintf(updated, "old://r"))
	one.next("updated", "old://r", `subscriptionId":"1"`)
	two.next("updated", "old://r", `subscriptionId":"2"`)
	changes <- "new://r"
	one.next("updated", "new://r", `subscriptionId":"1"`)
	_ = one.res.Body.Close()
	assert.Equalf(t, old.count("resources/unsubscribe"), 0, "the other still listens")
	_ = two.res.Body.Close()
	require.Eventually(t, "the agent is told", func() bool { return old.count("resources/unsubscribe") == 1 })
}

// What is followed at an agent that is no more ends; one of the same name that is another is followed anew.
func TestR19_RoutesChange(t *testing.T) {
	a, b, c := shelf("a://r", false, nil), shelf("b://r", false, nil), shelf("c://r", false, nil)
	agents := map[string]string{"a": a.serve(t), "b": b.serve(t)}
	s := router(t, agents, nil)
	id, _ := s.open("{}", "2025-11-25")
	stream := s.general(id)
	listen := s.events(s.modern("L", "subscriptions/listen", "", `,"notifications":{"toolsListChanged":true,"resourcesListChanged":true}`, ""))
	listen.next("acknowledged")
	for _, uri := range []string{"a://r", "b://r"} {
		if got := s.ask(id, "resources/subscribe", `{"uri":"`+uri+`"}`); got.Error != nil {
			t.Fatal(got.raw)
		}
	}
	s.reload(map[string]string{"b": agents["b"], "c": c.serve(t)})
	for _, what := range []string{"tools", "prompts", "resources"} {
		stream.next(`notifications/` + what + `/list_changed`)
	}
	listen.next("tools/list_changed", `subscriptionId":"L"`)
	listen.not("prompts/", "resources/list_changed")
	if got := names(s.ask(id, "resources/list", "")); len(got) != 2 {
		t.Error(got)
	}
	if got := s.ask(id, "resources/read", `{"uri":"mcp:a:a://r"}`); got.Error == nil {
		t.Error(got.raw)
	}
	// Those who listen hear of the new agent's changes without having asked for anything of it.
	require.Eventually(t, "the new agent's stream is open", func() bool { return c.streams() >= 2 })
	a.tell(fmt.Sprintf(updated, "a://r"))
	c.tell(`{"jsonrpc":"2.0","method":"notifications/resources/list_changed"}`)
	stream.not("updated", "resources/list_changed")
	listen.next("resources/list_changed")
	// The name may come to mean another agent.
	d := shelf("b://r", false, nil)
	s.reload(map[string]string{"b": d.serve(t)})
	require.Eventually(t, "it is followed again", func() bool { return d.count("resources/subscribe") >= 1 })
	require.Eventually(t, "its stream is open", func() bool { return d.streams() >= 2 })
	d.tell(fmt.Sprintf(updated, "b://r"))
	stream.next("updated", "b://r")
	assert.Equal(t, s.do(http.MethodDelete, id, "").StatusCode, http.StatusNoContent)
}
