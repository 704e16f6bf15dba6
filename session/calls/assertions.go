package calls

import (
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/goccy/go-yaml/ast"

	"github.com/mcphud/mcphud/session/atomicfile"
	"github.com/mcphud/mcphud/session/expect"
	"github.com/mcphud/mcphud/session/failure"
	"github.com/mcphud/mcphud/session/jsonrpc"
)

const (
	maxRepeat = 10_000
	maxRetry  = 10 * time.Minute

	maxSchema = 8 << 20 // bytes of a schema's file
)

// usualEvery is how long a call that is tried again waits.
const usualEvery = 500 * time.Millisecond

// kinds are the errors that a call can be expected to end with.
var kinds = []failure.Kind{
	failure.RpcError, failure.NotFound, failure.InvalidToolName, failure.NeedsInput, failure.Timeout, failure.Protocol, failure.ChannelClosed, failure.Transport, failure.OAuth,
}

// assertion reads a member that says what the answer has to be, or what becomes of it.
func (r reader) assertion(c *Call, m member, value []byte) (known bool, err error) {
	need := func(what string) error { return r.wrong(m.pos, "%s must be %s", m.key, what) }
	switch m.key {
	case "expect":
		items, ok := r.items(m.value)
		if !ok {
			items = []ast.Node{m.value}
		}
		for _, n := range items {
			q, err := r.query(n, "expect")
			if err != nil {
				return true, err
			}
			c.Expect.Queries = append(c.Expect.Queries, q)
		}
	case "expectSchema":
		c.Expect.Schema, err = r.schema(m, value)
	case "expectError":
		c.Expect.Error, err = r.expectedError(m, value)
	case "isError":
		var is bool
		if json.Unmarshal(value, &is) != nil || string(value) == "null" {
			return true, need("true or false")
		}
		c.Expect.IsError = &is
	case "maxLatency":
		c.Expect.MaxLatency, err = r.duration(m)
	case "snapshot":
		c.Expect.Snapshot, err = r.snapshot(m, value)
	case "capture":
		members, ok, err := r.mapping(m.value)
		if err != nil || !ok {
			return true, errors.Join(err, need("a mapping of names to jq expressions"))
		}
		for _, one := range members {
			if !captureName(one.key) {
				return true, r.wrong(one.pos, "%.60q cannot be the name of a capture: letters, digits, _ and - are, a letter first", one.key)
			}
			q, err := r.query(one.value, "capture "+one.key)
			if err != nil {
				return true, err
			}
			c.Capture = append(c.Capture, Capture{one.key, q})
		}
	case "repeat":
		if json.Unmarshal(value, &c.Repeat) != nil || c.Repeat < 1 || c.Repeat > maxRepeat {
			return true, need(fmt.Sprintf("a number from 1 to %d", maxRepeat))
		}
	case "retry":
		c.Retry, err = r.retry(m)
	default:
		return false, nil
	}
	if c.Expect.Lines == nil {
		c.Expect.Lines = map[string][2]int{}
	}
	c.Expect.Lines[m.key] = [2]int{m.pos.Line, m.pos.Column}
	return true, err
}

// query reads a jq expression.
func (r reader) query(n ast.Node, what string) (*expect.Query, error) {
	pos := n.GetToken().Position
	value, err := r.json(n)
	if err != nil {
		return nil, err
	}
	text, ok := jsonrpc.String(value)
	if !ok {
		return nil, r.wrong(pos, "%s must be a jq expression, in quotes where YAML needs them", what)
	}
	q, err := expect.Parse(text)
	if err != nil {
		return nil, r.wrong(pos, "%s %v", what, err)
	}
	q.Line, q.Col = pos.Line, pos.Column
	return q, nil
}

// schema is a schema that stands in the file, or is in a file of its own.
func (r reader) schema(m member, value []byte) (*expect.Schema, error) {
	raw, name := value, "the schema here"
	switch file, ok := jsonrpc.String(value); {
	case ok:
		name = file
		at := file
		if !filepath.IsAbs(at) {
			at = filepath.Join(filepath.Dir(r.file), at)
		}
		var err error
		if raw, err = atomicfile.Read(at, maxSchema); err != nil {
			return nil, r.wrong(m.pos, "expectSchema: cannot read the schema: %v", err)
		}
	case len(value) == 0 || value[0] != '{':
		return nil, r.wrong(m.pos, "expectSchema must be a JSON Schema, or the name of a file with one")
	}
	s, err := expect.ParseSchema(name, raw)
	if err != nil {
		return nil, r.wrong(m.pos, "expectSchema: %s %v", name, err)
	}
	return s, nil
}

// expectedError is a code, a kind, or both.
func (r reader) expectedError(m member, value []byte) (*expect.Error, error) {
	e := &expect.Error{}
	one := func(m member) error {
		value, err := r.json(m.value)
		if err != nil {
			return err
		}
		if kind, ok := jsonrpc.String(value); ok {
			e.Kind = failure.Kind(kind)
			if kind == string(failure.ToolError) {
				return r.wrong(m.pos, "%s: a tool's own error is a result: isError: true expects it", m.key)
			}
			if !slices.Contains(kinds, e.Kind) {
				return r.wrong(m.pos, "%s: there is no kind %.40q; %s are", m.key, kind, kindList())
			}
			return nil
		}
		code, err := strconv.ParseInt(string(value), 10, 64)
		if err != nil {
			return r.wrong(m.pos, "%s must be a JSON-RPC code such as -32602, a kind such as %s, or a mapping with code and kind", m.key, failure.NotFound)
		}
		e.Code = &code
		return nil
	}
	members, ok, err := r.mapping(m.value)
	if err != nil {
		return nil, err
	}
	if !ok {
		return e, one(m)
	}
	for _, part := range members {
		if part.key != "code" && part.key != "kind" {
			return nil, r.wrong(part.pos, "expectError has code and kind, and not %.60q", part.key)
		}
		if err := one(part); err != nil {
			return nil, err
		}
	}
	if e.Code == nil && e.Kind == "" {
		return nil, r.wrong(m.pos, "expectError needs a code or a kind")
	}
	return e, nil
}

func kindList() string {
	var out []string
	for _, k := range kinds {
		out = append(out, string(k))
	}
	return strings.Join(out, ", ")
}

// snapshot is true, a file, or a mapping with file and ignore; nil for false.
func (r reader) snapshot(m member, value []byte) (*expect.Snapshot, error) {
	s := &expect.Snapshot{}
	file := func(m member) error {
		name, err := r.text(m)
		if err != nil {
			return err
		}
		if err := expect.CheckFile(name); err != nil {
			return r.wrong(m.pos, "%s: %v", m.key, err)
		}
		s.File = filepath.FromSlash(name)
		return nil
	}
	members, ok, err := r.mapping(m.value)
	switch {
	case err != nil:
		return nil, err
	case !ok && string(value) == "true":
		return s, nil
	case !ok && string(value) == "false":
		return nil, nil
	case !ok:
		return s, file(m)
	}
	for _, part := range members {
		switch part.key {
		case "file":
			if err := file(part); err != nil {
				return nil, err
			}
		case "ignore":
			items, ok := r.items(part.value)
			if !ok {
				items = []ast.Node{part.value}
			}
			for _, n := range items {
				pos := n.GetToken().Position
				value, err := r.json(n)
				if err != nil {
					return nil, err
				}
				place, ok := jsonrpc.String(value)
				if !ok {
					return nil, r.wrong(pos, "ignore must be JSON pointers, or jq expressions that name places")
				}
				if err := s.Ignore(place); err != nil {
					return nil, r.wrong(pos, "ignore %v", err)
				}
			}
		default:
			return nil, r.wrong(part.pos, "snapshot has file and ignore, and not %.60q", part.key)
		}
	}
	return s, nil
}

// retry is a time, or a mapping with for and every.
func (r reader) retry(m member) (out Retry, err error) {
	members, ok, err := r.mapping(m.value)
	if err != nil {
		return out, err
	}
	if out.Every = usualEvery; !ok {
		members = []member{{"for", m.pos, m.value}}
	}
	for _, part := range members {
		d, err := r.duration(part)
		if err != nil {
			return out, r.wrong(m.pos, "retry must be a time such as 10s, or a mapping with for and every")
		}
		switch part.key {
		case "for":
			out.For = d
		case "every":
			out.Every = max(d, 10*time.Millisecond)
		default:
			return out, r.wrong(part.pos, "retry has for and every, and not %.60q", part.key)
		}
	}
	if out.For == 0 || out.For > maxRetry {
		return out, r.wrong(m.pos, "retry: for must be a time up to %v", maxRetry)
	}
	return out, nil
}
