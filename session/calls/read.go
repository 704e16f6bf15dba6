package calls

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/token"

	"github.com/mcphud/mcphud/session/config"
	"github.com/mcphud/mcphud/session/expect"
	"github.com/mcphud/mcphud/session/jsonrpc"
)

// keys are the members of a file of one call, in the order in which they are written.
var keys = []string{
	"note", "server", "command", "url", "tool", "prompt", "resource", "arguments", "secrets", "meta", "timeout",
	"expect", "expectSchema", "expectError", "isError", "maxLatency", "snapshot", "capture", "repeat", "retry",
}

// ofServer are those that say which server it is: with steps they are beside these. ofSteps are all that can be.
var (
	ofServer = []string{"server", "command", "url"}
	ofSteps  = []string{"note", "server", "command", "url", "timeout", "steps"}
)

// methods are what the keys of targets stand for.
var methods = map[string]string{"tool": "tools/call", "prompt": "prompts/get", "resource": "resources/read"}

// member is a key of a file with where it is.
type member struct {
	key   string
	pos   *token.Position
	value ast.Node
}

// mapping is a value's members; false where it is not a mapping.
func (r reader) mapping(n ast.Node) ([]member, bool, error) {
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

// items are the items of a list; false where a value is not one.
func (r reader) items(n ast.Node) ([]ast.Node, bool) {
	seq, ok := n.(*ast.SequenceNode)
	if !ok {
		return nil, false
	}
	return seq.Values, true
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
	switch {
	case err != nil:
		return nil, err
	case root == nil:
		return nil, r.wrong(nil, "is empty: it needs a tool, a prompt or a resource")
	}
	all, ok, err := r.mapping(root)
	if !ok {
		return nil, r.wrong(root.GetToken().Position, "is not a mapping: it needs a tool, a prompt or a resource")
	}
	return all, err
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
func parse(path string, b []byte) (f File, warnings []config.Warning, err error) {
	r := reader{path}
	f = File{Name: strings.TrimSuffix(strings.TrimSuffix(filepath.Base(path), ".yaml"), ".yml"), Path: path}
	all, err := r.members(b)
	if err != nil {
		return f, nil, err
	}
	steps := slices.IndexFunc(all, func(m member) bool { return m.key == "steps" })
	whole := Call{Name: f.Name, File: path}
	servers := 0
	for _, m := range all {
		if slices.Contains(ofServer, m.key) {
			servers++
		}
		switch {
		case m.key == "steps":
			continue
		case steps >= 0 && slices.Contains(keys, m.key) && !slices.Contains(ofSteps, m.key):
			return f, nil, r.wrong(m.pos, "%s is of a single call: put it into a step", m.key)
		}
		known, err := r.member(&whole, m)
		if err != nil {
			return f, nil, err
		}
		if !known {
			allowed := keys
			if steps >= 0 {
				allowed = ofSteps
			}
			warnings = append(warnings, r.unknown(m, append(slices.Clone(allowed), "steps")))
		}
	}
	if servers > 1 {
		return f, warnings, r.wrong(nil, "has more than one of server, command and url")
	}
	if steps < 0 {
		whole.Line = 1
		if err := r.finish(&whole, nil); err != nil {
			return f, warnings, err
		}
		f.Calls = []Call{whole}
		return f, warnings, nil
	}
	f.Steps = true
	more, err := r.steps(&f, whole, all[steps])
	return f, append(warnings, more...), err
}

func (r reader) unknown(m member, known []string) config.Warning {
	return config.Warning{File: r.file, Line: m.pos.Line, Col: m.pos.Column, Message: fmt.Sprintf("unknown key %.60q; the keys are %s", m.key, strings.Join(slices.Compact(known), ", "))}
}

// maxSteps is how many steps a file may have.
const maxSteps = 1000

// steps reads the calls of a file of several.
func (r reader) steps(f *File, whole Call, all member) (warnings []config.Warning, err error) {
	items, ok := r.items(all.value)
	if !ok || len(items) == 0 || len(items) > maxSteps {
		return nil, r.wrong(all.pos, "steps must be a list of 1 to %d calls", maxSteps)
	}
	seen := map[string]bool{}
	for i, item := range items {
		pos := item.GetToken().Position
		members, ok, err := r.mapping(item)
		if err != nil {
			return nil, err
		}
		if !ok || len(members) == 0 {
			return nil, r.wrong(pos, "a step must be a mapping with a tool, a prompt or a resource")
		}
		c, name := whole, strconv.Itoa(i+1)
		c.Note, c.Line = "", members[0].pos.Line
		for _, m := range members {
			if m.key == "name" {
				text, err := r.text(m)
				if err != nil {
					return nil, err
				}
				if err := CheckName(text); err != nil {
					return nil, r.wrong(m.pos, "%v", err)
				}
				name = text
				continue
			}
			if slices.Contains(ofServer, m.key) {
				return nil, r.wrong(m.pos, "%s is of the whole file: put it beside steps", m.key)
			}
			known, err := r.member(&c, m)
			if err != nil {
				return nil, err
			}
			if !known {
				warnings = append(warnings, r.unknown(m, append([]string{"name"}, slices.DeleteFunc(slices.Clone(keys), func(k string) bool { return slices.Contains(ofServer, k) })...)))
			}
		}
		if seen[name] {
			return nil, r.wrong(pos, "two steps have the name %q", name)
		}
		seen[name] = true
		c.Name = f.Name + "/" + name
		if err := r.finish(&c, pos); err != nil {
			return nil, err
		}
		f.Calls = append(f.Calls, c)
	}
	return warnings, nil
}

// text is a member's value, which must be a text.
func (r reader) text(m member) (string, error) {
	value, err := r.json(m.value)
	if err != nil {
		return "", err
	}
	text, ok := jsonrpc.String(value)
	if !ok || text == "" {
		return "", r.wrong(m.pos, "%s must be a text", m.key)
	}
	return text, nil
}

// duration is a member's value, which must be a time above 0.
func (r reader) duration(m member) (time.Duration, error) {
	text, err := r.text(m)
	d, bad := time.ParseDuration(text)
	if err != nil || bad != nil || d <= 0 {
		return 0, r.wrong(m.pos, "%s must be a time such as 30s", m.key)
	}
	return d, nil
}

// member reads one member of a call; known is false for one that is not of a call.
func (r reader) member(c *Call, m member) (known bool, err error) {
	value, err := r.json(m.value)
	if err != nil {
		return false, err
	}
	need := func(what string) error { return r.wrong(m.pos, "%s must be %s", m.key, what) }
	texts := func() (all []string, ok bool) {
		return all, len(value) > 0 && value[0] == '[' && json.Unmarshal(value, &all) == nil
	}
	object := func(to *json.RawMessage) error {
		if len(value) == 0 || value[0] != '{' {
			return need("a mapping")
		}
		*to = value
		return nil
	}
	switch m.key {
	case "server":
		c.Server, err = r.text(m)
	case "url":
		c.URL, err = r.text(m)
	case "note":
		c.Note, err = r.text(m)
	case "command":
		all, ok := texts()
		if c.Command = all; !ok || len(all) == 0 || all[0] == "" {
			return true, need("a list of texts, the program first")
		}
	case "tool", "prompt", "resource":
		if c.Method != "" {
			return true, r.wrong(m.pos, "needs one of tool, prompt and resource, and has several")
		}
		c.Method = methods[m.key]
		c.Target, err = r.text(m)
	case "arguments":
		err = object(&c.Arguments)
	case "meta":
		err = object(&c.Meta)
	case "secrets":
		all, ok := texts()
		if c.Secrets = all; !ok || slices.ContainsFunc(all, func(p string) bool { return !strings.HasPrefix(p, "/") }) {
			return true, need("a list of JSON pointers into the arguments, such as /api_key")
		}
	case "timeout":
		c.Timeout, err = r.duration(m)
	default:
		return r.assertion(c, m, value)
	}
	return true, err
}

// finish refuses a call that is not complete, or whose members do not go together.
func (r reader) finish(c *Call, pos *token.Position) error {
	if c.Method == "" {
		return r.wrong(pos, "needs one of tool, prompt and resource")
	}
	if c.Expect.Snapshot != nil {
		if c.Expect.Snapshot.Dir = filepath.Dir(c.File); c.Expect.Snapshot.File == "" {
			c.Expect.Snapshot.File = strings.ReplaceAll(c.Name, "/", ".") + ".snapshot.json"
		}
	}
	if e := c.Expect; e.Error != nil && (e.Snapshot != nil || e.Schema != nil || e.IsError != nil || len(c.Capture) > 0) {
		at := e.Lines[expect.OfError]
		return r.wrong(&token.Position{Line: at[0], Column: at[1]}, "expectError does not go with isError, expectSchema, snapshot and capture: there is no result")
	}
	return nil
}

// number is what JSON takes for one.
var number = lazily(`^-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?$`)

// lazily compiles an expression when it is used: a short command should not wait for it.
func lazily(expr string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expr) })
}

// json is a value as JSON, its members in their order and its numbers as they are written.
func (r reader) json(n ast.Node) (out []byte, err error) {
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
