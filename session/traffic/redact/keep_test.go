package redact_test

import (
	"fmt"
	"testing"

	"github.com/mcphud/mcphud/session/base/jsonrpc"
	"github.com/mcphud/mcphud/session/test/require/assert"
	"github.com/mcphud/mcphud/session/traffic/redact"
	"github.com/mcphud/mcphud/session/wire/journal"
)

// Arguments of which any may be a secret are words as well, which stay in other messages; what is long enough is found there. No message
// loses a member that says what it is.
func TestArgumentsThatMayAllBeSecret(t *testing.T) {
	k := redact.NewKeeper()
	kept := func(kind journal.Kind, tool, body string) string {
		t.Helper()
		e := journal.Entry{Kind: kind, Server: "s", Method: "tools/call", Tool: tool}
		_, out := k.Change(e, []byte(body))
		if _, err := jsonrpc.Scan(out); err != nil {
			t.Errorf("%s: %v", out, err)
		}
		return string(out)
	}
	kept(journal.Response, "", `{"jsonrpc":"2.0","id":1,"result":{"tools":[{"name":"vault","inputSchema":{"type":"object","patternProperties":{"^v_":{"type":"string","writeOnly":true}}}}]}}`)
	arguments := `{"v_one":"a-secret-of-many-characters","password":"structuredContent","other":"result","more":"arguments","token":"q7x9z2","n":123456}`
	out := kept(journal.Request, "vault", `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"vault","arguments":`+arguments+`}}`)
	for _, v := range []string{"a-secret", `"structuredContent"`, `"result"`, `:"arguments"`, "q7x9z2", "123456"} {
		assert.NotContains(t, out, v)
	}
	text := "the result of 123456 arguments"
	out = kept(journal.Response, "vault", fmt.Sprintf(`{"jsonrpc":"2.0","id":2,"result":{"content":[{"type":"text","text":%q},{"type":"text","text":"a-secret-of-many-characters of q7x9z2"}],"structuredContent":{"n":1}}}`, text))
	assert.Contains(t, out, `,"result":{"content":`, `"structuredContent":{`, text)
	assert.NotContains(t, out, "a-secret", "q7x9z2")
	out = kept(journal.Request, "other", `{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"other","arguments":{"a-secret-of-many-characters":1}}}`)
	assert.Contains(t, out, `"params":{"name":"other","arguments":{"[secret-`)
}
