package conform

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/mcphud/mcphud/session/config"
	"github.com/mcphud/mcphud/session/test/faketest/behave"
	"github.com/mcphud/mcphud/session/test/require"
)

// odd is set for a process of the tests that is a server over stdio.
const odd = "MCPHUD_TEST_ODD"

// oddly is a server that keeps the rules of stdio in ways that are its own: blank lines between messages, blanks in them, logs on standard
// error, a status that is not 0, and an error of its own for what comes before initialize.
func oddly() int {
	behave.Stdio(behave.Good, behave.Process{In: os.Stdin, Out: oddWriter{}, Err: os.Stderr, Exit: os.Exit})
	fmt.Fprintln(os.Stderr, "{\nits input ended\n}")
	return 3
}

type oddWriter struct{}

func (oddWriter) Write(p []byte) (int, error) {
	fmt.Fprintln(os.Stderr, "{ a message\n}")
	out := strings.ReplaceAll(string(p), `"jsonrpc":"2.0",`, ` "jsonrpc" : "2.0" , `)
	if strings.Contains(out, `"probe"`) {
		out = strings.Replace(out, "-32601", "-32000", 1)
	}
	_, err := io.WriteString(os.Stdout, "\n"+out)
	return len(p), err
}

// acknowledging is the first message of a subscription.
func (x *turn) acknowledging(filter string) string {
	return `{"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged","params":{"_meta":{"io.modelcontextprotocol/subscriptionId":` + x.id() + `},"notifications":` + filter + `}}`
}

// mismatched refuses a request whose headers say something else.
func (x *turn) mismatched() bool {
	return x.say(400, "application/json", `{"jsonrpc":"2.0","id":`+x.id()+`,"error":{"code":-32020,"message":"no","data":{"header":1}}}`)
}

// plainly lets the agent answer; its errors of one status are said in words.
func (x *turn) plainly(status int) bool {
	rec := httptest.NewRecorder()
	x.agent.ServeHTTP(rec, x.request())
	if rec.Code == status {
		return x.say(status, "text/html", "<p>no</p>")
	}
	return x.say(rec.Code, rec.Header().Get("Content-Type"), rec.Body.String())
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

// oddServer is that server.
func oddServer(t *testing.T) config.Server {
	t.Helper()
	self, err := os.Executable()
	require.NoError(t, err)
	return config.Server{Name: "odd", Transport: config.Stdio, Command: self, Env: map[string]string{odd: "1"}}
}

// Over pipes rules are tried as over HTTP: what the server of the tests keeps, and what it does not.
func TestRulesOverPipes(t *testing.T) {
	t.Parallel()
	r := examined(t, oddServer(t), func() {})
	want := strings.Fields(`ping method-not-found parse-error echo-string echo-number echo-large batch-refused notification-answered extra-members concurrent version-supported version-offered
		version-newest initialize-shape initialize-unknown-capability before-initialize initialize-again probe-survived unknown-tool unknown-resource unknown-prompt prompts-rendered resources-read
		completion log-level-set subscribe cancel-survived declared-lists params-absent list-order exits stdout-clean pretty-printed task-undeclared`)
	if got := passed(r); !slices.Equal(got[:min(len(got), len(want))], want) || !slices.Contains(got, "stdout-noise") { // and what is observed
		t.Errorf("passed %q", got)
	}
	var got []string
	for _, f := range r.Findings {
		got = append(got, strings.TrimPrefix(f.ID, Name+"/")+": "+f.Message)
	}
	wrong := []string{
		`other-version: a request with jsonrpc "1.0": a result`, "null-id: a request with id null: a result", "missing-argument: prompts/get of greet without its arguments: a result, not an error",
		"completion-refused: completion/complete for an unknown prompt: a result, not an error", "sdk-habits: invalid-params, invalid-request, log-level-invalid, cursor-refused",
	}
	if !slices.Equal(got, wrong) {
		t.Errorf("found %q", got)
	}
}
