package config

import (
	"fmt"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"sort"
	"strconv"
	"strings"
	"time"

	"github.com/mcphud/mcphud/session/config/setup"
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
	refs     map[string]bool // fields that hold a variable's name, as ${NAME}, in whatever dialect
	declared []setup.Input   // what the file asks for
	keys     []string        // variables that the program keeps the values of
	base     string          // the folder that relative paths are below
	home     string          // the user's
}

// problem flags the entry. field may be "".
func (e *entry) problem(field, format string, args ...any) {
	msg := fmt.Sprintf(format, args...)
	where := Source{File: e.Source.File, Line: e.Source.Line}.String()
	if p, ok := e.at[field]; ok {
		where = fmt.Sprintf("%s:%d:%d", e.Source.File, p[0], p[1])
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
	e := &entry{Server: Server{Name: name, Source: src, path: n.path}, dialect: r.dialect, doc: d, at: map[string][2]int{}, declared: r.inputs, base: filepath.Dir(src.File)}
	if src.Project && r.cwd != "" { // the file can be in a folder of its program
		e.base = r.cwd
	}
	if k := n.kind(); k != object {
		e.note("", n)
		e.problem("", "is %s; write an object with command or url", k)
		return e
	}
	for _, m := range n.members() {
		field, known := r.dialect.field(m.key)
		own := r.dialect.read[m.key]
		switch {
		case own != nil:
			e.note(m.key, m.value)
			own(e, m.value)
		case !known:
			d.warnAt(m.line, m.col, "server %q: unknown key %q is ignored", clip(name), clip(m.key))
		case field != "":
			e.field(field, m.value)
		}
	}
	return e
}

func (e *entry) field(key string, n node) {
	if n.kind() == null && key != "sandbox" {
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
	case "sandbox":
		e.sandbox(n)
	case "url":
		e.URL = e.string(key, n)
	case "headers":
		e.Headers = mergeInto(e.Headers, e.pairs(key, n))
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
	case "proxy":
		e.Proxy = e.string(key, n)
	case "ca":
		e.CA = e.string(key, n)
	case "client_cert":
		e.ClientCert = e.string(key, n)
	case "client_key":
		e.ClientKey = e.string(key, n)
	case "launch":
		e.Launch = e.bool(key, n, false)
	case "insecure":
		e.Insecure = e.bool(key, n, false)
	}
}

// mergeInto adds to what another field of the entry gave.
func mergeInto(have, more map[string]string) map[string]string {
	if have == nil {
		return more
	}
	maps.Copy(have, more)
	return have
}

func (e *entry) transport(n node) {
	known := set("type", "command", "args", "url", "launch", "headers", "cwd", "env", "sandbox", "proxy", "ca", "client_cert", "client_key", "insecure")
	for _, m := range n.members() {
		if !known[m.key] {
			e.warnUnknown(m, "transport")
			continue
		}
		if m.key == "type" && m.value.kind() == object {
			e.problem("transport", "type is an object; write stdio, http or sse")
			continue
		}
		e.field(m.key, m.value)
	}
}

// warnUnknown warns of a member of one of the entry's objects.
func (e *entry) warnUnknown(m member, of string) {
	e.doc.warnAt(m.line, m.col, "server %q: unknown key %q of %s is ignored", clip(e.Name), clip(m.key), of)
}

// login is the oauth block, made where there is none.
func (e *entry) login() *OAuth {
	if e.OAuth == nil {
		e.OAuth = &OAuth{}
	}
	return e.OAuth
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

// seconds is a duration that is written as a number of seconds.
func (e *entry) seconds(field string, n node) time.Duration {
	s, err := strconv.ParseFloat(n.text(), 64)
	if err != nil || n.kind() != scalar || s < 0 || s > 365*24*3600 {
		e.problem(field, "%s is not a number of seconds", clip(n.text()))
		return 0
	}
	return time.Duration(s * float64(time.Second))
}

// reference makes a value the variable that n names.
func (e *entry) reference(field, format string, n node) string {
	name := e.string(field, n)
	if name == "" {
		return ""
	}
	if !variableName.MatchString(name) {
		e.problem(field, "%q cannot be the name of a variable", clip(name))
		return ""
	}
	return fmt.Sprintf(format, "${"+name+"}")
}

// refer notes that a field holds references.
func (e *entry) refer(field string) {
	if e.refs == nil {
		e.refs = map[string]bool{}
	}
	e.refs[field] = true
}

// header sets a header to the variable that n names.
func (e *entry) header(field, name, format string, n node) {
	if v := e.reference(field, format, n); v != "" {
		e.Headers = mergeInto(e.Headers, map[string]string{name: v})
		e.at["headers."+name] = e.at[field]
		e.refer("headers." + name)
	}
}

var variableName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

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
	if e.Cwd != "" {
		e.Cwd = e.absPath(e.Cwd)
	}
	if e.Sandbox != nil {
		e.Sandbox.Resolve(e.base, e.home)
	}
	for _, file := range []*string{&e.CA, &e.ClientCert, &e.ClientKey} {
		if *file != "" {
			*file = e.absPath(*file)
		}
	}
	for i, r := range e.Roots {
		if !filepath.IsAbs(r) && !strings.Contains(r, "://") {
			e.Roots[i] = e.absPath(r)
		}
	}
	if len(e.problems) > 0 {
		e.Problem = &EntryError{Server: e.Name, Problems: e.problems}
	}
	return e.Server
}

// absPath is a path of the entry, absolute.
func (e *entry) absPath(path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(e.base, path)
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

// clone is e with values of its own, to expand them.
func (e *entry) clone() *entry {
	c := *e
	c.Args, c.Roots, c.HeadersHelper = slices.Clone(e.Args), slices.Clone(e.Roots), slices.Clone(e.HeadersHelper)
	c.Env, c.Headers = maps.Clone(e.Env), maps.Clone(e.Headers)
	c.problems = slices.Clone(e.problems)
	c.Sandbox = e.Sandbox.Clone()
	if e.OAuth != nil {
		a := *e.OAuth
		a.Scopes, a.Params = slices.Clone(a.Scopes), maps.Clone(a.Params)
		c.OAuth = &a
	}
	return &c
}

func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	sort.Strings(keys)
	return keys
}
