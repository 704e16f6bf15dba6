package views_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"io"
	"strings"
	"sync/atomic"

	"github.com/mcphud/mcphud/tui/tuitest"
)

// m is a JSON object.
type m = map[string]any

// evil serves s in every field that a server controls. Of three calls the first
// gives a result with every kind of content, the second a result with isError,
// the third a JSON-RPC error.
func evil(s string) tuitest.Serve {
	var calls atomic.Int64
	return func(_ context.Context, in io.Reader, out io.Writer) error {
		e := evilConn{s: s, out: out, calls: &calls}
		r := bufio.NewReaderSize(in, 64<<10)
		for {
			line, err := r.ReadBytes('\n')
			if err != nil {
				return nil
			}
			if e.frame(line) != nil {
				return nil
			}
		}
	}
}

type evilConn struct {
	s     string
	out   io.Writer
	calls *atomic.Int64
	reads int // of resources
}

func (e *evilConn) write(v any) error {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return err
	}
	_, err := e.out.Write(b.Bytes())
	return err
}

func (e *evilConn) note(method string, params m) {
	_ = e.write(m{"jsonrpc": "2.0", "method": method, "params": params})
}

// frame answers one frame.
func (e *evilConn) frame(line []byte) error {
	var r struct {
		ID     json.RawMessage
		Method string
		Params struct {
			Cursor *string
			URI    string
			Meta   struct{ ProgressToken any } `json:"_meta"`
		}
	}
	if json.Unmarshal(line, &r) != nil || r.ID == nil || r.Method == "" {
		return nil
	}
	s := e.s
	fail := func(code int) error {
		return e.write(m{"jsonrpc": "2.0", "id": r.ID, "error": m{"code": code, "message": s, "data": m{s: s, "list": []any{s}}}})
	}
	var result m
	switch r.Method {
	case "initialize":
		// Output that is not a frame, bytes that are not UTF-8 included.
		if _, err := io.WriteString(e.out, "stray "+oneLine(s)+"\n"); err != nil {
			return err
		}
		result = m{
			"protocolVersion": "2025-11-25",
			"capabilities": m{
				"tools": m{"listChanged": true, s: s}, "resources": m{"subscribe": true}, "prompts": m{}, "logging": m{}, "completions": m{},
				s: m{s: s}, "experimental": m{s: m{s: s}}, "extensions": m{"io.modelcontextprotocol/skills": m{s: s}, "x" + s: m{s: s}},
			},
			"serverInfo":   m{"name": s, "title": s, "version": s, "websiteUrl": s, "description": s, s: s, "icons": []any{m{"src": s, "mimeType": s}}},
			"instructions": s,
		}
	case "ping", "logging/setLevel":
		return fail(-32000)
	case "tools/list":
		if r.Params.Cursor == nil && s != "" {
			result = m{"tools": []any{e.tool(s)}, "nextCursor": s}
			break
		}
		result = m{"tools": []any{e.tool("b" + s), m{"name": 7, s: s}, s}}
	case "tools/call":
		return e.call(r.ID, r.Params.Meta.ProgressToken)
	case "resources/list":
		result = m{"resources": []any{
			m{"uri": s, "name": s, "title": s, "description": s, "mimeType": s, "size": 3, "annotations": m{"audience": []any{s}, s: s}, s: s},
			m{"uri": "x:" + s, "name": s, "mimeType": s},
			m{"uri": 1, "name": s},
		}}
	case "resources/templates/list":
		result = m{"resourceTemplates": []any{
			m{"uriTemplate": "x://{a}/" + s, "name": s, "title": s, "description": s, "mimeType": s},
			m{"uriTemplate": s + "{", "name": s},
		}}
	case "resources/subscribe", "resources/unsubscribe":
		result = m{}
	case "resources/read":
		if e.reads++; e.reads < 5 {
			defer e.note("notifications/resources/updated", m{"uri": r.Params.URI})
		}
		result = m{"contents": []any{
			m{"uri": s, "mimeType": s, "text": s + strings.Repeat("\n"+s, e.reads%2), "_meta": m{"ui": m{"csp": m{s: []any{s}}, "permissions": m{s: m{}}, s: s}}},
			m{"uri": s, "mimeType": "image/png", "blob": base64.StdEncoding.EncodeToString([]byte(s))},
			m{"uri": s, "mimeType": s, "blob": "not base64 " + s},
			m{"uri": s, s: s},
		}}
	case "skills/list":
		file := m{"uri": "skill://x/SKILL.md", "digest": "sha256:" + strings.Repeat("0", 64), "size": 3}
		result = m{"skills": []any{
			m{"uri": "skill://x/SKILL.md", "frontmatter": m{"name": "x", "description": s, s: s}, "resources": []any{file, m{"uri": "skill://x/" + s, "digest": file["digest"], "size": 0}}},
			m{"uri": s, "frontmatter": m{"name": s, "description": s}, "resources": s},
			s,
		}}
	case "prompts/list":
		result = m{"prompts": []any{m{
			"name": "a" + s, "title": s, "description": s,
			"arguments": []any{m{"name": s, "title": s, "description": s, "required": false}, m{"name": "x", "description": s}},
		}}}
	case "prompts/get":
		result = m{"description": s, "messages": []any{
			m{"role": s, "content": m{"type": "text", "text": s}},
			m{"role": "user", "content": m{"type": s, "text": s}},
			m{"role": "user", "content": s},
			s,
		}}
	case "completion/complete":
		result = m{"completion": m{"values": []any{s, "v" + s, "x"}, "total": 3}}
	default:
		return e.write(m{"jsonrpc": "2.0", "id": r.ID, "error": m{"code": -32601, "message": s, "data": s}})
	}
	return e.write(m{"jsonrpc": "2.0", "id": r.ID, "result": result})
}

func (e *evilConn) call(id json.RawMessage, token any) error {
	s := e.s
	for i, total := range []any{nil, 10} {
		p := m{"progressToken": token, "progress": i, "message": s}
		if total != nil {
			p["total"] = total
		}
		e.note("notifications/progress", p)
	}
	e.note("notifications/message", m{"level": s, "logger": s, "data": s})
	e.note("notifications/message", m{"level": "error", "logger": s, "data": m{s: s}})
	e.note("notifications/"+s, m{s: s})
	e.note("notifications/resources/updated", m{"uri": s})
	_ = e.write(m{"jsonrpc": "2.0", "id": s, "method": s, "params": m{s: s}})
	_ = e.write(m{"jsonrpc": "2.0", "id": s, "method": "elicitation/create", "params": m{"message": s, "requestedSchema": m{}}})
	_ = e.write(m{"jsonrpc": "2.0", "id": 987654, "result": m{s: s}}) // an answer that nobody asked for
	n := e.calls.Add(1)
	if n == 3 {
		return e.write(m{"jsonrpc": "2.0", "id": id, "error": m{"code": -32000, "message": s, "data": m{s: s}}})
	}
	png := base64.StdEncoding.EncodeToString([]byte("\x89PNG\r\n\x1a\n" + s))
	return e.write(m{"jsonrpc": "2.0", "id": id, "result": m{
		"content": []any{
			m{"type": "text", "text": s, "annotations": m{"audience": []any{s}, s: s}},
			m{"type": "text", "text": "# " + s + "\n\n- `" + s + "`\n- [" + s + "](" + s + ")\n\n```" + s + "\n" + s + "\n```\n\n| " + s + " | b |\n|---|---|\n| " + s + " | c |\n"},
			m{"type": "image", "data": png, "mimeType": "image/png"},
			m{"type": "image", "data": "!" + s, "mimeType": s},
			m{"type": "audio", "data": "AAAA", "mimeType": "audio/" + s},
			m{"type": "resource", "resource": m{"uri": s, "mimeType": s, "text": s}},
			m{"type": "resource", "resource": m{"uri": s, "mimeType": s, "blob": base64.StdEncoding.EncodeToString([]byte(s))}},
			m{"type": "resource_link", "uri": s, "name": s, "title": s, "description": s, "mimeType": s},
			m{"type": s, s: s},
			s,
		},
		"structuredContent": m{s: s, "list": []any{m{s: s}, s}},
		"isError":           n == 2,
		"_meta":             m{s: s},
	}})
}

// tool is a definition that has s wherever text can be.
func (e *evilConn) tool(name string) m {
	s := e.s
	text := func(more m) m {
		out := m{"type": "string", "title": s, "description": s, "examples": []any{s}, "$comment": s, s: s}
		for k, v := range more {
			out[k] = v
		}
		return out
	}
	return m{
		"name": name, "title": s, "description": s, s: s, "_meta": m{s: s, "ui": m{"resourceUri": s, "visibility": []any{s}, s: m{s: s}}},
		"icons":       []any{m{"src": s, "mimeType": s, "sizes": []any{s}}},
		"annotations": m{"title": s, "destructiveHint": true, s: s},
		"inputSchema": m{
			"type": "object", "title": s, "description": s, "$comment": s, s: s, "required": []any{"a", s},
			"properties": m{
				"a": text(nil), "default": text(m{"default": s}), "enum": text(m{"enum": []any{s, "y" + s}}), "const": text(m{"const": s}),
				"pattern": text(m{"pattern": s}), "format": text(m{"format": s}), "limits": text(m{"minLength": 3, "maxLength": 4}),
				s:        text(nil),
				"either": m{"oneOf": []any{m{"title": s, "type": "string"}, m{"title": "2" + s, "type": "object", "description": s, "properties": m{s: text(nil)}}}},
				"titled": m{"oneOf": []any{m{"const": s, "title": s}, m{"const": "b", "title": "t" + s}}},
				"list":   m{"type": "array", "items": text(nil), "default": []any{s, s}}, "map": m{"type": "object", "additionalProperties": text(nil), "default": m{s: s}},
				"number": m{"type": "integer", "title": s, "x-" + s: s}, "ref": m{"$ref": s}, "not": m{"not": m{"const": s}},
				"type": m{"type": s}, "depends": m{"type": "object", "dependentRequired": m{s: []any{s}}, "title": s},
			},
		},
		"outputSchema": m{"type": "object", "title": s, "properties": m{s: m{"type": "integer", "description": s}, "list": m{"type": "string"}}, "required": []any{"z" + s}},
	}
}

// oneLine keeps a stray line on one line.
func oneLine(s string) string {
	return string(bytes.ReplaceAll([]byte(s), []byte("\n"), []byte(" ")))
}

// serveLines answers each request with what answer gives for its method; false
// gives a JSON-RPC error.
func serveLines(in io.Reader, out io.Writer, answer func(method string) (any, bool)) error {
	r := bufio.NewReaderSize(in, 64<<10)
	for {
		line, err := r.ReadBytes('\n')
		if err != nil {
			return err
		}
		var req struct {
			ID     json.RawMessage
			Method string
		}
		if json.Unmarshal(line, &req) != nil || req.ID == nil || req.Method == "" {
			continue
		}
		reply := m{"jsonrpc": "2.0", "id": req.ID}
		if result, ok := answer(req.Method); ok && req.Method != "server/discover" {
			reply["result"] = result
		} else {
			reply["error"] = m{"code": -32601, "message": "no"}
		}
		frames := [][]byte{}
		for i, v := range []any{reply, m{"jsonrpc": "2.0", "method": "notifications/tools/list_changed"}} {
			b, err := json.Marshal(v)
			if err != nil {
				return err
			}
			if text, ok := reply["result"].(raw); ok && i == 0 {
				b = []byte(`{"jsonrpc":"2.0","id":` + string(req.ID) + `,"result":` + string(text) + `}`)
			}
			frames = append(frames, b, []byte("\n"))
			if req.Method == "initialize" || req.Method == "tools/list" {
				break // else asking and telling would never end
			}
		}
		if _, err := out.Write(bytes.Join(frames, nil)); err != nil {
			return err
		}
	}
}

// raw is a result that is sent as it stands: encoding/json refuses to nest it.
type raw string
