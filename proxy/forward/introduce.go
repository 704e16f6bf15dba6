package forward

import (
	"bytes"
	"net/http"

	"github.com/mcphud/mcphud/proxy/sessions"
	"github.com/mcphud/mcphud/session/base/jsonrpc"
	"github.com/mcphud/mcphud/session/serve/ingress"
)

// introduce reads the answer to initialize or server/discover: it gives the server the name under which the router serves it,
// and opens the session. An answer that is not understood stays as it is.
func (x *exchange) introduce(body []byte, from http.Header) ([]byte, error) {
	env, err := jsonrpc.Scan(bytes.TrimSpace(body))
	if err != nil || env.Kind != jsonrpc.Response {
		return body, nil // an error of the agent opens nothing
	}
	version := versionIn(env.Result)
	if x.opens {
		id, err := x.mint(x.c, from.Get(ingress.HeaderSession), version)
		if err != nil {
			return nil, err
		}
		x.minted = true
		x.c.W.Header()[ingress.HeaderSession] = []string{id}
		if version != "" {
			x.version = version
		}
	}
	return rename(body, x.name), nil
}

// maxVersion bounds a protocol version, in bytes. They are dates.
const maxVersion = 64

// versionIn is the protocol version that an agent agreed to, "" if it names none that a header could carry: it is kept with the
// session and sent with each request, where a line break in it would begin headers, and requests, of the agent's own.
func versionIn(result []byte) string {
	v := jsonrpc.GetString(result, "protocolVersion")
	if len(v) > maxVersion || !ingress.Visible(v) {
		return ""
	}
	return v
}

// unopened ends a session at the agent for which the caller got no id.
func (x *exchange) unopened(upstream string) {
	if upstream != "" && !x.minted {
		x.Abandon(sessions.Binding{Agent: x.c.Agent, Endpoint: x.where, Upstream: upstream, Version: x.version})
	}
}

// rename replaces result.serverInfo.name of a response, and the same in result._meta, where a 2026-07-28 server gives it. All
// other bytes stay. A body without it stays as it is.
func rename(body []byte, name string) []byte {
	quoted := jsonrpc.Quote(name)
	var changes []jsonrpc.Change
	for _, path := range [][]string{{"result", "serverInfo", "name"}, {"result", "_meta", metaServerInfo, "name"}} {
		if v := jsonrpc.Get(body, path...); v != nil && v[0] == '"' {
			changes = append(changes, jsonrpc.Replace(quoted, path...))
		}
	}
	body, _ = jsonrpc.Update(body, changes...) // what is malformed stays as it is
	return body
}

const metaServerInfo = "io.modelcontextprotocol/serverInfo"
