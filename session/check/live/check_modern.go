package live

import (
	"fmt"
	"slices"
	"strings"

	"github.com/mcphud/mcphud/session/base/jsonrpc"
	"github.com/mcphud/mcphud/session/base/text"
	"github.com/mcphud/mcphud/session/wire/journal"
)

func checkMeta(f *frame) string {
	if !f.modern || !f.req.withoutMeta {
		return ""
	}
	meta := jsonrpc.Get(f.env.Params, "_meta")
	var missing []string
	for _, name := range []string{metaVersion, metaCapabilities} {
		if jsonrpc.Get(meta, name) == nil {
			missing = append(missing, "/params/_meta/"+strings.ReplaceAll(name, "/", "~1"))
		}
	}
	if len(missing) == 0 {
		return ""
	}
	return strings.Join(missing, ", ") + ": missing"
}

// mayHaveExtension reports whether one side declared an extension, or what it declared is not known.
func (f *frame) mayHaveExtension(name string) bool {
	return slices.ContainsFunc([][]byte{f.c.server.caps, f.req.caps}, func(caps []byte) bool {
		return caps == nil || jsonrpc.Get(caps, "extensions", name) != nil
	})
}

func checkResultType(f *frame) string {
	if f.req != nil && f.modern && f.whole && f.env.Result[0] == '{' && jsonrpc.Get(f.env.Result, "resultType") == nil {
		return "/result/resultType: missing"
	}
	return ""
}

// checkResultTypeUnknown accepts any word but task of a server with extensions: they may add types of any name (2026-07-28/basic#resulttype).
func checkResultTypeUnknown(f *frame) string {
	if f.req == nil || !f.modern {
		return ""
	}
	switch kind := stringAt(f.env.Result, "resultType"); kind {
	case "", "complete", "input_required":
		return ""
	case "task":
		if f.mayHaveExtension("io.modelcontextprotocol/tasks") {
			return ""
		}
		return "/result/resultType: \"task\", without the extension io.modelcontextprotocol/tasks"
	default:
		if caps := f.c.server.caps; caps == nil || has(caps, "extensions") {
			return ""
		}
		return "/result/resultType: " + quote(kind)
	}
}

// checkResultTypeLegacy reports the first result of a connection.
func checkResultTypeLegacy(f *frame) string {
	if v := jsonrpc.Get(f.env.Result, "resultType"); f.req != nil && f.isLegacy() && v != nil && f.rev != "" && f.c.first("resultType") {
		return "/result/resultType: " + text.Clip(string(v), 40)
	}
	return ""
}

// asksForInput reports whether a result asks for input.
func (f *frame) asksForInput() bool {
	return f.req != nil && f.modern && stringAt(f.env.Result, "resultType") == "input_required"
}

func checkRounds(f *frame) string {
	switch f.Method {
	case "tools/call", "prompts/get", "resources/read", "tasks/get", "tasks/result": // the last two are of the extension for tasks
		return ""
	}
	if !f.asksForInput() {
		return ""
	}
	return "/result/resultType: \"input_required\" for " + text.Clip(f.Method, 60)
}

func checkRoundsEmpty(f *frame) string {
	if f.asksForInput() && jsonrpc.Get(f.env.Result, "inputRequests") == nil && jsonrpc.Get(f.env.Result, "requestState") == nil {
		return "/result: neither inputRequests nor requestState"
	}
	return ""
}

func checkRoundsCapability(f *frame) (evidence string) {
	if !f.asksForInput() || f.req.caps == nil {
		return ""
	}
	_ = jsonrpc.Members(jsonrpc.Get(f.env.Result, "inputRequests"), func(key string, one []byte) bool { // what else it may be the schema says
		if n := clientCapability(stringAt(one, "method"), jsonrpc.Get(one, "params")); n != "" && !has(f.req.caps, n) {
			evidence = fmt.Sprintf("/result/inputRequests/%s needs the capability %s", text.Clip(key, 40), n)
		}
		return evidence == ""
	})
	return evidence
}

func checkRoundsSecret(f *frame) (evidence string) {
	if !f.asksForInput() {
		return ""
	}
	_ = jsonrpc.Members(jsonrpc.Get(f.env.Result, "inputRequests"), func(key string, one []byte) bool { // as above
		if s := secretFields(jsonrpc.Get(one, "params", "requestedSchema")); s != "" {
			evidence = "/result/inputRequests/" + text.Clip(key, 40) + "/params" + s
		}
		return evidence == ""
	})
	return evidence
}

// checkState looks at all connections of a server, as no request depends on its connection (2026-07-28/basic#statelessness). Where that of the request
// began before the recording, so may have what gave the state.
func checkState(f *frame) string {
	raw := jsonrpc.Get(f.env.Params, "requestState")
	s := &f.c.server.states
	if !f.modern || raw == nil || len(s.ring) == 0 || !s.lacks(hash(raw)) || !f.c.begun {
		return ""
	}
	return "/params/requestState is none that the server gave"
}

func checkRetryID(f *frame) string {
	raw := jsonrpc.Get(f.env.Params, "requestState")
	if !f.modern || raw == nil || f.c.server.states.set[hash(raw)] != hashString(f.ID) {
		return ""
	}
	return "/id: " + text.Clip(f.ID, 40) + " again"
}

// checkServerRequest is not about connections with a handshake, whatever revision that agreed on.
func checkServerRequest(f *frame) string {
	if f.Dir == journal.In && f.rev == revModern && !f.c.initialized {
		return text.Clip(f.Method, 60) + " from the server"
	}
	return ""
}

// isChange reports whether a notification belongs on a stream of subscriptions/listen.
func (f *frame) isChange() bool {
	return f.Dir == journal.In && f.rev == revModern && (strings.HasSuffix(f.Method, "/list_changed") || f.Method == "notifications/resources/updated")
}

func checkSubscriptionID(f *frame) string {
	if f.isChange() && jsonrpc.Get(f.env.Params, "_meta", metaSubscription) == nil {
		return "/params/_meta/io.modelcontextprotocol~1subscriptionId: missing"
	}
	return ""
}

// checkAck: the acknowledgement comes first in its own subscription; on stdio those of others may come between
// (2026-07-28/basic/patterns/subscriptions#acknowledgment). A listen that was not recorded is not judged.
func checkAck(f *frame) string {
	id := idOf(f.env.Params, "_meta", metaSubscription)
	if l := f.c.listens[id]; f.isChange() && l != nil && !l.acked {
		return fmt.Sprintf("%s of subscription %s", f.Method, text.Clip(id, 40))
	}
	return ""
}

// checkDiscover judges only a server that has answered in the modern era: any other refuses the method rightly.
func checkDiscover(f *frame) string {
	if f.req != nil && f.Method == "server/discover" && f.c.server.modern && f.errorCode() == -32601 {
		return "/error/code: -32601 for server/discover"
	}
	return ""
}
