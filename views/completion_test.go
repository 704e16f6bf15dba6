package views_test

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcphud/mcphud/session/base/jsonrpc"
	"github.com/mcphud/mcphud/session/test/peertest"
	"github.com/mcphud/mcphud/session/test/require/assert"
	"github.com/mcphud/mcphud/tui/tuitest"
)

// Completions are asked for once nobody types, with the arguments that are known, and say how many there are; what the server says
// is wrong stands at the field.
func TestCompletion(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newScribe()
		var asked []string
		s.answers["prompts/list"] = func([]byte) string {
			return `{"prompts":[{"name":"greet","arguments":[{"name":"who","required":true},{"name":"tone","required":true}]}]}`
		}
		s.answers["completion/complete"] = func(params []byte) string {
			arg, known := jsonrpc.Get(params, "argument"), jsonrpc.Get(params, "context")
			asked = append(asked, string(arg)+string(known))
			value := jsonrpc.GetString(arg, "value")
			if jsonrpc.GetString(arg, "name") == "tone" {
				return `{"code":-32603,"message":"the index is being rebuilt"}`
			}
			return fmt.Sprintf(`{"completion":{"values":[%q,%q],"total":250,"hasMore":true}}`, value+"da", value+"lan")
		}
		app := scribed(t, s, tuitest.At("prompts", nil))
		app.Pane("list").Has("greet")
		app.Press("enter").View("prompt")
		time.Sleep(time.Second)
		app.Pane("form").Has("2 of 250 values; type to narrow")
		app.Type("A").Type("l")
		app.Pane("form").Has("Alda", "Allan")
		if got := strings.Join(asked, " "); got != `{"name":"who","value":""} {"name":"who","value":"Al"}` {
			t.Errorf("asked %s", got)
		}
		app.Press("tab", "tab") // accepts, and goes on
		time.Sleep(time.Second)
		app.Pane("form").Has("Alda", "! no completions: the index is being rebuilt")
		if got := asked[len(asked)-1]; got != `{"name":"tone","value":""}{"arguments":{"who":"Alda"}}` {
			t.Errorf("asked %s", got)
		}
		app.Press("shift+tab")
		time.Sleep(time.Second)
		app.Pane("form").HasNot("rebuilt")
	})
}

// TestE2ECompletion completes a prompt's argument by another one that is known, and a template's variable.
func TestE2ECompletion(t *testing.T) {
	app := open(t, peertest.Everything(t))
	pick(app, "4", "prompts", "completable-prompt").Press("enter")
	app.View("prompt").Pane("form").Has("department")
	app.Type("Eng").Pane("form").Has("Engineering")
	app.Press("tab", "tab").Pane("form").Has("Alice", "Bob", "Charlie")
	sent := sentTo(t, app, "completion/complete")
	assert.Contains(t, sent, `"context":{"arguments":{"department":"Engineering"}}`)
	intact(t, app)
}
