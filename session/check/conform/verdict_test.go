package conform

import (
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mcphud/mcphud/session/check"
	"github.com/mcphud/mcphud/session/config"
)

// why is what a run says of a rule that it did not learn anything from.
func why(r *check.Report, id string) string {
	for _, s := range r.Sections {
		for _, o := range s.Outcomes {
			if o.Verdict == check.Skipped && o.Rule == Name+"/"+id {
				return o.Why
			}
		}
	}
	return ""
}

// A list that fails by itself is one fault at most, whatever rules vary a request for it.
func TestFailuresOfTheirOwn(t *testing.T) {
	t.Parallel()
	agent := everything(t)
	for _, protocol := range []string{rev2511, modern} {
		for _, code := range []int{-32603, -32000} {
			failing := func(x *turn) bool { return strings.HasSuffix(x.env.Method, "/list") && x.fail(code) }
			r := tried(t, agent, failing, protocol, "extra-members", "version-refused", "stateless", "params-absent", "cursor-*", "list-order", "pages-end", "server-info",
				"log-level-refused", "declared-lists", "header-method", "header-version", "meta-required")
			got := map[string]bool{}
			for _, f := range r.Findings {
				got[f.ID] = true
			}
			delete(got, Name+"/server-info") // server/discover of a server may lack it
			want := 0
			if code != -32603 {
				want = 1 // declared-lists: nothing was varied there
			}
			if len(got) != want || want == 1 && !got[Name+"/declared-lists"] {
				t.Errorf("%s, %d: %v", protocol, code, got)
			}
			if protocol == rev2511 && !strings.HasPrefix(why(r, "cursor-refused"), unknownPrefix) {
				t.Errorf("%s, %d: %q", protocol, code, why(r, "cursor-refused"))
			}
		}
	}
}

// That nothing came in time, or an internal error, says nothing about what was tried.
func TestUnknown(t *testing.T) {
	t.Parallel()
	agent := everything(t)
	slow := func(x *turn) bool {
		select {
		case <-x.r.Context().Done():
		case <-time.After(5 * time.Second):
		}
		return true
	}
	for id, how := range map[string]change{
		"initialize-unknown-capability": where("mcphudUnknown", slow),
		"method-not-found":              on(nobody, slow),
		"log-level-invalid":             where(`"mcphud"}`, failing(-32603)),
		"resources-read":                on("resources/read", failing(-32603)),
		"prompts-rendered":              on("prompts/get", failing(-32603)),
		"get":                           func(x *turn) bool { return x.r.Method == "GET" && slow(x) },
	} {
		r := triedWithin(t, agent, how, rev2511, 300*time.Millisecond, id)
		if len(r.Findings) > 0 || !strings.HasPrefix(why(r, id), unknownPrefix) || !strings.Contains(strings.Join(r.Sections[1].Notes, "\n"), id) {
			t.Errorf("%s: %+v %+v", id, r.Findings, r.Sections[1])
		}
	}
}

// An error is seen twice, the second time on a connection of its own, all frames of which are its evidence.
func TestErrorsAreRepeated(t *testing.T) {
	t.Parallel()
	agent := everything(t)
	r := tried(t, agent, on(nobody, func(x *turn) bool { return x.count(nobody) == 1 && x.result("{}") }), rev2511, "method-not-found")
	if len(r.Findings) != 1 || r.Findings[0].Severity != check.Info || r.Findings[0].Sure != check.Possible {
		t.Errorf("once: %+v", r.Findings)
	}
	r = tried(t, agent, on(nobody, saying("{}")), rev2511, "method-not-found")
	if len(r.Findings) != 1 || r.Findings[0].Severity != check.Error {
		t.Fatalf("always: %+v", r.Findings)
	}
	lines := strings.Split(r.Findings[0].Evidence, "\n")
	var sent []string
	for _, l := range lines {
		if rest, ok := strings.CutPrefix(l, "> "); ok {
			sent = append(sent, rest)
		}
	}
	if len(sent) != 4 || !strings.Contains(sent[0], `"initialize"`) || !strings.Contains(sent[1], "notifications/initialized") || !strings.Contains(sent[2], "ping") || !strings.Contains(sent[3], nobody) {
		t.Errorf("evidence %q", lines)
	}
}

// A server that takes any revision once it was asked properly is found by the rule alone as well.
func TestVerdictsDoNotDependOnOrder(t *testing.T) {
	t.Parallel()
	agent := everything(t)
	how := func(x *turn) bool {
		if !x.has(absurd) {
			return x.is("tools/list") && x.count("good") == 0
		}
		return x.did("good") && x.result(`{"resultType":"complete","tools":[],"ttlMs":0,"cacheScope":"private"}`)
	}
	r := tried(t, agent, how, modern, "version-refused")
	if !finds(r, "version-refused") || !slices.ContainsFunc(r.Findings, func(f check.Finding) bool { return strings.Contains(f.Evidence, "tools/list {}") }) {
		t.Errorf("%+v %+v", r.Findings, r.Sections)
	}
}

// Where an answer that is an error with another code trips a rule, its title must not say that there was none.
func TestTitlesSayWhatIsSeen(t *testing.T) {
	t.Parallel()
	agent := everything(t)
	for id, c := range map[string]struct {
		protocol string
		how      change
	}{
		"log-level-invalid":  {rev2511, where(`"mcphud"}`, failing(-32000))},
		"missing-argument":   {rev2511, where(`"arguments":{}`, failing(-32000))},
		"completion-refused": {rev2511, where(missing, failing(-32000))},
		"task-forbidden":     {rev2511, where(`"task":`, failing(-32602))},
		"invalid-request":    {rev2511, where("mcphud-invalid", failing(-32601))},
		"session-unknown":    {rev2511, func(x *turn) bool { return x.is("ping") && x.count("ping") > 1 && x.say(410, "text/plain", "") }},
		"meta-required":      {modern, func(x *turn) bool { return x.env.ID != nil && !x.has("clientCapabilities") && x.fail(-32000) }},
		"header-method": {modern, func(x *turn) bool {
			return x.r.Header.Get("Mcp-Method") == "prompts/get" && x.is("tools/list") && x.fail(-32602)
		}},
		"log-level-refused": {modern, where(`logLevel":"mcphud"`, failing(-32000))},
		"task-capability":   {modern, on("tasks/get", failing(-32602))},
	} {
		r := tried(t, agent, c.how, c.protocol, id)
		if len(r.Findings) != 1 || !strings.Contains(r.Findings[0].Rule.Title, "does not refuse") && !strings.Contains(r.Findings[0].Rule.Title, "does not answer") {
			t.Errorf("%s: %+v", id, r.Findings)
		}
	}
}

// What each server of an SDK does is one line, unless somebody asks for it; one on which a server dies is not.
func TestHabitsOfSDKs(t *testing.T) {
	t.Parallel()
	agent := everything(t)
	how := func(x *turn) bool {
		return where("mcphud-invalid", saying("{}"))(x) || where(missing, saying(`{"content":[]}`))(x) || where(`"name":5`, saying(`{"content":[]}`))(x)
	}
	r := tried(t, agent, how, rev2511, "sdk-habits")
	if len(r.Findings) != 1 || r.Findings[0].ID != Name+"/sdk-habits" || r.Findings[0].Severity != check.Info || r.Findings[0].Message != "invalid-params, invalid-request, unknown-tool" ||
		!strings.Contains(r.Findings[0].Evidence, "mcphud-invalid") {
		t.Errorf("%+v", r.Findings)
	}
	for _, rules := range [][]string{{"invalid-request", "unknown-tool"}, {"invalid-*", "unknown-tool"}} {
		r = tried(t, agent, how, rev2511, rules...)
		if !finds(r, "invalid-request") || !finds(r, "unknown-tool") || finds(r, "sdk-habits") {
			t.Errorf("%q: %+v", rules, r.Findings)
		}
	}
	dies := where(missing, func(*turn) bool { panic(http.ErrAbortHandler) })
	if r = tried(t, agent, dies, rev2511, "sdk-habits"); len(r.Findings) != 1 || r.Findings[0].ID != Name+"/unknown-tool" || r.Findings[0].Severity != check.Error {
		t.Errorf("%+v", r.Findings)
	}
}

// Who may have something to read, and does not implement reading it, is not let off: templates, and lists that could not be read.
func TestNothingThatCouldBeRead(t *testing.T) {
	t.Parallel()
	agent := everything(t)
	reads := func(x *turn) bool { return x.is("resources/read") && x.fail(-32601) }
	empty := func(x *turn) bool { return x.is("resources/list") && x.result(`{"resources":[]}`) }
	bare := func(x *turn) bool { return x.is("resources/templates/list") && x.result(`{"resourceTemplates":[]}`) }
	for name, c := range map[string]struct {
		lists   []change
		skipped bool
	}{
		"nothing":   {[]change{empty, bare}, true},
		"templates": {[]change{empty}, false},
		"failed":    {[]change{on("resources/list", failing(-32603)), bare}, false},
		"unknown":   {[]change{on("resources/list", failing(-32601)), bare}, true},
	} {
		web := &changed{agent: agent, s: state{n: map[string]int{}}, how: func(x *turn) bool {
			return reads(x) || slices.ContainsFunc(c.lists, func(do change) bool { return do(x) })
		}}
		web.on.Store(true)
		srv := httptest.NewServer(web)
		t.Cleanup(func() {
			srv.CloseClientConnections()
			srv.Close()
		})
		r := examined(t, config.Server{Name: "agent", URL: srv.URL + "/mcp", Transport: config.HTTP, Protocol: rev2511}, func() {}, "unknown-resource")
		if finds(r, "unknown-resource") == c.skipped || strings.Contains(why(r, "unknown-resource"), "nothing is listed") != c.skipped {
			t.Errorf("%s: %+v %+v", name, r.Findings, r.Sections[1].Outcomes)
		}
	}
}
