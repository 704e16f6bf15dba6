package conform

import (
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/mcphud/mcphud/session/check"
)

// A stream may say more after the response, as long as it ends; one that says nothing in time has no verdict.
func TestStreamEnds(t *testing.T) {
	t.Parallel()
	agent := everything(t)
	const note = `{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"a"}}`
	r := tried(t, agent, on("ping", func(x *turn) bool { return x.events("", x.framed("{}"), "", note, "", note) }), rev2511, "stream-ends")
	if len(r.Findings) > 0 || len(passed(r)) != 1 {
		t.Errorf("more after the response: %+v %+v", r.Findings, r.Sections)
	}
	silent := on("ping", func(x *turn) bool {
		if x.count("ping") < 3 { // the good request, and that which says whether there is a stream
			return x.events("", x.framed("{}"))
		}
		x.w.Header().Set("Content-Type", "text/event-stream")
		x.w.(http.Flusher).Flush()
		<-x.r.Context().Done()
		return true
	})
	if r = triedWithin(t, agent, silent, rev2511, time.Second, "stream-ends"); len(r.Findings) > 0 || !strings.HasPrefix(why(r, "stream-ends"), unknownPrefix) {
		t.Errorf("silent: %+v %+v", r.Findings, r.Sections)
	}
}

// A subscription without a head is given up in the time for an answer, and says nothing of how streams are written.
func TestSubscriptionWithoutAHead(t *testing.T) {
	t.Parallel()
	slow := on("subscriptions/listen", func(x *turn) bool {
		select {
		case <-x.r.Context().Done():
		case <-time.After(20 * time.Second):
		}
		return true
	})
	r := triedWithin(t, everything(t), slow, modern, time.Second, "unbuffered")
	if len(r.Findings) > 0 || !strings.HasPrefix(why(r, "unbuffered"), unknownPrefix) {
		t.Errorf("%+v %+v", r.Findings, r.Sections)
	}
}

// What nothing was learned of is named once, in however many revisions.
func TestUnknownIsNamedOnce(t *testing.T) {
	t.Parallel()
	how := func(x *turn) bool { return (x.is(nobody) || x.has(missing)) && x.fail(internal) }
	r := tried(t, everything(t), how, "", "method-not-found", "unknown-prompt")
	notes := strings.Join(r.Sections[1].Notes, "\n")
	for _, id := range []string{"method-not-found", "unknown-prompt"} {
		if strings.Count(notes, id) != 1 {
			t.Errorf("%s: %q", id, notes)
		}
	}
}

// What a server repeats of our credentials is in no finding, nor in why a rule was not tried.
func TestMessagesAreMasked(t *testing.T) {
	t.Parallel()
	const token = "abcdefghijklmnop0123456789"
	agent := everything(t)
	for code, verdict := range map[string]check.Verdict{"-32000": "", "-32603": check.Skipped} {
		how := on(nobody, func(x *turn) bool {
			return x.say(200, "application/json", `{"jsonrpc":"2.0","id":`+x.id()+`,"error":{"code":`+code+`,"message":"refused Bearer `+token+`"}}`)
		})
		r := tried(t, agent, how, rev2511, "method-not-found")
		said := why(r, "method-not-found")
		for _, f := range r.Findings {
			said += f.Message + f.Evidence
		}
		if !strings.Contains(said, "refused Bearer") || strings.Contains(said, token) || (verdict == "") != (len(r.Findings) == 1) {
			t.Errorf("%s: %q", code, said)
		}
	}
}

// A list whose next cursor is null is at its end, whoever reads it.
func TestNullIsNoCursor(t *testing.T) {
	t.Parallel()
	var n atomic.Int32
	how := on("tools/list", func(x *turn) bool {
		n.Add(1)
		return x.result(`{"tools":[{"name":"add","inputSchema":{"type":"object"}}],"nextCursor":null}`)
	})
	tried(t, everything(t), how, rev2511, "task-forbidden")
	if got := n.Load(); got == 0 || got > 5 {
		t.Errorf("the list was asked for %d times", got)
	}
}
