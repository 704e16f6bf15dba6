package calls

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/token"

	"github.com/mcphud/mcphud/session/config"
	"github.com/mcphud/mcphud/session/jsonrpc"
)

// keys are the members of a file, in the order in which they are written.
var keys = []string{"note", "server", "command", "url", "tool", "prompt", "resource", "arguments", "secrets", "meta", "timeout", "expect"}

// methods are what the keys of targets stand for.
var methods = map[string]string{"tool": "tools/call", "prompt": "prompts/get", "resource": "resources/read"}

// member is a key of a file with where it is.
type member struct {
	key   string
	pos   *token.Position
	value ast.Node
}

// reader reads one file.
type reader struct{ file string }

func (r reader) wrong(pos *token.Position, format string, args ...any) error {
	w := config.Warning{File: r.file, Malformed: true, Message: fmt.Sprintf(format, args...)}
	if pos != nil {
		w.Line, w.Col = pos.Line, pos.Column
	}
	return w
}

// members are those of the whole file.
func (r reader) members(b []byte) ([]member, error) {
	root, err := config.YAML(r.file, b)
	if err != nil {
		return nil, err
	}
	switch root := root.(type) {
	case nil:
		return nil, r.wrong(nil, "is empty: it needs a tool, a prompt or a resource")
	case *ast.MappingNode:
		return r.each(root.Values)
	case *ast.MappingValueNode:
		return r.each([]*ast.MappingValueNode{root})
	default:
		return nil, r.wrong(root.GetToken().Position, "is not a mapping: it needs a tool, a prompt or a resource")
	}
}

// each is the members of a mapping.
func (r reader) each(values []*ast.MappingValueNode) ([]member, error) {
	var out []member
	seen := map[string]bool{}
	for _, v := range values {
		pos := v.Key.GetToken().Position
		key, ok := keyOf(v.Key)
		switch {
		case !ok:
			return nil, r.wrong(pos, "a key is not a plain word or a string")
		case seen[key]:
			return nil, r.wrong(pos, "%.60q is there twice", key)
		}
		seen[key] = true
		out = append(out, member{key, pos, v.Value})
	}
	return out, nil
}

func keyOf(n ast.MapKeyNode) (string, bool) {
	switch n := n.(type) {
	case *ast.StringNode:
		return n.Value, true
	case *ast.IntegerNode, *ast.FloatNode, *ast.BoolNode, *ast.NullNode:
		return n.GetToken().Value, true
	}
	return "", false
}

// parse reads a file's text.
func parse(path string, b []byte) (c Call, warnings []config.Warning, err error) {
	r := reader{path}
	c = Call{Name: strings.TrimSuffix(strings.TrimSuffix(filepath.Base(path), ".yaml"), ".yml"), File: path}
	all, err := r.members(b)
	if err != nil {
		return c, nil, err
	}
	servers, targets := 0, 0
	for _, m := range all {
		value, err := r.json(m.value)
		if err != nil {
			return c, nil, err
		}
		text, isText := jsonrpc.String(value)
		isText = isText && text != ""
		need := func(what string) error { return r.wrong(m.pos, "%s must be %s", m.key, what) }
		switch m.key {
		case "server", "url", "tool", "prompt", "resource", "note", "timeout":
			if !isText {
				return c, nil, need("a text")
			}
		case "arguments", "meta":
			if len(value) == 0 || value[0] != '{' {
				return c, nil, need("a mapping")
			}
		case "command", "secrets":
			if len(value) == 0 || value[0] != '[' {
				return c, nil, need("a list of texts")
			}
		}
		switch m.key {
		case "server":
			c.Server = text
			servers++
		case "url":
			c.URL = text
			servers++
		case "command":
			if json.Unmarshal(value, &c.Command) != nil || len(c.Command) == 0 || c.Command[0] == "" {
				return c, nil, need("a list of texts, the program first")
			}
			servers++
		case "tool", "prompt", "resource":
			c.Method, c.Target = methods[m.key], text
			targets++
		case "arguments":
			c.Arguments = value
		case "meta":
			c.Meta = value
		case "secrets":
			if json.Unmarshal(value, &c.Secrets) != nil || slices.ContainsFunc(c.Secrets, func(p string) bool { return !strings.HasPrefix(p, "/") }) {
				return c, nil, need("a list of JSON pointers into the arguments, such as /api_key")
			}
		case "timeout":
			if c.Timeout, err = time.ParseDuration(text); err != nil || c.Timeout <= 0 {
				return c, nil, need("a time such as 30s")
			}
		case "note":
			c.Note = text
		case "expect":
			c.Expect = value
		default:
			warnings = append(warnings, config.Warning{File: path, Line: m.pos.Line, Col: m.pos.Column, Message: fmt.Sprintf("unknown key %.60q; the keys are %s", m.key, strings.Join(keys, ", "))})
		}
	}
	switch {
	case targets != 1:
		return c, warnings, r.wrong(nil, "needs one of tool, prompt and resource")
	case servers > 1:
		return c, warnings, r.wrong(nil, "has more than one of server, command and url")
	}
	return c, warnings, nil
}

// number is what JSON takes for one.
var number = regexp.MustCompile(`^-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?$`)

// json is a value as JSON, its members in their order and its numbers as they are written.
func (r reader) json(n ast.Node) (out []byte, err error) {
	switch n := n.(type) {
	case nil, *ast.NullNode:
		return []byte("null"), nil
	case *ast.BoolNode:
		return fmt.Append(nil, n.Value), nil
	case *ast.StringNode:
		if n.GetToken().Type == token.StringType && number.MatchString(n.Value) { // such as 1E+5, which the parser does not know
			return []byte(n.Value), nil
		}
		return jsonrpc.Quote(n.Value), nil
	case *ast.LiteralNode:
		return jsonrpc.Quote(n.Value.Value), nil
	case *ast.IntegerNode:
		if text := n.GetToken().Value; number.MatchString(text) {
			return []byte(text), nil
		}
		return fmt.Append(nil, n.Value), nil // hexadecimal, or with underscores
	case *ast.FloatNode:
		if text := n.GetToken().Value; number.MatchString(text) {
			return []byte(text), nil
		}
		if out, err = json.Marshal(n.Value); err != nil {
			return nil, r.wrong(n.GetToken().Position, "%.60s is not a number of JSON", n.GetToken().Value)
		}
		return out, nil
	case *ast.SequenceNode:
		out = append(out, '[')
		for i, v := range n.Values {
			item, err := r.json(v)
			if err != nil {
				return nil, err
			}
			if i > 0 {
				out = append(out, ',')
			}
			out = append(out, item...)
		}
		return append(out, ']'), nil
	case *ast.MappingValueNode:
		return r.object([]*ast.MappingValueNode{n})
	case *ast.MappingNode:
		return r.object(n.Values)
	case *ast.AnchorNode, *ast.AliasNode, *ast.MergeKeyNode, *ast.TagNode:
		return nil, r.wrong(n.GetToken().Position, "anchors, aliases and tags are not read: write the value itself")
	default:
		return nil, r.wrong(n.GetToken().Position, "%.60s is not a value of JSON: put it in quotes", n.GetToken().Value)
	}
}

func (r reader) object(values []*ast.MappingValueNode) ([]byte, error) {
	all, err := r.each(values)
	if err != nil {
		return nil, err
	}
	out := []byte{'{'}
	for i, m := range all {
		v, err := r.json(m.value)
		if err != nil {
			return nil, err
		}
		if i > 0 {
			out = append(out, ',')
		}
		out = append(append(append(out, jsonrpc.Quote(m.key)...), ':'), v...)
	}
	return append(out, '}'), nil
}
