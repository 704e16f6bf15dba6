package config

import (
	"fmt"
	"path/filepath"
	"sort"
	"strconv"
	"strings"
	"time"
)

// entry is one server while it is read: its fields as written, and where each
// stands, so that a later problem can say so.
type entry struct {
	Server
	dialect  *Dialect
	doc      *document
	at       map[string][2]int // field path ("args[1]", "env.TOKEN") -> line, column
	problems []string
	given    string // the transport's name as written
	envFile  string
}

// problem flags the entry. field may be "".
func (e *entry) problem(field, format string, args ...any) {
	msg := fmt.Sprintf(format, args...)
	where := Source{File: e.Source.File, Line: e.Source.Line}
	if p, ok := e.at[field]; ok {
		where.Line = p[0]
	}
	if field != "" {
		msg = field + ": " + msg
	}
	e.problems = append(e.problems, fmt.Sprintf("%s (%s)", msg, where))
}

func (e *entry) note(field string, n node) {
	line, col := n.pos()
	e.at[field] = [2]int{line, col}
}

// readEntry decodes one server. Whatever is wrong with it becomes a problem of
// the entry, or a warning where the rest of the entry stands on its own.
func (r *reader) readEntry(name string, n node, src Source) *entry {
	d := r.doc
	e := &entry{Server: Server{Name: name, Source: src}, dialect: r.dialect, doc: d, at: map[string][2]int{}}
	if k := n.kind(); k != object {
		e.problem("", "is %s; write an object with command or url", k)
		return e
	}
	for _, m := range n.members() {
		field, known := r.dialect.field(m.key)
		switch {
		case !known:
			d.warnAt(m.line, m.col, "server %q: unknown key %q is ignored", clip(name), clip(m.key))
		case field != "":
			e.field(field, m.value)
		}
	}
	return e
}

func (e *entry) field(key string, n node) {
	if n.kind() == null {
		return // as if it were not there, in every dialect
	}
	e.note(key, n)
	switch key {
	case "type", "transport":
		if n.kind() == object { // mcp.yaml's shape: the transport is an object of its own
			e.transport(n)
			return
		}
		e.given = e.string(key, n)
	case "command":
		e.Command = e.string(key, n)
	case "args":
		e.Args = e.list(key, n)
	case "env":
		e.Env = e.pairs(key, n)
	case "envFile":
		e.envFile = e.string(key, n)
	case "cwd":
		e.Cwd = e.string(key, n)
	case "url":
		e.URL = e.string(key, n)
	case "headers":
		e.Headers = e.pairs(key, n)
	case "headersHelper":
		e.headersHelper(n)
	case "oauth":
		e.oauth(n)
	case "enabled":
		e.Disabled = e.Disabled || !e.bool(key, n, true)
	case "disabled":
		e.Disabled = e.Disabled || e.bool(key, n, false)
	case "auto_reconnect":
		e.NoReconnect = !e.bool(key, n, true)
	case "protocol":
		e.Protocol = e.string(key, n)
	case "roots":
		e.Roots = e.list(key, n)
	case "timeout":
		e.Timeout = e.duration(key, n)
	case "max_timeout":
		e.MaxTimeout = e.duration(key, n)
	case "connect_timeout":
		e.ConnectTimeout = e.duration(key, n)
	case "max_frame":
		e.MaxFrame = e.size(key, n)
	}
}

func (e *entry) transport(n node) {
	known := set("type", "command", "args", "url", "headers", "cwd", "env")
	for _, m := range n.members() {
		if !known[m.key] {
			e.doc.warnAt(m.line, m.col, "server %q: unknown key %q of transport is ignored", clip(e.Name), clip(m.key))
			continue
		}
		if m.key == "type" && m.value.kind() == object {
			e.problem("transport", "type is an object; write stdio, http or sse")
			continue
		}
		e.field(m.key, m.value)
	}
}

// string takes numbers and booleans as they are written: YAML's `PORT: 8080` means what it says.
func (e *entry) string(field string, n node) string {
	switch k := n.kind(); k {
	case str, scalar:
		return n.text()
	default:
		e.problem(field, "is %s; write a string", k)
		return ""
	}
}

func (e *entry) list(field string, n node) []string {
	if k := n.kind(); k != array {
		e.problem(field, "is %s; write a list of strings", k)
		return nil
	}
	var out []string
	for i, el := range n.elems() {
		f := field + "[" + strconv.Itoa(i) + "]"
		e.note(f, el)
		out = append(out, e.string(f, el))
	}
	return out
}

// pairs reads an object of strings, or a list of NAME=value.
func (e *entry) pairs(field string, n node) map[string]string {
	out := map[string]string{}
	switch k := n.kind(); k {
	case object:
		for _, m := range n.members() {
			f := field + "." + m.key
			e.note(f, m.value)
			if m.value.kind() == null {
				e.doc.warnAt(m.line, m.col, "server %q: %s has no value and is ignored", clip(e.Name), clip(f))
				continue
			}
			out[m.key] = e.string(f, m.value)
		}
	case array:
		for i, el := range n.elems() {
			f := field + "[" + strconv.Itoa(i) + "]"
			e.note(f, el)
			s := e.string(f, el)
			k, v, ok := strings.Cut(s, "=")
			if !ok {
				e.problem(f, "has no '='; write NAME=value")
				continue
			}
			e.at[field+"."+k] = e.at[f]
			out[k] = v
		}
	default:
		e.problem(field, "is %s; write NAME: value pairs", k)
	}
	return out
}

func (e *entry) bool(field string, n node, def bool) bool {
	switch n.text() {
	case "true":
		return true
	case "false":
		return false
	}
	e.problem(field, "is neither true nor false")
	return def
}

func (e *entry) duration(field string, n node) time.Duration {
	d, err := parseDuration(n)
	if err != nil {
		e.problem(field, "%v", err)
	}
	return d
}

// parseDuration reads "30s", or a number of milliseconds as other clients write it.
func parseDuration(n node) (time.Duration, error) {
	s := n.text()
	if n.kind() == scalar {
		ms, err := strconv.ParseInt(s, 10, 64)
		if err != nil || ms < 0 || ms > int64(365*24*time.Hour/time.Millisecond) {
			return 0, fmt.Errorf("%s is not a number of milliseconds; write for example 30s or 30000", clip(s))
		}
		return time.Duration(ms) * time.Millisecond, nil
	}
	d, err := time.ParseDuration(s)
	if err != nil || d < 0 {
		return 0, fmt.Errorf("%q is not a duration; write for example 30s, 5m or 200ms", clip(s))
	}
	return d, nil
}

func (e *entry) size(field string, n node) int64 {
	b, err := ParseSize(n.text())
	if err != nil {
		e.problem(field, "%v", err)
	}
	return b
}

// ParseSize reads a number of bytes: "65536", "512KiB", "64MiB", "1GiB" (KB, MB and GB are powers of 1000).
func ParseSize(s string) (int64, error) {
	units := []struct {
		suffix string
		bytes  int64
	}{{"KiB", 1 << 10}, {"MiB", 1 << 20}, {"GiB", 1 << 30}, {"KB", 1e3}, {"MB", 1e6}, {"GB", 1e9}, {"B", 1}, {"", 1}}
	for _, u := range units {
		digits, ok := strings.CutSuffix(s, u.suffix)
		if !ok {
			continue
		}
		v, err := strconv.ParseInt(strings.TrimSpace(digits), 10, 64)
		if err != nil || v <= 0 || v > (1<<40)/u.bytes {
			break
		}
		return v * u.bytes, nil
	}
	return 0, fmt.Errorf("%q is not a size; write for example 64MiB", clip(s))
}

// finish checks, after expansion, what would otherwise only fail at the start,
// and turns the problems into Server.Problem.
func (e *entry) finish() Server {
	e.check()
	if e.Cwd != "" && !filepath.IsAbs(e.Cwd) {
		e.Cwd = filepath.Join(filepath.Dir(e.Source.File), e.Cwd)
	}
	for i, r := range e.Roots {
		if !filepath.IsAbs(r) && !strings.Contains(r, "://") {
			e.Roots[i] = filepath.Join(filepath.Dir(e.Source.File), r)
		}
	}
	if len(e.problems) > 0 {
		e.Problem = &EntryError{Server: e.Name, Problems: e.problems}
	}
	return e.Server
}

// EntryError is what is wrong with one entry; each problem names its place.
type EntryError struct {
	Server   string
	Problems []string
}

// Error joins the problems.
func (e *EntryError) Error() string {
	return "server " + strconv.Quote(clip(e.Server)) + ": " + strings.Join(e.Problems, "; ")
}

func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	sort.Strings(keys)
	return keys
}
