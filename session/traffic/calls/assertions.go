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

	"github.com/mcphud/mcphud/session/base/failure"
	"github.com/mcphud/mcphud/session/base/files"
	"github.com/mcphud/mcphud/session/base/jsonrpc"
	"github.com/mcphud/mcphud/session/config/yamlfile"
	"github.com/mcphud/mcphud/session/traffic/expect"
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
func (r reader) assertion(c *Call, m yamlfile.Member, value []byte) (known bool, err error) {
	need := func(what string) error { return r.Wrong(m.Pos, "%s must be %s", m.Key, what) }
	switch m.Key {
	case "expect":
		items, ok := yamlfile.Items(m.Value)
		if !ok {
			items = []ast.Node{m.Value}
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
		members, ok, err := r.Mapping(m.Value)
		if err != nil || !ok {
			return true, errors.Join(err, need("a mapping of names to jq expressions"))
		}
		for _, one := range members {
			if !captureName(one.Key) {
				return true, r.Wrong(one.Pos, "%.60q cannot be the name of a capture: letters, digits, _ and - are, a letter first", one.Key)
			}
			q, err := r.query(one.Value, "capture "+one.Key)
			if err != nil {
				return true, err
			}
			c.Capture = append(c.Capture, Capture{one.Key, q})
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
	c.Expect.Lines[m.Key] = [2]int{m.Pos.Line, m.Pos.Column}
	return true, err
}

// query reads a jq expression.
func (r reader) query(n ast.Node, what string) (*expect.Query, error) {
	pos := n.GetToken().Position
	value, err := r.JSON(n)
	if err != nil {
		return nil, err
	}
	text, ok := jsonrpc.String(value)
	if !ok {
		return nil, r.Wrong(pos, "%s must be a jq expression, in quotes where YAML needs them", what)
	}
	q, err := expect.Parse(text)
	if err != nil {
		return nil, r.Wrong(pos, "%s %v", what, err)
	}
	q.Line, q.Col = pos.Line, pos.Column
	return q, nil
}

// schema is a schema that stands in the file, or is in a file of its own.
func (r reader) schema(m yamlfile.Member, value []byte) (*expect.Schema, error) {
	raw, name := value, "the schema here"
	switch file, ok := jsonrpc.String(value); {
	case ok:
		name = file
		at := file
		if !filepath.IsAbs(at) {
			at = filepath.Join(filepath.Dir(r.File), at)
		}
		var err error
		if raw, err = files.Read(at, maxSchema); err != nil {
			return nil, r.Wrong(m.Pos, "expectSchema: cannot read the schema: %v", err)
		}
	case len(value) == 0 || value[0] != '{':
		return nil, r.Wrong(m.Pos, "expectSchema must be a JSON Schema, or the name of a file with one")
	}
	s, err := expect.ParseSchema(name, raw)
	if err != nil {
		return nil, r.Wrong(m.Pos, "expectSchema: %s %v", name, err)
	}
	return s, nil
}

// expectedError is a code, a kind, or both.
func (r reader) expectedError(m yamlfile.Member, value []byte) (*expect.Error, error) {
	e := &expect.Error{}
	one := func(m yamlfile.Member) error {
		value, err := r.JSON(m.Value)
		if err != nil {
			return err
		}
		if kind, ok := jsonrpc.String(value); ok {
			e.Kind = failure.Kind(kind)
			if kind == string(failure.ToolError) {
				return r.Wrong(m.Pos, "%s: a tool's own error is a result: isError: true expects it", m.Key)
			}
			if !slices.Contains(kinds, e.Kind) {
				return r.Wrong(m.Pos, "%s: there is no kind %.40q; %s are", m.Key, kind, kindList())
			}
			return nil
		}
		code, err := strconv.ParseInt(string(value), 10, 64)
		if err != nil {
			return r.Wrong(m.Pos, "%s must be a JSON-RPC code such as -32602, a kind such as %s, or a mapping with code and kind", m.Key, failure.NotFound)
		}
		e.Code = &code
		return nil
	}
	members, ok, err := r.Mapping(m.Value)
	if err != nil {
		return nil, err
	}
	if !ok {
		return e, one(m)
	}
	for _, part := range members {
		if part.Key != "code" && part.Key != "kind" {
			return nil, r.Wrong(part.Pos, "expectError has code and kind, and not %.60q", part.Key)
		}
		if err := one(part); err != nil {
			return nil, err
		}
	}
	if e.Code == nil && e.Kind == "" {
		return nil, r.Wrong(m.Pos, "expectError needs a code or a kind")
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
func (r reader) snapshot(m yamlfile.Member, value []byte) (*expect.Snapshot, error) {
	s := &expect.Snapshot{}
	file := func(m yamlfile.Member) error {
		name, err := r.Text(m)
		if err != nil {
			return err
		}
		if err := expect.CheckFile(name); err != nil {
			return r.Wrong(m.Pos, "%s: %v", m.Key, err)
		}
		s.File = filepath.FromSlash(name)
		return nil
	}
	members, ok, err := r.Mapping(m.Value)
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
		switch part.Key {
		case "file":
			if err := file(part); err != nil {
				return nil, err
			}
		case "ignore":
			items, ok := yamlfile.Items(part.Value)
			if !ok {
				items = []ast.Node{part.Value}
			}
			for _, n := range items {
				pos := n.GetToken().Position
				value, err := r.JSON(n)
				if err != nil {
					return nil, err
				}
				place, ok := jsonrpc.String(value)
				if !ok {
					return nil, r.Wrong(pos, "ignore must be JSON pointers, or jq expressions that name places")
				}
				if err := s.Ignore(place); err != nil {
					return nil, r.Wrong(pos, "ignore %v", err)
				}
			}
		default:
			return nil, r.Wrong(part.Pos, "snapshot has file and ignore, and not %.60q", part.Key)
		}
	}
	return s, nil
}

// retry is a time, or a mapping with for and every.
func (r reader) retry(m yamlfile.Member) (out Retry, err error) {
	members, ok, err := r.Mapping(m.Value)
	if err != nil {
		return out, err
	}
	if out.Every = usualEvery; !ok {
		members = []yamlfile.Member{{Key: "for", Pos: m.Pos, Value: m.Value}}
	}
	for _, part := range members {
		d, err := r.duration(part)
		if err != nil {
			return out, r.Wrong(m.Pos, "retry must be a time such as 10s, or a mapping with for and every")
		}
		switch part.Key {
		case "for":
			out.For = d
		case "every":
			out.Every = max(d, 10*time.Millisecond)
		default:
			return out, r.Wrong(part.Pos, "retry has for and every, and not %.60q", part.Key)
		}
	}
	if out.For == 0 || out.For > maxRetry {
		return out, r.Wrong(m.Pos, "retry: for must be a time up to %v", maxRetry)
	}
	return out, nil
}
