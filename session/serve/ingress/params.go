package ingress

import (
	"strings"
	"unicode"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/mcphud/mcphud/session/base/jsonrpc"
	"github.com/mcphud/mcphud/session/base/text"
)

// routingMembers are the members of params that access and routing are decided by. encoding/json would read a spelling that
// differs in letter case, too; the decision would not see it.
var routingMembers = [...]string{"name", "uri", "arguments", "_meta", "task", "taskId", "requestId", "cursor", "level", "protocolVersion", "capabilities", "notifications"}

// Params is what a transport has to know of a request's params, as JSON; nil for what is absent.
type Params struct {
	Name, URI, Arguments []byte
	Version, Caps, Token []byte // of _meta: the protocol version, the client's capabilities, the progress token
	Trace, State         []byte // of _meta: traceparent and tracestate
	Level                []byte // of _meta: the log level
}

// Inspect checks the params of a request without decoding them, and finds what the transport has to know. What is given
// twice, or in another letter case, is refused: two readers could disagree about what the request says. What is in the
// arguments of a tool is left to Unique. Its error is a *jsonrpc.RequestError, or a *jsonrpc.SyntaxError.
func Inspect(method string, params []byte) (m Params, err error) {
	if params != nil {
		if params[0] != '{' {
			return m, jsonrpc.Errorf(jsonrpc.KindInvalidParams, "Invalid params: params must be an object")
		}
		var keys keySet
		walk := jsonrpc.Members(params, func(key string, v []byte) bool {
			if err = keys.add("params", key); err != nil {
				return false
			}
			switch key {
			case "name":
				m.Name = v
			case "uri":
				m.URI = v
			case "arguments":
				m.Arguments = v
			case "_meta":
				err = m.read(v)
			default:
				for _, d := range routingMembers {
					if key != d && strings.EqualFold(key, d) {
						err = jsonrpc.Errorf(jsonrpc.KindInvalidRequest, "Invalid request: member %q of params differs from %q only in letter case", key, d)
					}
				}
			}
			return err == nil
		})
		if err == nil {
			err = walk
		}
		if err != nil {
			return m, err
		}
	}
	switch mcp.MCPMethod(method) {
	case mcp.MethodToolsCall:
		err = requireString(m.Name, "tool name", "name")
	case mcp.MethodPromptsGet:
		err = requireString(m.Name, "prompt name", "name")
	case mcp.MethodResourcesRead:
		err = requireString(m.URI, "resource uri", "uri")
	case mcp.MethodResourcesSubscribe, mcp.MethodResourcesUnsubscribe:
		if declared, _ := jsonrpc.String(m.Version); !mcp.IsModernProtocol(declared) { // that era has no such methods
			err = requireString(m.URI, "resource uri", "uri")
		}
	}
	return m, err
}

func requireString(v []byte, what, field string) error {
	if s, ok := jsonrpc.String(v); ok && s != "" {
		return nil
	}
	return jsonrpc.Errorf(jsonrpc.KindInvalidParams, "Missing %s", what).With("field", field).With("reason", "Field required")
}

func (m *Params) read(v []byte) error {
	if v[0] != '{' {
		return jsonrpc.Errorf(jsonrpc.KindInvalidParams, "Invalid params: _meta must be an object")
	}
	var keys keySet
	err := unique(&keys, "params._meta", v, func(key string, v []byte) {
		switch key {
		case mcp.MetaKeyProtocolVersion:
			m.Version = v
		case mcp.MetaKeyClientCapabilities:
			m.Caps = v
		case mcp.MetaKeyLogLevel:
			m.Level = v
		case "traceparent":
			m.Trace = v
		case "tracestate":
			m.State = v
		case "progressToken":
			if v[0] != 'n' {
				m.Token = v
			}
		}
	})
	if err == nil && len(m.Token) > MaxID {
		err = jsonrpc.Errorf(jsonrpc.KindInvalidParams, "Invalid params: the progress token is longer than %d bytes", MaxID).With("field", "_meta.progressToken")
	}
	return err
}

// Unique refuses an object whose member names are equal, or differ by letter case only. Anything but an object is let pass.
// where names the object in the error, such as params.arguments.
func Unique(where string, obj []byte) error {
	if len(obj) == 0 || obj[0] != '{' {
		return nil
	}
	var keys keySet
	return unique(&keys, where, obj, func(string, []byte) {})
}

// unique walks an object whose member names must differ by more than letter case.
func unique(keys *keySet, where string, obj []byte, f func(key string, v []byte)) (err error) {
	walk := jsonrpc.Members(obj, func(key string, v []byte) bool {
		if err = keys.add(where, key); err == nil {
			f(key, v)
		}
		return err == nil
	})
	if err == nil {
		err = walk
	}
	return err
}

// keySet finds member names that are equal but for letter case.
type keySet struct {
	few  [16]string
	n    int
	many map[string]struct{} // folded, once there are more than a few
}

func (k *keySet) add(where, key string) error {
	if k.many == nil {
		for _, have := range k.few[:k.n] {
			if strings.EqualFold(have, key) {
				return duplicate(where, key)
			}
		}
		if k.n < len(k.few) {
			k.few[k.n] = key
			k.n++
			return nil
		}
		k.many = map[string]struct{}{}
		for _, have := range k.few {
			k.many[Fold(have)] = struct{}{}
		}
	}
	f := Fold(key)
	if _, have := k.many[f]; have {
		return duplicate(where, key)
	}
	k.many[f] = struct{}{}
	return nil
}

func duplicate(where, key string) error {
	key = text.Clip(key, 64)
	return jsonrpc.Errorf(jsonrpc.KindInvalidRequest, "Invalid request: member %q of %s is given twice", strings.ToValidUTF8(key, "\uFFFD"), where).With("field", key)
}

// Fold maps names that strings.EqualFold calls equal to one spelling, as encoding/json does.
func Fold(s string) string {
	return strings.Map(func(r rune) rune {
		low := r
		for f := unicode.SimpleFold(r); f != r; f = unicode.SimpleFold(f) {
			low = min(low, f)
		}
		return low
	}, s)
}
