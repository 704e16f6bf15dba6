package lint

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/mcphud/mcphud/session/base/jsonrpc"
	"github.com/mcphud/mcphud/session/base/text"
	"github.com/mcphud/mcphud/session/check"
	"github.com/mcphud/mcphud/session/offer"
	"github.com/mcphud/mcphud/session/offer/schema"
)

// tool examines one tool by itself. What only the list shows is for together.
func (e *examiner) tool(it offer.Item) {
	v, ok := e.object(it.Raw)
	if !ok {
		return
	}
	e.tools.take(it, v)
	e.name(v, it)
	e.description(it)
	for _, m := range []struct {
		key  string
		kind schema.Kind
	}{{"title", schema.String}, {"description", schema.String}, {"icons", schema.Array}, {"annotations", schema.Object}, {"_meta", schema.Object}, {"execution", schema.Object}} {
		e.member(v, "", m.key, m.kind)
	}
	if ex := v.Get("execution").Get("taskSupport"); ex.IsSet() && !slices.Contains([]string{"required", "optional", "forbidden"}, ex.Text()) {
		e.add("lint/member-type", found{pointer: "/execution/taskSupport", message: "taskSupport is " + text.Clip(string(ex.JSON()), 60), evidence: excerpt(ex)})
	}
	e.annotations(v.Get("annotations"), it)
	e.icons(v)
	if err := offer.CheckHeaders(it); err != nil {
		e.add("lint/header-invalid", found{pointer: "/inputSchema", message: text.FirstLine(err.Error())})
	}
	if in := bytes.TrimSpace(it.InputSchema); len(in) == 0 || in[0] != '{' {
		e.add("lint/schema-missing", found{message: "inputSchema is " + orNone(string(in))})
	} else {
		e.walk(it.InputSchema, "/inputSchema", true)
	}
	if out := bytes.TrimSpace(it.OutputSchema); len(out) > 0 {
		if out[0] != '{' {
			e.add("lint/output-schema-type", found{pointer: "/outputSchema", message: "outputSchema is " + text.Clip(string(out), 60)})
		} else {
			e.walk(it.OutputSchema, "/outputSchema", false)
		}
	}
}

// object parses an item, or says that it is none; ok is false then, and nothing else of it can be examined.
func (e *examiner) object(raw []byte) (*schema.Value, bool) {
	if len(raw) > 2*maxBytes { // a definition may have two schemas, each with maxBytes of its own
		e.add("lint/too-large", found{message: fmt.Sprintf("the definition has %d bytes, more than the %d that are examined", len(raw), 2*maxBytes)})
		return nil, false
	}
	v, err := schema.ParseValue(raw)
	if err != nil || v.Kind() != schema.Object {
		e.add("lint/not-an-object", found{message: "the entry is " + text.Clip(string(raw), 60)})
		return nil, false
	}
	ms := v.Members()
	for i, m := range ms {
		if isDuplicate(ms, i) {
			e.add("lint/member-repeated", found{pointer: "/" + jsonrpc.EscapeToken(m.Name), message: text.Clip(m.Name, 60) + " is there twice"})
		}
	}
	return v, true
}

// member says where a member is of another kind than the protocol's. Null counts as absent for most, and not for the TypeScript SDK.
func (e *examiner) member(v *schema.Value, at, key string, kind schema.Kind) {
	m := v.Get(key)
	if m.IsSet() && m.Kind() != kind {
		f := found{pointer: at + "/" + key, message: fmt.Sprintf("%s is %s, not a JSON %s", key, text.Clip(string(m.JSON()), 60), kind), evidence: excerpt(m)}
		if m.Kind() == schema.Null {
			f.clients = []string{"typescript-sdk"}
		}
		e.add("lint/member-type", f)
	}
}

// description examines what a tool says of itself. Below 15 characters there is room for a name, and for no sentence.
func (e *examiner) description(it offer.Item) {
	d := strings.TrimSpace(it.Description)
	n := utf8.RuneCountInString(it.Description)
	switch {
	case d == "":
		e.add("lint/description-missing", found{message: "the tool has no description"})
	case sameWords(d, it.Name) || it.Title != "" && d == it.Title:
		e.add("lint/description-repeats-name", found{pointer: "/description", message: text.Clip(d, 60) + " is the name or title again", evidence: d})
	case n < 15:
		e.add("lint/description-short", found{pointer: "/description", message: fmt.Sprintf("the description has %d characters", n), evidence: d})
	}
	e.limits("lint/description-too-long", "/description", ofDescription, n, "the description has %d characters, %s takes %d")
}

// limits reports each limit of a client that n is beyond, of those about something. format has n, the client's title and its limit.
func (e *examiner) limits(id, pointer, about string, n int, format string) {
	for _, l := range limits {
		if l.about == about && n > l.most {
			sev := check.Warning
			e.add(id, found{pointer: pointer, key: l.client, message: fmt.Sprintf(format, n, title(l.client), l.most) + ": " + l.then, evidence: "source: " + l.source + ", read " + l.read, clients: []string{l.client}, severity: &sev, sure: check.Likely, harms: !l.errs})
		}
	}
}

// title is what texts call a client, its name where it is not known.
func title(name string) string {
	for _, c := range clients {
		if c.name == name {
			return c.title
		}
	}
	return name
}

// sameWords says whether a text is a name in other spelling.
func sameWords(d, name string) bool {
	return strings.TrimRight(plainName(d), "!") == plainName(name)
}

// hints are the annotations of a tool that are true or false.
var hints = []string{"readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint"}

// annotations examines the annotations of a tool: the types of those that are known, and names that are nearly theirs.
func (e *examiner) annotations(a *schema.Value, it offer.Item) {
	for _, m := range a.Members() {
		if a.Kind() != schema.Object {
			return
		}
		p := "/annotations/" + jsonrpc.EscapeToken(m.Name)
		switch {
		case slices.Contains(hints, m.Name):
			if m.Value.Kind() != schema.Bool {
				e.add("lint/annotation-type", found{pointer: p, message: fmt.Sprintf("%s is %s, not true or false", m.Name, text.Clip(string(m.Value.JSON()), 40)), evidence: excerpt(m.Value)})
			}
		case m.Name == "title":
			if m.Value.Kind() != schema.String {
				e.add("lint/annotation-type", found{pointer: p, message: "title is " + text.Clip(string(m.Value.JSON()), 40) + ", not a string"})
			}
		default:
			for _, h := range hints {
				if l := strings.ToLower(m.Name); len(l) < 40 && (text.Edits(l, strings.ToLower(h)) <= 2 || l == strings.ToLower(strings.TrimSuffix(h, "Hint"))) {
					e.add("lint/annotation-unknown", found{pointer: p, message: fmt.Sprintf("%s is not an annotation; %s is", m.Name, h), evidence: excerpt(m.Value)})
				}
			}
		}
	}
	e.meanings(it, a.Get("readOnlyHint").Bool(), a.Get("destructiveHint").Bool())
}

// meanings compares the hints with each other and with the name. A name is a hint too, so that this is likely only; a hint that is absent says nothing
// that a name could contradict.
func (e *examiner) meanings(it offer.Item, reads, destroys bool) {
	if reads && destroys {
		e.add("lint/annotation-contradiction", found{pointer: "/annotations", message: "readOnlyHint and destructiveHint are both true", evidence: string(it.Annotations)})
		return
	}
	words := wordsOf(it.Name)
	if len(words) == 0 {
		return
	}
	first := words[0]
	say := func(hint, word string) {
		e.add("lint/annotation-name", found{pointer: "/annotations/" + hint, message: fmt.Sprintf("%s is true, and the name says %s", hint, word), evidence: string(it.Annotations), sure: check.Likely})
	}
	ends := slices.ContainsFunc(words, func(s string) bool { return slices.Contains(endings, s) })
	switch {
	case reads && (slices.Contains(endings, first) || slices.Contains(writes, first) && len(words) > 1): // add alone may be arithmetic
		say("readOnlyHint", first)
	case destroys && !ends && slices.Contains(readings, first):
		say("destructiveHint", first)
	}
}

// Verbs that begin names, by what they do: endings take something away for good, writes change something, readings do neither.
var (
	endings  = []string{"delete", "remove", "drop", "destroy", "erase", "purge", "wipe", "truncate", "kill", "uninstall", "revoke"}
	writes   = []string{"create", "write", "update", "add", "insert", "put", "patch", "send", "post", "move", "rename", "upload", "edit", "install", "append", "save"}
	readings = []string{"get", "list", "read", "search", "find", "fetch", "query", "show", "describe", "count", "view", "lookup"}
)

// wordsOf are the words of a name in snake_case, kebab-case or camelCase, in lower case.
func wordsOf(name string) (out []string) {
	var b strings.Builder
	end := func() {
		if b.Len() > 0 {
			out = append(out, strings.ToLower(b.String()))
			b.Reset()
		}
	}
	lower := false
	for _, r := range name {
		switch {
		case r == '_' || r == '-' || r == '.' || r == '/' || r == ' ':
			end()
			lower = false
			continue
		case r >= 'A' && r <= 'Z' && lower:
			end()
		}
		lower = r >= 'a' && r <= 'z'
		b.WriteRune(r)
	}
	end()
	return out
}

// icons examines the icons of anything that has some.
func (e *examiner) icons(v *schema.Value) {
	list := v.Get("icons")
	if list.Kind() != schema.Array {
		return
	}
	for i, m := range list.Members() {
		at := fmt.Sprintf("/icons/%d", i)
		if m.Value.Kind() != schema.Object || m.Value.Get("src").Kind() != schema.String {
			e.add("lint/member-type", found{pointer: at, message: "an icon has to be an object with src", evidence: excerpt(m.Value)})
			continue
		}
		if t := m.Value.Get("theme"); t.IsSet() && t.Text() != "light" && t.Text() != "dark" {
			e.add("lint/member-type", found{pointer: at + "/theme", message: "theme is " + text.Clip(string(t.JSON()), 40) + ", not light or dark"})
		}
		e.member(m.Value, at, "mimeType", schema.String)
		src := strings.ToLower(m.Value.Get("src").Text())
		if !strings.HasPrefix(src, "https://") && !strings.HasPrefix(src, "http://") && !strings.HasPrefix(src, "data:") {
			e.add("lint/icon-source", found{pointer: at + "/src", message: "src is " + text.Clip(src, 60), evidence: excerpt(m.Value)})
		}
		sizes := m.Value.Get("sizes")
		if sizes.IsSet() && sizes.Kind() != schema.Array {
			e.member(m.Value, at, "sizes", schema.Array)
		}
		for j, s := range sizes.Members() {
			if s.Value.Kind() != schema.String {
				e.add("lint/member-type", found{pointer: fmt.Sprintf("%s/sizes/%d", at, j), message: "a size has to be a string", evidence: excerpt(sizes)})
			} else if !iconSize(s.Value.Text()) {
				e.add("lint/icon-size", found{pointer: fmt.Sprintf("%s/sizes/%d", at, j), message: "size " + text.Clip(s.Value.Text(), 40), evidence: excerpt(sizes)})
			}
		}
	}
}

// iconSize reports whether a size is as the specification has it: "48x48", or "any" for one that scales.
func iconSize(s string) bool { // no sign and no leading zero, as HTML has the sizes of a link
	if s == "any" {
		return true
	}
	w, h, ok := strings.Cut(s, "x")
	digits := func(s string) bool { return s != "" && strings.Trim(s, "0123456789") == "" && s[0] != '0' }
	return ok && digits(w) && digits(h)
}
