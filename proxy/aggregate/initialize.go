package aggregate

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/mcphud/mcphud/session"
	"github.com/mcphud/mcphud/session/base/jsonrpc"
	"github.com/mcphud/mcphud/session/base/text"
	"github.com/mcphud/mcphud/session/client/toolset"
	"github.com/mcphud/mcphud/session/serve/ingress"
)

// capabilities are what the merged server can do, whatever agents there are just now.
const capabilities = `{"tools":{"listChanged":true},"prompts":{"listChanged":true},"resources":{"subscribe":true,"listChanged":true},"completions":{},"logging":{}`

const (
	// greeting is how long initialize waits for agents, to learn which versions they support.
	greeting = 2 * time.Second
	// maxAdvice bounds the instructions of all agents, in bytes.
	maxAdvice = 32 << 10
	// maxCaps bounds the capabilities that a client declares, in bytes. They are kept for its session, and sent to each agent.
	maxCaps = 64 << 10
	// maxClientName bounds what is kept of the name that a client gives itself, in bytes.
	maxClientName = 200
)

// union is what initialize reports of all agents.
type union struct {
	// version is the newest version of the legacy era that all agents speak that answer soon. Agents of the modern era set no
	// limit: the sessions with them are made by their own rules.
	version string
	// What some agent has: tasks of 2025-11-25, a list and an end of them, and the extension of 2026-07-28.
	tasks, list, cancel, extension bool
	advice                         []byte // how to use the agents, by their own words
}

func (c *client) union(ctx context.Context, n toolset.Naming) union {
	u := union{version: mcp.LATEST_LEGACY_PROTOCOL_VERSION}
	agents, began := c.agents(), time.Now()
	fetches := make([]*fetch, len(agents))
	for i, a := range agents {
		fetches[i] = c.fetch(a, hello)
	}
	for i, a := range agents {
		if c.await(ctx, fetchKey{a, hello}, fetches[i], began, min(greeting, c.s.o.Patience)) != nil {
			continue
		}
		st := fetches[i].sess.Status()
		if advice := bytes.TrimSpace([]byte(st.Instructions)); len(advice) > 0 && len(u.advice)+len(advice) < maxAdvice {
			of := "that begin with " + n.Full(a, "")
			if n.Bare() {
				of = "of " + a
			}
			u.advice = fmt.Appendf(u.advice, "Tools %s:\n%s\n\n", of, advice)
		}
		if st.Era != session.Legacy {
			u.extension = u.extension || jsonrpc.Get(st.Capabilities, "extensions", extension) != nil
			continue
		}
		u.version = min(u.version, st.Version) // versions are dates
		tasks := jsonrpc.Get(st.Capabilities, "tasks")
		u.list = u.list || jsonrpc.Get(tasks, "list") != nil
		u.cancel = u.cancel || jsonrpc.Get(tasks, "cancel") != nil
		u.tasks = u.tasks || jsonrpc.Get(jsonrpc.Get(tasks, "requests"), "tools", "call") != nil
	}
	return u
}

// capabilities are those of the merged server; version is the client's.
func (u union) capabilities(version string) []byte {
	out := []byte(capabilities)
	switch {
	case mcp.IsModernProtocol(version) && u.extension:
		out = fmt.Appendf(out, `,"extensions":{%q:{}}`, extension)
	case !mcp.IsModernProtocol(version) && u.tasks && version >= mcp.ProtocolVersion20251125:
		out = append(out, `,"tasks":{"requests":{"tools":{"call":{}}}`...)
		if u.list {
			out = append(out, `,"list":{}`...)
		}
		if u.cancel {
			out = append(out, `,"cancel":{}`...)
		}
		out = append(out, '}')
	}
	return append(out, '}')
}

// instructions is the member with the agents' advice, if they have any, after a comma.
func (u union) instructions() []byte {
	if u.advice == nil {
		return nil
	}
	return append([]byte(`,"instructions":`), jsonrpc.Quote(string(bytes.TrimSpace(u.advice)))...)
}

func (s *Server) info() []byte {
	return fmt.Appendf(nil, `{"name":%s,"version":%s}`, jsonrpc.Quote(s.o.Name), jsonrpc.Quote(s.o.Version))
}

// initialize opens a session of the legacy era.
func (x *exchange) initialize(caller Caller) {
	caps := jsonrpc.Get(x.env.Params, "capabilities")
	switch {
	case x.s.o.Sole != nil:
		x.refuse(errSoleEra)
		return
	case caps == nil || caps[0] != '{':
		caps = []byte("{}")
	case len(caps) > maxCaps:
		x.refuse(jsonrpc.Errorf(jsonrpc.KindInvalidParams, "Invalid params: capabilities have more than %d bytes", maxCaps).With("field", "capabilities"))
		return
	default:
		caps = bytes.Clone(caps) // and not the message that they are part of
	}
	c := x.s.newClient(caller, ingress.Hops(x.r.Header), caps)
	c.id = jsonrpc.UUID()
	c.name = text.Clip(jsonrpc.GetString(x.env.Params, "clientInfo", "name"), maxClientName)
	if err := x.s.addClient(c, x.s.clients, c.id, "too many sessions: all that this router serves at once are in use; try again later"); err != nil {
		x.refuse(err)
		return
	}
	defer c.release()
	asked := jsonrpc.GetString(x.env.Params, "protocolVersion")
	x.c = c
	u := c.union(x.r.Context(), x.view().Naming)
	c.version = u.version
	if mcp.IsValidProtocolVersion(asked) && asked < c.version {
		c.version = asked
	}
	x.w.Header().Set(ingress.HeaderSession, c.id)
	x.w.Header().Set(mcp.HeaderProtocolVersion, c.version)
	x.reply(http.StatusOK, jsonrpc.NewResult(x.env.ID, fmt.Appendf(nil, `{"protocolVersion":%q,"capabilities":%s,"serverInfo":%s%s}`,
		c.version, u.capabilities(c.version), x.s.info(), u.instructions())))
}

func (x *exchange) discover(ctx context.Context) []byte {
	u := x.c.union(ctx, x.view().Naming)
	versions := slices.DeleteFunc(slices.Clone(mcp.ValidProtocolVersions), func(v string) bool { return !mcp.IsModernProtocol(v) && v > u.version })
	list, err := json.Marshal(versions)
	if err != nil { // strings always marshal
		list = []byte("[]")
	}
	info := x.s.info()
	return fmt.Appendf(nil, `{"resultType":"complete","supportedVersions":%s,"capabilities":%s,"serverInfo":%s%s,"ttlMs":0,"cacheScope":"private","_meta":{%q:%s}}`,
		list, u.capabilities(x.version), info, u.instructions(), mcp.MetaKeyServerInfo, info)
}
