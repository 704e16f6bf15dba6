package conform

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"

	"github.com/mcphud/mcphud/session/faketest/behave"
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
