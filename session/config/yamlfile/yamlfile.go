// Package yamlfile reads files in YAML that are mcphud's own: with the line and column of whatever is wrong, every key once, and nothing that
// JSON does not have.
package yamlfile

import (
	"encoding/json"
	"fmt"
	"regexp"
	"sync"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/token"

	"github.com/mcphud/mcphud/session/base/jsonrpc"
	"github.com/mcphud/mcphud/session/config"
)

// Member is a key of a file with where it is.
type Member struct {
	Key   string
	Pos   *token.Position
	Value ast.Node
}

// Reader reads one file.
type Reader struct{ File string }

// Wrong is the error of what stands at a position, nil for the file as a whole.
func (r Reader) Wrong(pos *token.Position, format string, args ...any) error {
	w := config.Warning{File: r.File, Malformed: true, Message: fmt.Sprintf(format, args...)}
	if pos != nil {
		w.Line, w.Col = pos.Line, pos.Column
	}
	return w
}

// Mapping is a value's members; false where it is not a mapping.
func (r Reader) Mapping(n ast.Node) ([]Member, bool, error) {
	var values []*ast.MappingValueNode
	switch n := n.(type) {
	case *ast.MappingNode:
		values = n.Values
	case *ast.MappingValueNode:
		values = []*ast.MappingValueNode{n}
	default:
		return nil, false, nil
	}
	out, err := r.each(values)
	return out, true, err
}

// Items are the items of a list; false where a value is not one.
func Items(n ast.Node) ([]ast.Node, bool) {
	seq, ok := n.(*ast.SequenceNode)
	if !ok {
		return nil, false
	}
	return seq.Values, true
}

// each is the members of a mapping.
func (r Reader) each(values []*ast.MappingValueNode) ([]Member, error) {
	var out []Member
	seen := map[string]bool{}
	for _, v := range values {
		pos := v.Key.GetToken().Position
		key, ok := keyOf(v.Key)
		switch {
		case !ok:
			return nil, r.Wrong(pos, "a key is not a plain word or a string")
		case seen[key]:
			return nil, r.Wrong(pos, "%.60q is there twice", key)
		}
		seen[key] = true
		out = append(out, Member{key, pos, v.Value})
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

// Text is a member's value, which must be a text.
func (r Reader) Text(m Member) (string, error) {
	value, err := r.JSON(m.Value)
	if err != nil {
		return "", err
	}
	text, ok := jsonrpc.String(value)
	if !ok || text == "" {
		return "", r.Wrong(m.Pos, "%s must be a text: put it in quotes", m.Key)
	}
	return text, nil
}

// number is what JSON takes for one. It is compiled when it is used: a short command should not wait for it.
var number = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?$`)
})

// JSON is a value as JSON, its members in their order and its numbers as they are written.
func (r Reader) JSON(n ast.Node) (out []byte, err error) {
	switch n := n.(type) {
	case nil, *ast.NullNode:
		return []byte("null"), nil
	case *ast.BoolNode:
		return fmt.Append(nil, n.Value), nil
	case *ast.StringNode:
		if n.GetToken().Type == token.StringType && number().MatchString(n.Value) { // such as 1E+5, which the parser does not know
			return []byte(n.Value), nil
		}
		return jsonrpc.Quote(n.Value), nil
	case *ast.LiteralNode:
		return jsonrpc.Quote(n.Value.Value), nil
	case *ast.IntegerNode:
		if text := n.GetToken().Value; number().MatchString(text) {
			return []byte(text), nil
		}
		return fmt.Append(nil, n.Value), nil // hexadecimal, or with underscores
	case *ast.FloatNode:
		if text := n.GetToken().Value; number().MatchString(text) {
			return []byte(text), nil
		}
		if out, err = json.Marshal(n.Value); err != nil {
			return nil, r.Wrong(n.GetToken().Position, "%.60s is not a number of JSON", n.GetToken().Value)
		}
		return out, nil
	case *ast.SequenceNode:
		out = append(out, '[')
		for i, v := range n.Values {
			item, err := r.JSON(v)
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
		return nil, r.Wrong(n.GetToken().Position, "anchors, aliases and tags are not read: write the value itself")
	default:
		return nil, r.Wrong(n.GetToken().Position, "%.60s is not a value of JSON: put it in quotes", n.GetToken().Value)
	}
}

func (r Reader) object(values []*ast.MappingValueNode) ([]byte, error) {
	all, err := r.each(values)
	if err != nil {
		return nil, err
	}
	out := []byte{'{'}
	for i, m := range all {
		v, err := r.JSON(m.Value)
		if err != nil {
			return nil, err
		}
		if i > 0 {
			out = append(out, ',')
		}
		out = append(append(append(out, jsonrpc.Quote(m.Key)...), ':'), v...)
	}
	return append(out, '}'), nil
}
