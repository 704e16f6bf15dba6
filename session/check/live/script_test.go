package live

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/mcphud/mcphud/session/base/jsonrpc"
	"github.com/mcphud/mcphud/session/wire/journal"
)

// check plays a script to a Checker and returns what it found. A line of the script is an entry:
//
//	> MESSAGE        from the client; < MESSAGE from the server
//	>! BYTES         output that is not a message, likewise
//	>> POST /mcp Name=value …    head of an HTTP request; << 200 Name=value … of its response
//	<<body TEXT, of an HTTP error; <<event NAME: DATA and <<endpoint URL, of an event stream as sessions and routers note it
//	= a note of a change of state
//	@ hello REVISION SERVER-CAPABILITIES CLIENT-CAPABILITIES    a handshake
//
// In a message, ' stands for ", and a message without jsonrpc gets it.
func check(t *testing.T, script string) (found []Finding) {
	t.Helper()
	ck := NewChecker(func(f Finding) { found = append(found, f) })
	play(t, ck, script)
	ck.Finish()
	return found
}

func play(t testing.TB, ck *Checker, script string) {
	t.Helper()
	seq := uint64(0)
	add := func(e journal.Entry, body string) {
		seq++
		e.Seq, e.Server, e.Conn, e.Size = seq, "srv", 1, len(body)
		ck.Add(&e, []byte(body))
	}
	for line := range strings.SplitSeq(script, "\n") {
		line = strings.TrimSpace(line)
		if line == "" {
			continue
		}
		mark, rest, _ := strings.Cut(line, " ")
		if mark == "@" {
			play2(t, strings.Fields(rest), func(l string) { add(entry(t, l[:1], l[2:])) })
			continue
		}
		add(entry(t, mark, rest))
	}
}

// play2 makes the lines of a handshake.
func play2(t testing.TB, words []string, line func(string)) {
	t.Helper()
	caps := append(words, "{}", "{}", "{}")[2:]
	switch words[0] {
	case "hello":
		line(fmt.Sprintf(`> {'id':'h','method':'initialize','params':{'protocolVersion':'%s','capabilities':%s,'clientInfo':{'name':'c','version':'1'}}}`, words[1], caps[1]))
		line(fmt.Sprintf(`< {'id':'h','result':{'protocolVersion':'%s','capabilities':%s,'serverInfo':{'name':'s','version':'1'}}}`, words[1], caps[0]))
		line(`> {'method':'notifications/initialized'}`)
	case "discover":
		line(`> {'id':'h','method':'server/discover','params':{META}}`)
		line(fmt.Sprintf(`< {'id':'h','result':{'resultType':'complete','supportedVersions':['2026-07-28'],'capabilities':%s,'serverInfo':{'name':'s','version':'1'},'ttlMs':1,'cacheScope':'private'}}`, append(words, "{}")[1]))
	default:
		t.Fatalf("no such macro: %s", words[0])
	}
}

const meta = `'_meta':{'io.modelcontextprotocol/protocolVersion':'2026-07-28','io.modelcontextprotocol/clientCapabilities':{}}`

// entry is one line of a script.
func entry(t testing.TB, mark, rest string) (e journal.Entry, body string) {
	t.Helper()
	e.Dir = journal.Out
	if mark[0] == '<' {
		e.Dir = journal.In
	}
	body = strings.ReplaceAll(strings.ReplaceAll(rest, "META", meta), "'", `"`)
	switch mark {
	case "=":
		return journal.Entry{Kind: journal.State, Note: rest}, ""
	case ">!", "<!":
		e.Kind = journal.Bad
		body = strings.ReplaceAll(body, `\xff`, "\xff")
		if env, err := jsonrpc.Scan([]byte(body)); err == nil {
			t.Fatalf("a good message: %s", body)
		} else {
			e.ID = string(env.ID)
		}
		return e, body
	case ">>", "<<":
		e.Kind = journal.HTTP
		words := strings.Fields(rest)
		first := words[0]
		words = words[1:]
		if mark == ">>" {
			first, words = first+" "+words[0]+" HTTP/1.1", words[1:]
		}
		for _, w := range words {
			name, value, _ := strings.Cut(w, "=")
			first += "\n" + name + ": " + strings.ReplaceAll(value, "_", " ")
		}
		return e, first + "\n"
	case "<<event":
		return journal.Entry{Kind: journal.HTTP, Dir: journal.In, Note: "event " + rest}, rest
	case "<<endpoint":
		return journal.Entry{Kind: journal.HTTP, Dir: journal.In, Note: "endpoint"}, rest
	case "<<body":
		return journal.Entry{Kind: journal.HTTP, Dir: journal.In}, body
	}
	if !strings.Contains(body, `"jsonrpc"`) {
		body = `{"jsonrpc":"2.0",` + strings.TrimPrefix(body, "{")
	}
	env, err := jsonrpc.Scan([]byte(body))
	if err != nil {
		t.Fatalf("%v: %s", err, body)
	}
	e.Kind = [...]journal.Kind{jsonrpc.Request: journal.Request, jsonrpc.Notification: journal.Notification, jsonrpc.Response: journal.Response, jsonrpc.ErrorResponse: journal.ErrorResponse}[env.Kind]
	e.Method, e.ID = env.Method, string(env.ID)
	if e.Kind == journal.Request {
		_ = json.Unmarshal(jsonrpc.Get(env.Params, "name"), &e.Tool)
	}
	return e, body
}
