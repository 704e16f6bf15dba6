package live

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/mcphud/mcphud/session/test/require/assert"
	"github.com/mcphud/mcphud/session/wire/journal"
)

// count is how many findings a rule has.
func count(found []Finding, rule string) int {
	return len(slices.DeleteFunc(slices.Clone(found), func(f Finding) bool { return f.Rule.ID != rule }))
}

// never has scripts by name in which rules, separated by blanks, find nothing; a line "want RULE" names one that does.
type never map[string]struct{ rules, script string }

func (all never) run(t *testing.T) {
	t.Helper()
	for name, c := range all {
		t.Run(name, func(t *testing.T) {
			script, want, _ := strings.Cut(c.script, "want ")
			found := check(t, script)
			for _, rule := range strings.Fields(c.rules) {
				if count(found, rule) > 0 {
					t.Errorf("%s is found among %s", rule, list(found))
				}
			}
			if want != "" && count(found, want) == 0 {
				t.Errorf("%s is not found among %s", want, list(found))
			}
		})
	}
}

// Of HTTP+SSE, which routers note otherwise than sessions do, no POST is held to what Streamable HTTP asks for.
func TestHTTPWithEvents(t *testing.T) {
	t.Parallel()
	const post, taken = "\n>> POST /messages?sessionId=a content-type=application/json mcp-protocol-version=2025-11-25\n", "<< 202\n"
	hello := func(id string) string {
		return post + "> {'id':" + id + ",'method':'initialize','params':{'protocolVersion':'2025-11-25','capabilities':{},'clientInfo':{'name':'c','version':'1'}}}\n" + taken +
			"< {'id':" + id + ",'result':{'protocolVersion':'2025-11-25','capabilities':{},'serverInfo':{'name':'s','version':'1'}}}" + post + "> {'method':'notifications/initialized'}\n" + taken
	}
	ping := func(id string) string {
		return post + "> {'id':" + id + ",'method':'ping'}\n" + taken + "< {'id':" + id + ",'result':{}}\n"
	}
	for _, noted := range []string{"<<endpoint /messages?sessionId=a", "<<event endpoint: /messages?sessionId=a"} {
		never{
			"one client":  {"http-accept http-accepted http-version message-shape unanswered", noted + hello("1") + ping("2") + "want deprecated"},
			"two clients": {"id-reused initialize-twice early-request answer-twice schema-result unanswered id-unknown", noted + hello("1") + noted + hello("1") + ping("2") + ping("2")},
		}.run(t)
	}
	// The event of another name does not mean the old transport.
	never{"another event": {"deprecated", session + "<<event message: x\n" + sendsV + " mcp-session-id=abc\n> {'id':4,'method':'ping'}\n<< 202\nwant http-accepted"}}.run(t)
}

// The body of a refusal is not a head, whatever it looks like: the status of another request is not taken from it.
func TestBodiesOfRefusals(t *testing.T) {
	t.Parallel()
	const open, post = session + ">> GET /mcp accept=text/event-stream mcp-session-id=abc\n", sendsV + " mcp-session-id=abc"
	for _, body := range []string{"<<body 404 page not found", "<<body {'error':'gone'}", "<<body <html>404</html>", "<<body"} {
		never{
			"no session ends":   {"session-over", session + post + ping + "<< 502\n" + post + "\n> {'id':3,'method':'ping'}\n" + body + "\n<< 200 content-type=application/json\n" + post + "\n> {'id':4,'method':'ping'}\n"},
			"no status is lost": {"", session + post + ping + body + "\n<< 202\nwant http-accepted"},
		}.run(t)
	}
	never{
		// The answer to the first POST comes while the third waits: the second was answered by nobody knows which.
		"two at once":     {"http-accepted", open + post + "\n> {'method':'notifications/roots/list_changed'}\n<< 200 content-type=text/event-stream\n" + post + ping + "<< 202\n"},
		"none is guessed": {"http-accepted", session + post + ping + post + "\n> {'id':5,'method':'ping'}\n<< 202\n"},
		"alone again":     {"", open + post + ping + "<< 200 content-type=text/event-stream\n<< 200 content-type=application/json\n" + post + "\n> {'id':3,'method':'ping'}\n<< 202\nwant http-accepted"},
	}.run(t)
}

// Only a page that was before in the same pass over a list makes it a loop.
func TestCursorLoop(t *testing.T) {
	t.Parallel()
	n := 0
	page := func(cursor, next string) string {
		n++
		ask := fmt.Sprintf("> {'id':%d,'method':'tools/list','params':{'cursor':'%s'}}\n", n, cursor)
		if cursor == "" {
			ask = fmt.Sprintf("> {'id':%d,'method':'tools/list'}\n", n)
		}
		return ask + fmt.Sprintf("< {'id':%d,'result':{'tools':[],'nextCursor':'%s'}}\n", n, next)
	}
	const hello = "@ hello 2025-06-18 {'tools':{}}\n"
	never{
		"two passes at once": {"cursor-loop", hello + page("", "a") + page("a", "b") + page("", "a") + page("b", "c") + page("a", "b") + page("b", "c") + page("c", "d") + page("c", "d")},
		"back by a page":     {"cursor-loop", hello + page("", "a") + page("a", "b") + page("b", "c") + page("a", "b")},
		"three pages":        {"", hello + page("", "a") + page("a", "b") + page("b", "a") + "want cursor-loop"},
		"after another pass": {"", hello + page("", "a") + page("a", "b") + page("", "a") + page("a", "b") + page("b", "a") + "want cursor-loop"},
		"begun late":         {"", page("x", "y") + page("y", "z") + page("z", "x") + "want cursor-loop"},
	}.run(t)
}

// A recording that begins in the middle of a session does not have what was said before.
func TestRecordingsThatBeginLate(t *testing.T) {
	t.Parallel()
	const late = "> {'id':50,'method':'tools/list','params':{META}}\n< {'id':50,'result':{'resultType':'complete','tools':[]}}\n"
	never{
		"an answer":                {"id-unknown", "> {'id':8,'method':'ping'}\n< {'id':7,'result':{}}\n"},
		"an answer, modern":        {"id-unknown", late + "< {'id':7,'result':{'resultType':'complete'}}\n"},
		"progress":                 {"progress-token", "> {'id':8,'method':'ping'}\n< {'method':'notifications/progress','params':{'progressToken':'t','progress':1}}\n"},
		"the end of a listen":      {"cancel-server", late + "< {'method':'notifications/cancelled','params':{'requestId':7}}\n"},
		"a cancellation":           {"cancel-unknown", late + "> {'method':'notifications/cancelled','params':{'requestId':7}}\n"},
		"a log message":            {"log-uninvited log-level", late + "< {'method':'notifications/message','params':{'level':'debug','data':1}}\n"},
		"a state":                  {"state-changed", late + "> {'id':51,'method':'tools/call','params':{'name':'a',META}}\n< {'id':51,'result':{'resultType':'input_required','requestState':'s'}}\n> {'id':52,'method':'tools/call','params':{'name':'b','requestState':'old',META}}\n"},
		"a cursor":                 {"cursor-invented", late + "> {'id':51,'method':'tools/list','params':{'cursor':'old',META}}\n"},
		"a task of an extension":   {"result-type-unknown", late + "> {'id':51,'method':'tools/call','params':{'name':'a',META}}\n< {'id':51,'result':{'resultType':'task','taskId':'t'}}\n"},
		"a method of an extension": {"method-unknown", late + "> {'id':51,'method':'skills/list','params':{META}}\n"},
		"another session by HTTP":  {"id-unknown", sendsV + " mcp-session-id=abc" + ping + session + "< {'id':1,'result':{}}\n"},
	}.run(t)
}

// What is beyond a bound was forgotten: nobody concludes that it was not there.
func TestBoundsConcludeNothing(t *testing.T) {
	t.Parallel()
	many := func(n int, f string) string {
		var b strings.Builder
		for i := range n {
			b.WriteString(strings.ReplaceAll(f, "#", fmt.Sprint(i)))
		}
		return b.String()
	}
	const hello, discover = "@ hello 2025-11-25 {'tools':{}}\n", "@ discover {'tools':{}}\n"
	big := strings.Repeat("x", maxKept)
	for name, c := range (never{
		"answered long ago":    {"id-unknown", hello + many(maxRecent, "> {'id':#,'method':'ping'}\n< {'id':#,'result':{}}\n") + "< {'id':'h','result':{}}\n"},
		"asked long ago":       {"cancel-unknown", hello + many(maxRecent, "> {'id':#,'method':'ping'}\n< {'id':#,'result':{}}\n") + "> {'method':'notifications/cancelled','params':{'requestId':'h'}}\n"},
		"too many at a time":   {"answer-twice id-changed", hello + many(maxPending+1, "> {'id':#,'method':'ping'}\n") + fmt.Sprintf("< {'id':%d,'result':{}}\n< {'id':'%d','result':{}}\n", maxPending, maxPending)},
		"too many tokens":      {"progress-token", hello + many(maxPending+1, "> {'id':#,'method':'ping','params':{'_meta':{'progressToken':#}}}\n") + fmt.Sprintf("< {'method':'notifications/progress','params':{'progressToken':%d,'progress':1}}\n", maxPending)},
		"too many streams":     {"cancel-server", discover + many(maxRecent+1, "> {'id':#,'method':'subscriptions/listen','params':{'notifications':{},META}}\n") + fmt.Sprintf("< {'method':'notifications/cancelled','params':{'requestId':%d}}\n", maxRecent)},
		"given long ago":       {"cursor-invented", hello + many(maxRecent+1, "> {'id':#,'method':'tools/list'}\n< {'id':#,'result':{'tools':[],'nextCursor':'c#'}}\n") + "> {'id':'x','method':'tools/list','params':{'cursor':'c0'}}\n"},
		"a state of long ago":  {"state-changed", discover + many(maxRecent+1, "> {'id':#,'method':'tools/call','params':{'name':'a',META}}\n< {'id':#,'result':{'resultType':'input_required','requestState':'s#'}}\n") + "> {'id':'x','method':'tools/call','params':{'name':'a','requestState':'s0',META}}\n"},
		"large capabilities":   {"result-type-unknown", discover + "> {'id':1,'method':'tools/call','params':{'name':'a','_meta':{'io.modelcontextprotocol/protocolVersion':'2026-07-28','io.modelcontextprotocol/clientCapabilities':{'extensions':{'" + big + "':{},'io.modelcontextprotocol/tasks':{}}}}}}\n< {'id':1,'result':{'resultType':'task','taskId':'t'}}\n"},
		"a head of many lines": {"http-accept http-request-type", session + ">> POST /mcp" + many(maxFields, " mcp-param-#=x") + " " + strings.TrimPrefix(sendsV, ">> POST /mcp ") + ping},
		"a large head":         {"http-accept http-request-type", session + ">> POST /mcp host=" + strings.Repeat("x", maxHead) + " " + strings.TrimPrefix(sendsV, ">> POST /mcp ") + ping},
	}) {
		never{name: c}.run(t)
	}
}

// A missing params is said of each revision that asks for it, by one rule.
func TestMissingParams(t *testing.T) {
	t.Parallel()
	never{
		"a request":              {"meta-missing", "@ hello 2025-11-25 {'tools':{}}\n> {'id':1,'method':'tools/call'}\nwant schema-request"},
		"a notification":         {"", "@ hello 2025-11-25\n> {'method':'notifications/cancelled'}\nwant schema-notification"},
		"a notification, modern": {"", "@ discover\n> {'method':'notifications/cancelled'}\nwant schema-notification"},
		"a request, modern":      {"schema-request", "@ discover {'tools':{}}\n> {'id':1,'method':'tools/call'}\nwant meta-missing"},
		"params of a question":   {"", withElicitation + "< {'id':1,'result':{'resultType':'input_required','inputRequests':{'q':{'method':'elicitation/create'}}}}\nwant schema-result"},
		"an optional one":        {"schema-request", "@ hello 2025-11-25 {'tools':{}}\n> {'id':1,'method':'tools/list'}\n"},
		"an argument":            {"", legacy + listed("{'name':'a','inputSchema':{'type':'object','required':['params']}}") + "> {'id':1,'method':'tools/call','params':{'name':'a','arguments':{}}}\nwant arguments"},
	}.run(t)
}

// A progress token is free once its request was cancelled, or its task is over; a report that crossed with that is not late.
func TestTokensEnd(t *testing.T) {
	t.Parallel()
	const again = "> {'id':9,'method':'ping','params':{'_meta':{'progressToken':'t'}}}\n"
	const report = "< {'method':'notifications/progress','params':{'progressToken':'t','progress':1}}\n"
	const hello, get = "@ hello 2025-11-25 {'tools':{},'tasks':{'list':{}}}\n", "> {'id':2,'method':'tasks/get','params':{'taskId':'k'}}\n"
	const task = "> {'id':1,'method':'tools/call','params':{'name':'a','task':{},'_meta':{'progressToken':'t'}}}\n"
	const made = "< {'id':1,'result':{'task':{'taskId':'k','status':'working','createdAt':'2026-01-01T00:00:00Z','lastUpdatedAt':'2026-01-01T00:00:00Z','ttl':null}}}\n"
	state := func(status string) string {
		return get + "< {'id':2,'result':{'taskId':'k','status':'" + status + "','createdAt':'2026-01-01T00:00:00Z','lastUpdatedAt':'2026-01-01T00:00:00Z','ttl':null}}\n"
	}
	never{
		"cancelled":           {"token-reused progress-late progress-token", hello + call("t") + "> {'method':'notifications/cancelled','params':{'requestId':1}}\n" + report + again},
		"a task that runs":    {"progress-late progress-token", hello + task + made + report + state("working") + again + "want token-reused"},
		"a task that is over": {"token-reused progress-late progress-token", hello + task + made + state("completed") + report + again},
		"a task, as told":     {"token-reused", hello + task + made + "< {'method':'notifications/tasks/status','params':{'taskId':'k','status':'failed','createdAt':'2026-01-01T00:00:00Z','lastUpdatedAt':'2026-01-01T00:00:00Z','ttl':null}}\n" + again},
		"the task's result":   {"token-reused", hello + task + made + "> {'id':2,'method':'tasks/result','params':{'taskId':'k'}}\n< {'id':2,'result':{'content':[],'_meta':{'io.modelcontextprotocol/related-task':{'taskId':'k'}}}}\n" + again},
		"no task was made":    {"token-reused", hello + task + "< {'id':1,'error':{'code':-32601,'message':'x'}}\n" + again},
		"answered":            {"", hello + call("t") + "< {'id':1,'result':{'content':[]}}\n" + report + "want progress-late"},
	}.run(t)
}

// A request that its client gave up without a message, as over HTTP, waits for no answer.
func TestRequestsThatWereGivenUp(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		note, status string
		want         int
	}{{"cancelled", journal.Cancelled, 0}, {clientLeft, journal.Failed, 0}, {"empty response", journal.Failed, 1}} {
		var found []Finding
		ck := NewChecker(func(f Finding) { found = append(found, f) })
		play(t, ck, "@ hello 2025-11-25\n> {'id':1,'method':'ping'}\n")
		ck.Add(&journal.Entry{Seq: 90, Server: "srv", Conn: 1, Dir: journal.Out, Kind: journal.State, ID: "1", Status: c.status, Note: c.note}, nil)
		ck.Finish()
		assert.Equalf(t, count(found, "unanswered"), c.want, "%s: %s", c.note, list(found))
	}
}

// The finding about what came before initialize names it, not initialize.
func TestEarlyRequestIsNamed(t *testing.T) {
	t.Parallel()
	for _, f := range check(t, "> {'id':1,'method':'tools/list'}\n@ hello 2025-06-18") {
		if f.Rule.ID == "early-request" && (f.Method != "tools/list" || f.Seq != 1) {
			t.Errorf("%+v", f)
		}
	}
}

// Names that a journal clips are told apart by the whole of them.
func TestLongNames(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("n", 600)
	clipped := func(script string) (found []Finding) {
		ck := NewChecker(func(f Finding) { found = append(found, f) })
		seq := uint64(0)
		for line := range strings.SplitSeq(strings.TrimSpace(script), "\n") {
			e, body := entry(t, line[:1], line[2:])
			seq++
			e.Seq, e.Server, e.Conn, e.Size = seq, "srv", 1, len(body)
			e.ID, e.Tool = e.ID[:min(len(e.ID), 512)], e.Tool[:min(len(e.Tool), 512)]
			ck.Add(&e, []byte(body))
		}
		ck.Finish()
		return found
	}
	var hello strings.Builder
	play2(t, []string{"hello", "2025-11-25", "{'tools':{}}"}, func(l string) { hello.WriteString(l + "\n") })
	const tool = "{'name':'%s','inputSchema':{'type':'object','required':['a']}}"
	found := clipped(hello.String() + listed(fmt.Sprintf(tool, long)) + "> {'id':1,'method':'tools/call','params':{'name':'" + long + "','arguments':{}}}\n< {'id':1,'result':{'content':[],'isError':true}}\n")
	if count(found, "unknown-tool-result") != 0 || count(found, "arguments") != 1 {
		t.Error(list(found))
	}
	found = clipped(hello.String() + "> {'id':'" + long + "a','method':'ping'}\n> {'id':'" + long + "b','method':'ping'}\n< {'id':'" + long + "b','result':{}}\n< {'id':'" + long + "a','result':{}}\n" +
		"> {'method':'notifications/cancelled','params':{'requestId':'" + long + "a'}}\n> {'method':'notifications/cancelled','params':{'requestId':'" + long + "c'}}\n")
	if len(found) != 1 || found[0].Rule.ID != "cancel-unknown" {
		t.Error(list(found))
	}
}

// Small things that were taken for violations.
func TestNoViolation(t *testing.T) {
	t.Parallel()
	const image = legacy + structured + "< {'id':1,'result':{'content':[{'type':'image','mimeType':'image/png','data':'%s'}]}}"
	never{
		"OPTIONS has no session":  {"session-missing", session + ">> OPTIONS /mcp origin=http://a.example\n<< 204\n"},
		"a default port":          {"http-origin", session + sendsV + " host=a.example:80 origin=http://A.example" + ping + "<< 200 content-type=application/json"},
		"the default port of TLS": {"http-origin", session + sendsV + " host=a.example origin=https://a.example:443" + ping + "<< 200 content-type=application/json"},
		"another port":            {"", session + sendsV + " host=a.example:8080 origin=http://a.example" + ping + "<< 200 content-type=application/json\nwant http-origin"},
		"a secret in a picture":   {"base64", fmt.Sprintf(image, "AAAA[secret-1]AA")},
		"data of another kind":    {"base64", legacy + structured + "< {'id':1,'result':{'content':[{'type':'text','text':'a','data':'!!'}]}}"},
		"a hidden argument":       {"arguments", legacy + listed("{'name':'a','inputSchema':{'type':'object','properties':{'b':{'type':'string','pattern':'^[a-z]+$'}}}}") + "> {'id':1,'method':'tools/call','params':{'name':'a','arguments':{'b':'***'}}}\n"},
	}.run(t)
	for _, f := range check(t, legacy+listed("{'name':'"+strings.Repeat("ü", 65)+"','inputSchema':{'type':'object'}}")) {
		if f.Rule.ID == "tool-name" && strings.Contains(f.Evidence, "characters") {
			t.Error(f.Evidence)
		}
	}
	if shapeOf(t, `{"n":1e19}`) == shapeOf(t, `{"n":2.5}`) {
		t.Error("a large whole number is one with a fraction")
	}
}
