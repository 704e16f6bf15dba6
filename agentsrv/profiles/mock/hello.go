package mock

import (
	"context"
	"encoding/json"
	"slices"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/mcphud/mcphud/agentsrv/front"
	"github.com/mcphud/mcphud/session/base/jsonrpc"
)

const tasksExtension = "io.modelcontextprotocol/tasks"

// speaks reports whether the mock speaks the version of a request.
func (m *Mock) speaks(x *front.Exchange) bool {
	if m.o.Version == "" || mcp.IsModernProtocol(m.o.Version) == (x.Modern || x.Method == string(mcp.MethodServerDiscover)) {
		return true
	}
	return false
}

// initialize lets the transport negotiate, towards the version that was agreed upon in the recording, and answers as is recorded.
func (m *Mock) initialize(ctx context.Context, x *front.Exchange, next front.Next) (json.RawMessage, error) {
	if mcp.IsModernProtocol(m.o.Version) {
		return nil, jsonrpc.Errorf(jsonrpc.KindMethodNotFound, "Method not found: %s", x.Method)
	}
	version := m.o.Version
	if version == "" {
		version = m.rec.versionFor(jsonrpc.GetString(x.Params, "protocolVersion"))
	}
	if version != "" {
		if params, err := jsonrpc.Update(x.Params, jsonrpc.Set(jsonrpc.Quote(version), "protocolVersion")); err == nil {
			x.Params, x.Frame = params, nil
		}
	}
	negotiated, err := next(ctx, x)
	if err != nil {
		return nil, err
	}
	agreed := jsonrpc.Get(negotiated, "protocolVersion")
	if seq := m.rec.hellos[string(mcp.MethodInitialize)]; seq != 0 {
		result := m.able(m.rec.envelope(seq).Result, false)
		if slices.Equal(jsonrpc.Get(result, "protocolVersion"), agreed) {
			return result, nil
		}
		return jsonrpc.Update(result, jsonrpc.Set(agreed, "protocolVersion"))
	}
	discovered := m.rec.envelope(m.rec.hellos[string(mcp.MethodServerDiscover)]).Result
	info := jsonrpc.Get(discovered, "_meta", mcp.MetaKeyServerInfo)
	if info == nil {
		info = m.info()
	}
	result := []byte(`{}`)
	if caps := jsonrpc.Get(discovered, "capabilities"); caps != nil {
		result = set(result, caps, "capabilities")
	}
	result = set(set(m.able(result, true), agreed, "protocolVersion"), info, "serverInfo")
	if text := jsonrpc.Get(discovered, "instructions"); text != nil {
		result = set(result, text, "instructions")
	}
	return result, nil
}

// versionFor is the version that was agreed upon when a client asked for this one, "" if none did.
func (r *recording) versionFor(asked string) string {
	for _, i := range r.callsOf(group{method: string(mcp.MethodInitialize)}) {
		c := r.calls[i]
		if c.answer != 0 && jsonrpc.GetString(r.envelope(c.seq).Params, "protocolVersion") == asked {
			return jsonrpc.GetString(r.envelope(c.answer).Result, "protocolVersion")
		}
	}
	return ""
}

// discover answers server/discover, after which callers without a session see the recording from its beginning.
func (m *Mock) discover(x *front.Exchange) (json.RawMessage, error) {
	m.again()
	if seq := m.rec.hellos[string(mcp.MethodServerDiscover)]; seq != 0 {
		return m.able(m.rec.envelope(seq).Result, false), nil
	}
	hello := m.rec.envelope(m.rec.hellos[string(mcp.MethodInitialize)]).Result
	info := jsonrpc.Get(hello, "serverInfo")
	if info == nil {
		info = m.info()
	}
	versions, err := json.Marshal(mcp.ValidProtocolVersions)
	if err != nil {
		return nil, err
	}
	result := []byte(`{"resultType":"complete","ttlMs":0,"cacheScope":"private"}`)
	result = set(set(result, info, "_meta", mcp.MetaKeyServerInfo), versions, "supportedVersions")
	if caps := jsonrpc.Get(hello, "capabilities"); caps != nil {
		result = set(result, caps, "capabilities")
	}
	result = m.able(result, true)
	if text := jsonrpc.Get(hello, "instructions"); text != nil {
		result = set(result, text, "instructions")
	}
	return result, nil
}

// info is a serverInfo where none is recorded.
func (m *Mock) info() []byte {
	return append(append([]byte(`{"name":`), jsonrpc.Quote(m.o.Server)...), `,"version":"0"}`...)
}

// able leaves of the capabilities in a result those that the recording can serve, and adds those that it must have had. In the other era
// tasks are over before they are answered.
func (m *Mock) able(result []byte, otherEra bool) []byte {
	kinds := []struct {
		name    string
		methods []string
	}{
		{"tools", []string{string(mcp.MethodToolsList), string(mcp.MethodToolsCall)}},
		{"prompts", []string{string(mcp.MethodPromptsList), string(mcp.MethodPromptsGet)}},
		{"resources", []string{string(mcp.MethodResourcesList), string(mcp.MethodResourcesTemplatesList), string(mcp.MethodResourcesRead)}},
	}
	for _, k := range kinds {
		has := slices.ContainsFunc(k.methods, func(method string) bool { return m.rec.methods[method] })
		switch there := jsonrpc.Get(result, "capabilities", k.name) != nil; {
		case there && !has:
			result = drop(result, "capabilities", k.name)
		case !there && has:
			result = set(result, []byte(`{}`), "capabilities", k.name)
		}
	}
	if otherEra {
		result = drop(drop(result, "capabilities", "tasks"), "capabilities", "extensions", tasksExtension)
	}
	if jsonrpc.Get(result, "capabilities") == nil {
		result = set(result, []byte(`{}`), "capabilities")
	}
	return result
}

func set(obj, value []byte, path ...string) []byte {
	out, _ := jsonrpc.Update(obj, jsonrpc.Set(value, path...)) // where it cannot be set, obj is returned
	return out
}

func drop(obj []byte, path ...string) []byte {
	out, _ := jsonrpc.Update(obj, jsonrpc.Delete(path...))
	return out
}

// modern reports whether a request was made in the modern era.
func (r *recording) modern(seq uint64) bool {
	return jsonrpc.Get(r.envelope(seq).Params, "_meta", mcp.MetaKeyProtocolVersion) != nil
}

// fit is a result for a client of the era that it was not recorded in; in its own it stays as it is.
func (m *Mock) fit(x *front.Exchange, method string, result []byte, modern bool) []byte {
	switch {
	case x.Modern == modern:
	case x.Modern:
		result = set(result, []byte(`"complete"`), "resultType")
		if lists[method] != "" || method == string(mcp.MethodResourcesRead) {
			result = set(set(result, []byte("0"), "ttlMs"), []byte(`"private"`), "cacheScope")
		}
	default:
		result = drop(drop(drop(result, "resultType"), "ttlMs"), "cacheScope")
		result = drop(result, "_meta", mcp.MetaKeyServerInfo)
		if string(jsonrpc.Get(result, "_meta")) == "{}" {
			result = drop(result, "_meta")
		}
	}
	return result
}
