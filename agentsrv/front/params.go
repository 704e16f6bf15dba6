package front

import (
	"strconv"
	"strings"
	"unicode"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/mcphud/mcphud/session/jsonrpc"
)

// decisive are the members of params that somebody decides by: a spelling that differs in letter case would be read by
// encoding/json, but not by who decides.
var decisive = [...]string{"name", "uri", "arguments", "_meta", "task", "taskId", "requestId", "cursor", "level", "protocolVersion", "capabilities", "notifications"}

// meta is what _meta says about the request itself, as JSON.
type meta struct {
	version, caps, token []byte
}

// inspect checks the params of a request without decoding them, and finds what the transport has to know. What is given
// twice, or in another letter case, is refused: two readers could disagree about what the request says.
func inspect(method string, params []byte) (m meta, err error) {
	var name, uri []byte
	if params != nil {
		if params[0] != '{' {
			return m, jsonrpc.Fail(jsonrpc.FailParams, "Invalid params: params must be an object")
		}
		var keys keySet
		walk := jsonrpc.Members(params, func(key string, v []byte) bool {
			if err = keys.add("params", key); err != nil {
				return false
			}
			switch key {
			case "name":
				name = v
			case "uri":
				uri = v
			case "arguments":
				if v[0] == '{' {
					var args keySet
					err = unique(&args, "params.arguments", v, func(string, []byte) {})
				}
			case "_meta":
				err = m.read(v)
			default:
				for _, d := range decisive {
					if key != d && strings.EqualFold(key, d) {
						err = jsonrpc.Fail(jsonrpc.FailInvalid, "Invalid request: member %q of params differs from %q only in letter case", key, d)
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
		err = required(name, "tool name", "name")
	case mcp.MethodPromptsGet:
		err = required(name, "prompt name", "name")
	case mcp.MethodResourcesRead:
		err = required(uri, "resource uri", "uri")
	case mcp.MethodResourcesSubscribe, mcp.MethodResourcesUnsubscribe:
		if declared, _ := jsonrpc.String(m.version); !mcp.IsModernProtocol(declared) { // that era has no such methods
			err = required(uri, "resource uri", "uri")
		}
	}
	return m, err
}

func required(v []byte, what, field string) error {
	if s, ok := jsonrpc.String(v); ok && s != "" {
		return nil
	}
	return jsonrpc.Fail(jsonrpc.FailParams, "Missing %s", what).With("field", field).With("reason", "Field required")
}

func (m *meta) read(v []byte) error {
	if v[0] != '{' {
		return jsonrpc.Fail(jsonrpc.FailParams, "Invalid params: _meta must be an object")
	}
	var keys keySet
	return unique(&keys, "params._meta", v, func(key string, v []byte) {
		switch key {
		case mcp.MetaKeyProtocolVersion:
			m.version = v
		case mcp.MetaKeyClientCapabilities:
			m.caps = v
		case "progressToken":
			if v[0] != 'n' {
				m.token = v
			}
		}
	})
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
				return twice(where, key)
			}
		}
		if k.n < len(k.few) {
			k.few[k.n] = key
			k.n++
			return nil
		}
		k.many = map[string]struct{}{}
		for _, have := range k.few {
			k.many[fold(have)] = struct{}{}
		}
	}
	f := fold(key)
	if _, have := k.many[f]; have {
		return twice(where, key)
	}
	k.many[f] = struct{}{}
	return nil
}

func twice(where, key string) error {
	if len(key) > 64 {
		key = key[:64] + "…"
	}
	return jsonrpc.Fail(jsonrpc.FailInvalid, "Invalid request: member %q of %s is given twice", strings.ToValidUTF8(key, "\uFFFD"), where).With("field", key)
}

// fold maps names that strings.EqualFold calls equal to one spelling.
func fold(s string) string {
	return strings.Map(func(r rune) rune {
		low := r
		for f := unicode.SimpleFold(r); f != r; f = unicode.SimpleFold(f) {
			low = min(low, f)
		}
		return low
	}, s)
}

// size is a number of bytes as people write limits.
func size(n int64) string {
	switch {
	case n >= 1<<20 && n%(1<<20) == 0:
		return strconv.FormatInt(n>>20, 10) + " MiB"
	case n >= 1<<10 && n%(1<<10) == 0:
		return strconv.FormatInt(n>>10, 10) + " KiB"
	}
	return strconv.FormatInt(n, 10) + " bytes"
}
