package live

import (
	"slices"
	"testing"

	"github.com/mcphud/mcphud/session/check/rules"
)

// A pair is two scripts, see check: the first breaks the rule, the second does the same as it should be.
type pair struct{ bad, good string }

// pairs are by rule.
var pairs = map[string]pair{
	"stdout-noise":     {`<! starting up`, `@ hello 2025-06-18`},
	"http-body":        {session + "<! <html>", `<! <html>`},
	"broken-frame":     {"<! {'jsonrpc':'2.0','id':1,'result':{'content':[{'type':'text','text':'one", `<! one`},
	"not-utf8":         {"@ hello 2025-06-18\n" + `<! {'jsonrpc':'2.0','id':1,'result':{'text':'\xff'}}`, "@ hello 2025-06-18\n" + `<! {'jsonrpc':'2.0','id':1}`},
	"batch":            {"@ hello 2025-06-18\n<! [{'jsonrpc':'2.0','method':'a'}]", "@ hello 2025-03-26\n<! [{'jsonrpc':'2.0','method':'a'}]"},
	"jsonrpc-version":  {`<! {'id':1,'result':{}}`, `<! {'jsonrpc':'2.0','id':1}`},
	"duplicate-member": {`<! {'jsonrpc':'2.0','id':1,'id':2,'result':{}}`, `<! {'jsonrpc':'2.0','id':null,'result':{}}`},
	"result-and-error": {`<! {'jsonrpc':'2.0','id':1,'result':{},'error':{'code':1,'message':'x'}}`, `<! {'jsonrpc':'2.0','id':1}`},
	"no-result":        {`<! {'jsonrpc':'2.0','id':1}`, `<! {'jsonrpc':'2.0','result':{}}`},
	"id-null":          {`>! {'jsonrpc':'2.0','id':null,'method':'ping'}`, "< {'id':null,'error':{'code':-32700,'message':'x'}}"},
	"id-missing":       {`<! {'jsonrpc':'2.0','result':{}}`, `<! {'jsonrpc':'2.0','id':1}`},
	"id-type":          {`> {'id':1.5,'method':'ping'}`, "> {'id':'a','method':'ping'}\n> {'id':2,'method':'ping'}"},
	"message-shape":    {`<! {'level':'info'}`, `<! {'jsonrpc':'2.0','id':1}`},
	"schema-request": {
		"@ hello 2025-06-18 {'tools':{}}\n> {'id':1,'method':'tools/call','params':{'name':7}}",
		"@ hello 2025-06-18 {'tools':{}}\n> {'id':1,'method':'tools/call','params':{'name':'a','arguments':{'b':[1]}}}",
	},
	"schema-notification": {
		"@ hello 2025-06-18 {'logging':{}}\n< {'method':'notifications/message','params':{'level':'loud','data':1}}",
		"@ hello 2025-06-18 {'logging':{}}\n< {'method':'notifications/message','params':{'level':'info','data':1}}",
	},
	"schema-result": {
		"@ hello 2025-03-26 {'tools':{}}\n> {'id':1,'method':'tools/call','params':{'name':'a'}}\n< {'id':1,'result':{'content':[{'type':'resource_link','uri':'a://b','name':'n'}]}}",
		"@ hello 2025-06-18 {'tools':{}}\n> {'id':1,'method':'tools/call','params':{'name':'a'}}\n< {'id':1,'result':{'content':[{'type':'resource_link','uri':'a://b','name':'n'}]}}",
	},
	"id-reused": {
		"@ hello 2025-06-18\n> {'id':1,'method':'ping'}\n< {'id':1,'result':{}}\n> {'id':1,'method':'ping'}",
		"@ discover\n> {'id':1,'method':'tools/list','params':{META}}\n< {'id':1,'result':{}}\n> {'id':1,'method':'tools/list','params':{META}}",
	},
	"id-changed": {"> {'id':1,'method':'ping'}\n< {'id':'1','result':{}}", "> {'id':'ü ✓ /','method':'ping'}\n< {'id':'\\u00fc \\u2713 \\/','result':{}}"},
	"id-unknown": {"@ hello 2025-06-18\n> {'id':1,'method':'ping'}\n< {'id':7,'result':{}}", "< {'id':7,'result':{}}"},
	"answer-twice": {
		"> {'id':1,'method':'ping'}\n< {'id':1,'result':{}}\n< {'id':1,'result':{}}",
		"> {'id':1,'method':'ping'}\n< {'id':1,'result':{}}\n> {'id':2,'method':'ping'}\n< {'id':2,'result':{}}",
	},
	"answer-late": {
		"> {'id':1,'method':'ping'}\n> {'method':'notifications/cancelled','params':{'requestId':1}}\n< {'id':1,'result':{}}",
		"> {'id':1,'method':'ping'}\n> {'method':'notifications/cancelled','params':{'requestId':2}}\n< {'id':1,'result':{}}",
	},
	"unanswered":       {"> {'id':1,'method':'ping'}", "> {'id':1,'method':'ping'}\n> {'method':'notifications/cancelled','params':{'requestId':1}}"},
	"early-request":    {"> {'id':1,'method':'tools/list'}\n@ hello 2025-06-18", "> {'id':1,'method':'ping'}\n> {'id':2,'method':'server/discover','params':{META}}\n@ hello 2025-06-18"},
	"initialize-twice": {"@ hello 2025-06-18\n> {'id':1,'method':'initialize','params':{'protocolVersion':'2025-06-18'}}", "@ hello 2025-06-18"},
	"impatient-client": {
		"> {'id':1,'method':'initialize','params':{'protocolVersion':'2025-06-18'}}\n> {'method':'notifications/initialized'}",
		"> {'id':1,'method':'initialize','params':{'protocolVersion':'2025-06-18'}}\n> {'id':2,'method':'ping'}",
	},
	"not-initialized": {
		"> {'id':1,'method':'initialize','params':{'protocolVersion':'2025-06-18'}}\n< {'id':1,'result':{'protocolVersion':'2025-06-18'}}\n> {'id':2,'method':'tools/list'}",
		"@ hello 2025-06-18\n> {'id':2,'method':'tools/list'}",
	},
	"impatient-server": {
		"> {'id':1,'method':'initialize','params':{'protocolVersion':'2025-06-18'}}\n< {'id':9,'method':'roots/list'}",
		"@ hello 2025-06-18 {} {'roots':{}}\n< {'id':9,'method':'roots/list'}",
	},
	"version-unknown": {"> {'id':1,'method':'initialize','params':{'protocolVersion':'2025-13-32'}}", "> {'id':1,'method':'initialize','params':{'protocolVersion':'2025-11-25'}}"},
	"other-revision": {
		"@ discover {'resources':{}}\n> {'id':1,'method':'resources/subscribe','params':{'uri':'a://b',META}}",
		"@ hello 2025-11-25 {'resources':{'subscribe':true}}\n> {'id':1,'method':'resources/subscribe','params':{'uri':'a://b'}}",
	},
	"wrong-direction": {"@ hello 2025-06-18\n< {'id':1,'method':'tools/list'}", "@ hello 2025-06-18\n< {'id':1,'method':'ping'}"},
	"method-unknown":  {"@ hello 2025-06-18\n> {'id':1,'method':'tool/list'}", "@ hello 2025-06-18 {'extensions':{'a/b':{}}}\n> {'id':1,'method':'skills/list'}"},
	"server-request": {
		"@ discover\n< {'id':1,'method':'roots/list'}",
		"@ hello 2025-11-25 {} {'roots':{}}\n< {'id':1,'method':'roots/list'}",
	},
	"capability-unused": {"@ hello 2025-06-18 {}\n> {'id':1,'method':'tools/list'}", "@ hello 2024-11-05 {}\n> {'id':1,'method':'completion/complete','params':{}}"},
	"capability-empty": {
		"@ hello 2025-06-18 {'prompts':{}}\n> {'id':1,'method':'prompts/list'}\n< {'id':1,'error':{'code':-32601,'message':'x'}}",
		"@ hello 2025-06-18 {}\n> {'id':1,'method':'prompts/list'}\n< {'id':1,'error':{'code':-32601,'message':'x'}}",
	},
	"client-capability": {
		"@ hello 2025-11-25 {} {'elicitation':{}}\n< {'id':1,'method':'elicitation/create','params':{'mode':'url','message':'m','url':'a://b','elicitationId':'e'}}",
		"@ hello 2025-11-25 {} {'elicitation':{'url':{}}}\n< {'id':1,'method':'elicitation/create','params':{'mode':'url','message':'m','url':'a://b','elicitationId':'e'}}",
	},
	"list-changed": {
		"@ hello 2025-06-18 {'tools':{}}\n< {'method':'notifications/tools/list_changed'}",
		"@ hello 2025-06-18 {'tools':{'listChanged':true}}\n< {'method':'notifications/tools/list_changed'}",
	},
	"logging-capability": {
		"@ hello 2025-06-18 {}\n< {'method':'notifications/message','params':{'level':'info','data':1}}",
		"@ hello 2025-06-18 {'logging':{}}\n< {'method':'notifications/message','params':{'level':'info','data':1}}",
	},
	"log-level": {
		"@ hello 2025-06-18 {'logging':{}}\n> {'id':1,'method':'logging/setLevel','params':{'level':'error'}}\n< {'id':1,'result':{}}\n< {'method':'notifications/message','params':{'level':'info','data':1}}",
		"@ hello 2025-06-18 {'logging':{}}\n> {'id':1,'method':'logging/setLevel','params':{'level':'error'}}\n< {'id':1,'result':{}}\n< {'method':'notifications/message','params':{'level':'alert','data':1}}",
	},
	"log-uninvited": {
		"@ discover {'logging':{}}\n> {'id':1,'method':'tools/call','params':{'name':'a',META}}\n< {'method':'notifications/message','params':{'level':'info','data':1}}",
		"@ discover {'logging':{}}\n> {'id':1,'method':'tools/call','params':{'name':'a','_meta':{'io.modelcontextprotocol/protocolVersion':'2026-07-28','io.modelcontextprotocol/clientCapabilities':{},'io.modelcontextprotocol/logLevel':'info'}}}\n< {'method':'notifications/message','params':{'level':'info','data':1}}",
	},
	"not-subscribed": {
		"@ hello 2025-06-18 {'resources':{'subscribe':true}}\n< {'method':'notifications/resources/updated','params':{'uri':'a://b'}}",
		"@ hello 2025-06-18 {'resources':{'subscribe':true}}\n> {'id':1,'method':'resources/subscribe','params':{'uri':'a://b'}}\n< {'method':'notifications/resources/updated','params':{'uri':'a://b'}}",
	},
	"cancel-initialize": {
		"> {'id':1,'method':'initialize','params':{'protocolVersion':'2025-06-18'}}\n> {'method':'notifications/cancelled','params':{'requestId':1}}",
		"@ hello 2025-06-18\n> {'id':1,'method':'ping'}\n> {'method':'notifications/cancelled','params':{'requestId':1}}",
	},
	"cancel-unknown": {
		"@ hello 2025-06-18\n> {'method':'notifications/cancelled','params':{'requestId':77}}",
		"@ hello 2025-06-18\n> {'id':77,'method':'ping'}\n< {'id':77,'result':{}}\n> {'method':'notifications/cancelled','params':{'requestId':77}}",
	},
	"cancel-server": {
		"@ discover {'tools':{}}\n> {'id':1,'method':'tools/call','params':{'name':'a',META}}\n< {'method':'notifications/cancelled','params':{'requestId':1}}",
		"@ discover {'tools':{}}\n> {'id':1,'method':'subscriptions/listen','params':{'notifications':{},META}}\n< {'method':'notifications/cancelled','params':{'requestId':1}}",
	},
	"ping-result": {"@ hello 2025-06-18\n> {'id':1,'method':'ping'}\n< {'id':1,'result':{'pong':true}}", "@ hello 2025-06-18\n> {'id':1,'method':'ping'}\n< {'id':1,'result':{'_meta':{}}}"},
	"progress-token": {
		"@ hello 2025-06-18\n< {'method':'notifications/progress','params':{'progressToken':'t','progress':1}}",
		"@ hello 2025-06-18 {'tools':{}}\n" + call("t") + "< {'method':'notifications/progress','params':{'progressToken':'t','progress':1}}",
	},
	"progress-late": {
		"@ hello 2025-06-18 {'tools':{}}\n" + call("t") + "< {'id':1,'result':{'content':[]}}\n< {'method':'notifications/progress','params':{'progressToken':'t','progress':1}}",
		"@ hello 2025-06-18 {'tools':{}}\n" + call("t") + "< {'method':'notifications/progress','params':{'progressToken':'t','progress':1}}\n< {'id':1,'result':{'content':[]}}",
	},
	"progress-order": {
		"@ hello 2025-06-18 {'tools':{}}\n" + call("t") + "< {'method':'notifications/progress','params':{'progressToken':'t','progress':2}}\n< {'method':'notifications/progress','params':{'progressToken':'t','progress':2}}",
		"@ hello 2025-06-18 {'tools':{}}\n" + call("t") + "< {'method':'notifications/progress','params':{'progressToken':'t','progress':2}}\n< {'method':'notifications/progress','params':{'progressToken':'t','progress':2.5}}",
	},
	"token-reused": {
		"@ hello 2025-06-18 {'tools':{}}\n" + call("t") + "> {'id':2,'method':'ping','params':{'_meta':{'progressToken':'t'}}}",
		"@ hello 2025-06-18 {'tools':{}}\n" + call("t") + "< {'id':1,'result':{'content':[]}}\n> {'id':2,'method':'ping','params':{'_meta':{'progressToken':'t'}}}",
	},
	"cursor-loop": {
		"@ hello 2025-06-18 {'tools':{}}\n> {'id':1,'method':'tools/list','params':{'cursor':'a'}}\n< {'id':1,'result':{'tools':[],'nextCursor':'a'}}",
		"@ hello 2025-06-18 {'tools':{}}\n> {'id':1,'method':'tools/list','params':{'cursor':'a'}}\n< {'id':1,'result':{'tools':[],'nextCursor':'b'}}\n> {'id':2,'method':'tools/list'}\n< {'id':2,'result':{'tools':[],'nextCursor':'a'}}",
	},
	"cursor-invented": {
		"@ hello 2025-06-18 {'tools':{}}\n> {'id':1,'method':'tools/list'}\n< {'id':1,'result':{'tools':[],'nextCursor':'a'}}\n> {'id':2,'method':'tools/list','params':{'cursor':'A'}}",
		"@ hello 2025-06-18 {'tools':{}}\n> {'id':1,'method':'tools/list'}\n< {'id':1,'result':{'tools':[],'nextCursor':'a'}}\n> {'id':2,'method':'tools/list','params':{'cursor':'a'}}",
	},
	"root-uri": {
		"@ hello 2025-06-18 {} {'roots':{}}\n< {'id':1,'method':'roots/list'}\n> {'id':1,'result':{'roots':[{'uri':'https://a/'}]}}",
		"@ hello 2025-06-18 {} {'roots':{}}\n< {'id':1,'method':'roots/list'}\n> {'id':1,'result':{'roots':[{'uri':'file:///a'}]}}",
	},
	"deprecated": {
		"@ discover\n> {'id':1,'method':'tools/list','params':{'_meta':{'io.modelcontextprotocol/protocolVersion':'2026-07-28','io.modelcontextprotocol/clientCapabilities':{'roots':{}}}}}",
		"@ hello 2025-11-25 {} {'roots':{}}\n< {'id':1,'method':'roots/list'}",
	},
	"meta-missing": {"@ discover {'tools':{}}\n> {'id':1,'method':'tools/list'}", "@ hello 2025-11-25 {'tools':{}}\n> {'id':1,'method':'tools/list'}"},
}

// call calls a tool with a progress token.
func call(token string) string {
	return "> {'id':1,'method':'tools/call','params':{'name':'a','_meta':{'progressToken':'" + token + "'}}}\n"
}

// Each rule finds what breaks it, blames an entry and a side, and is silent where the same is done as it should be.
func TestRules(t *testing.T) {
	t.Parallel()
	all := map[string]pair{}
	for _, some := range []map[string]pair{pairs, modernPairs, toolPairs, httpPairs} {
		for id, p := range some {
			all[id] = p
		}
	}
	for _, r := range rules.Of("live") {
		t.Run(r.ID, func(t *testing.T) {
			t.Parallel()
			p, ok := all[r.ID]
			if !ok || p.bad == "" || p.good == "" {
				t.Fatal("the rule has no test")
			}
			is := func(f Finding) bool { return f.Rule == r }
			found := check(t, p.bad)
			if i := slices.IndexFunc(found, is); i < 0 {
				t.Errorf("not found among %s in\n%s", list(found), p.bad)
			} else if f := found[i]; f.Seq == 0 || f.Evidence == "" || f.By != rules.Client && f.By != rules.Server || f.Revision != "" && !slices.Contains(r.Revisions(), f.Revision) {
				t.Errorf("%+v", f)
			}
			if found := check(t, p.good); slices.ContainsFunc(found, is) {
				t.Errorf("found among %s in\n%s", list(found), p.good)
			}
		})
	}
	for id := range all {
		if rules.Find("live", id) == nil {
			t.Errorf("%s is not a rule", id)
		}
	}
}

// The old transport is deprecated from the revision on that has the new one.
func TestDeprecatedTransport(t *testing.T) {
	t.Parallel()
	for revision, want := range map[string]bool{rev2024: false, rev2503: true, rev2511: true} {
		found := check(t, "<<event endpoint\n@ hello "+revision)
		if got := slices.ContainsFunc(found, func(f Finding) bool { return f.Rule.ID == "deprecated" }); got != want {
			t.Errorf("%s: %s", revision, list(found))
		}
	}
}

// Tools that changed are not what calls are measured by.
func TestChangedTools(t *testing.T) {
	t.Parallel()
	call := "> {'id':1,'method':'tools/call','params':{'name':'z','arguments':{}}}\n< {'id':1,'result':{'content':[],'isError':true}}\n"
	changes := "< {'method':'notifications/tools/list_changed'}\n"
	start := "@ hello 2025-11-25 {'tools':{'listChanged':true}}\n" + promising
	if found := check(t, start+call); len(found) != 1 {
		t.Error(list(found))
	}
	if found := check(t, start+changes+call); len(found) != 0 {
		t.Error(list(found))
	}
}

// list is the rules of findings with their evidence.
func list(found []Finding) (out string) {
	for _, f := range found {
		out += "\n  " + f.Rule.ID + ": " + f.Evidence
	}
	return out
}
