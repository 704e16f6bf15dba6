package config

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/mcphud/mcphud/session/base/confine"
	"github.com/mcphud/mcphud/session/config/rewrite"
)

// Encode is a server as a file of that dialect with one entry, and what that shape cannot say: each a field, and why. The values
// of s are as they were written in the dialect of its Source (that of mcphud if it has none), see [Options.Literal]; variables are
// written as the dialect has them. No secret is masked: see [Server.Masked].
func Encode(dialect string, s Server) (entry []byte, lost []string, err error) {
	entry, lost, err = EncodeAll(dialect, []Server{s})
	for i := range lost {
		lost[i] = strings.TrimPrefix(lost[i], s.Name+": ")
	}
	return entry, lost, err
}

// EncodeAll is Encode for several servers in one file; what is lost begins with the name of a server.
func EncodeAll(dialect string, servers []Server) (file []byte, lost []string, err error) {
	d, err := dialectNamed(dialect)
	if err != nil {
		return nil, nil, err
	}
	doc, err := rewrite.Parse(d.newFile(), []byte(d.style().head))
	if err != nil {
		return nil, nil, err
	}
	for _, s := range servers {
		_, gone, err := d.put(doc, s)
		if err != nil {
			return nil, nil, err
		}
		for _, l := range gone {
			lost = append(lost, s.Name+": "+l)
		}
	}
	return doc.Bytes(), lost, nil
}

// DialectNames are those that Encode writes.
func DialectNames() (names []string) {
	for _, d := range dialects {
		names = append(names, d.Name)
	}
	return names
}

func dialectNamed(name string) (*Dialect, error) {
	i := slices.IndexFunc(dialects, func(d *Dialect) bool { return strings.EqualFold(d.Name, name) })
	if i < 0 {
		return nil, &EditError{Message: "unknown dialect: " + clip(name), Next: "write " + strings.Join(DialectNames(), ", ")}
	}
	return dialects[i], nil
}

// takenForVariable ends what [Encode] says of a text without variables that the other dialect would see some in.
const takenForVariable = "would take a part of the text for a variable"

// newFile is a name by which a file's format is known.
func (d *Dialect) newFile() string { return "new." + cmp.Or(d.style().format, "json") }

// program is how a dialect is called in a message.
func (d *Dialect) program() string { return cmp.Or(d.Title, d.Name) }

// put adds an entry to a document, and returns the path of it.
func (d *Dialect) put(doc *rewrite.Doc, s Server) (path, lost []string, err error) {
	at := d.list(doc)
	entry, lost := d.entry(s)
	key := s.Name
	if d.style().list || doc.IsList(at) {
		key = "-"
		id := "name"
		if !d.style().list {
			id = "id"
		}
		entry = append(rewrite.Object{{Key: id, Value: s.Name}}, entry...)
		if !doc.Has(at) {
			err = doc.Set(at, []any{entry})
			return append(slices.Clone(at), "0"), lost, err
		}
	}
	path = append(slices.Clone(at), key)
	return path, lost, doc.Set(path, entry)
}

// list is the path of the servers in a file: of those that the dialect can have the one that is there.
func (d *Dialect) list(doc *rewrite.Doc) []string {
	all := d.lists
	switch d {
	case mcphudDialect:
		all = [][]string{{"servers"}, {"mcpServers"}, {"mcp", "servers"}}
	case opencode:
		all = [][]string{{"mcp"}}
		if newer := d.lists[0]; doc.Has(newer) {
			return newer
		}
	}
	for _, l := range all {
		if doc.Has(l) {
			return l
		}
	}
	return all[0]
}

// said is a field of an entry with its value.
type said struct {
	field string
	value any
}

// fields are what s says, in the order that they are written in.
func (s Server) fields(y *style) (all []said) {
	add := func(field string, value any, is bool) {
		if is {
			all = append(all, said{field, value})
		}
	}
	add("command", s.Command, s.Command != "")
	add("args", s.Args, len(s.Args) > 0)
	add("cwd", s.Cwd, s.Cwd != "")
	add("sandbox", s.Sandbox, s.Sandbox != nil)
	add("url", s.URL, s.URL != "")
	add("launch", true, s.Launch)
	add("headers", s.Headers, len(s.Headers) > 0)
	add("headersHelper", s.HeadersHelper, len(s.HeadersHelper) > 0)
	add("env", s.Env, len(s.Env) > 0)
	add("envFile", s.EnvFile, s.EnvFile != "")
	add("oauth", s.OAuth, s.OAuth != nil)
	add("proxy", s.Proxy, s.Proxy != "")
	add("ca", s.CA, s.CA != "")
	add("client_cert", s.ClientCert, s.ClientCert != "")
	add("client_key", s.ClientKey, s.ClientKey != "")
	add("insecure", true, s.Insecure)
	add("protocol", s.Protocol, s.Protocol != "")
	add("roots", s.Roots, len(s.Roots) > 0)
	add("timeout", y.duration(s.Timeout), s.Timeout > 0)
	add("max_timeout", y.duration(s.MaxTimeout), s.MaxTimeout > 0)
	add("connect_timeout", y.duration(s.ConnectTimeout), s.ConnectTimeout > 0)
	add("max_frame", strconv.FormatInt(s.MaxFrame, 10)+"B", s.MaxFrame > 0)
	add("auto_reconnect", false, s.NoReconnect)
	return all
}

func (y *style) duration(d time.Duration) any {
	switch {
	case y.unit == 0:
		return d.String()
	case d%y.unit == 0:
		return int64(d / y.unit)
	}
	return float64(d) / float64(y.unit)
}

// entry is s as the dialect writes it.
func (d *Dialect) entry(s Server) (o rewrite.Object, lost []string) {
	y := d.style()
	from := mcphudDialect
	if i := slices.IndexFunc(dialects, func(d *Dialect) bool { return d.Name == s.Source.Dialect }); i >= 0 {
		from = dialects[i]
	}
	t := &translation{from: from.style().variables, to: y.variables, program: d.program()}
	if s.Source.Published != nil {
		t.from = literalText // what somebody published has no variables of this machine
	}
	if from == codex { // its fields that name variables are read as references
		t.from = inShell
	}
	if s.Launch && y.names != nil { // with both it would start something that says nothing to it, or ask which is meant
		s.Launch, s.Command, s.Args, s.Env, s.EnvFile, s.Cwd, s.Sandbox = false, "", nil, nil, "", "", nil
		t.noteLost("command", "%s does not start servers that serve a URL: start it yourself", d.program())
	}
	if y.own != nil {
		s = s.clone()
		o = y.own(&s, t)
	}
	kind, known := y.types[s.Transport]
	switch {
	case !known && y.names != nil:
		t.noteLost("transport", "%s has no %s", d.program(), s.Transport)
	case kind != "":
		o = append(o, rewrite.Member{Key: cmp.Or(y.typeKey, "type"), Value: kind})
	}
	for _, f := range s.fields(y) {
		name, ok := y.names[f.field]
		if y.names == nil {
			name, ok = f.field, true
		}
		if !ok {
			t.noteLost(f.field, "%s has no such setting", d.program())
			continue
		}
		if v, ok := y.value(t, name, f.field, f.value); ok {
			o = append(o, rewrite.Member{Key: name, Value: v})
		}
	}
	if s.Disabled && y.off.Key != "" {
		o = append(o, y.off)
	} else if s.Disabled {
		t.noteLost("disabled", "%s has no such setting", d.program())
	} else if y.on.Key != "" {
		o = append(o, y.on)
	}
	return o, t.lost
}

// value is that of a field as it is written; false for one of which nothing is left.
func (y *style) value(t *translation, name, field string, v any) (any, bool) {
	switch v := v.(type) {
	case string:
		return t.text(field, v), true
	case []string:
		if field == "headersHelper" {
			return t.text(field, commandLine(v)), true
		}
		out := make([]any, len(v))
		for i, s := range v {
			out[i] = t.text(index(field, i), s)
		}
		return out, true
	case map[string]string:
		out := rewrite.Object{}
		for _, k := range slices.Sorted(maps.Keys(v)) {
			out = append(out, rewrite.Member{Key: k, Value: t.text(field+"."+k, v[k])})
		}
		if name == "requestOptions" {
			return rewrite.Object{{Key: "headers", Value: out}}, true
		}
		return out, true
	case *confine.Rules:
		return encodedSandbox(v, t), true
	case *OAuth:
		o := v.encodeFor(y, t)
		return o, len(o) > 0
	}
	return v, true
}

// encodeFor is an oauth block as a dialect writes it.
func (a *OAuth) encodeFor(y *style, t *translation) (o rewrite.Object) {
	put := func(key string, value any) {
		name, ok := y.oauth[key]
		if y.oauth == nil {
			name, ok = key, true
		}
		if !ok {
			t.noteLost("oauth."+key, "%s has no such setting", t.program)
			return
		}
		o = append(o, rewrite.Member{Key: name, Value: value})
	}
	for _, one := range a.texts() {
		if *one.value != "" {
			put(one.key, t.text("oauth."+one.key, *one.value))
		}
	}
	if len(a.Scopes) > 0 {
		if y.oauth["scopes"] == "scope" { // one text
			put("scopes", strings.Join(a.Scopes, " "))
		} else {
			put("scopes", a.Scopes)
		}
	}
	if len(a.Params) > 0 {
		put("authorization_params", a.Params)
	}
	if a.DPoP {
		put("dpop", true)
	}
	return o
}

// clone is a copy whose maps and lists are its own.
func (s Server) clone() Server {
	s.Args, s.Env, s.Headers, s.Sandbox = slices.Clone(s.Args), maps.Clone(s.Env), maps.Clone(s.Headers), s.Sandbox.Clone()
	return s
}

// translation writes the variables of one dialect as another has them, and notes what it cannot.
type translation struct {
	from, to variables
	program  string
	lost     []string
}

func (t *translation) noteLost(field, format string, args ...any) {
	t.lost = append(t.lost, field+": "+fmt.Sprintf(format, args...))
}

// text is a value with its variables as the target writes them. One that it has no way to write stays as it is.
func (t *translation) text(field, s string) string {
	if t.from == t.to || !strings.Contains(s, "{") || t.from == literalText {
		if t.from == literalText && t.to != literalText && references[t.to]().MatchString(s) {
			t.noteLost(field, "%s "+takenForVariable, t.program)
		}
		return s
	}
	return replace(references[t.from](), s, func(m []string) string {
		name, def, own := reference(t.from, m)
		if own != "" && t.to == inEditor {
			return m[0]
		}
		if own == "userHome" {
			name = "HOME"
		} else if own != "" {
			t.noteLost(field, "%s knows no %s", t.program, clip(m[0]))
			return m[0]
		}
		if def != "" && t.to != inShell && t.to != literalText {
			t.noteLost(field, "%s has no default values: that of %s is gone", t.program, clip(name))
		}
		switch t.to {
		case inShell:
			return "${" + name + def + "}"
		case inEditor, inEnv:
			return "${env:" + name + "}"
		case inBraces:
			return "{env:" + name + "}"
		case inSecrets:
			return "${{ secrets." + name + " }}"
		}
		t.noteLost(field, "%s takes values as they are written: write the value of %s in its place", t.program, clip(name))
		return m[0]
	})
}
