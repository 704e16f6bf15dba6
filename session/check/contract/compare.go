package contract

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/mcphud/mcphud/session/base/jsonrpc"
	"github.com/mcphud/mcphud/session/base/text"
	"github.com/mcphud/mcphud/session/check"
	"github.com/mcphud/mcphud/session/check/rules"
	"github.com/mcphud/mcphud/session/offer"
	"github.com/mcphud/mcphud/session/offer/schema"
)

// Change is one difference between two contracts. Its texts come from the server.
type Change struct {
	Rule    string // "contract/tool-removed"
	Class   Class
	Place   check.Place
	Message string // without the place
	Before  string // what it was, as text or JSON; "" for nothing
	After   string // what it is now, alike
}

// Compare lists what changed from one contract of a server to another, the worst first. Its name, version and protocol are not compared, nor is a list
// that could not be read on either side.
func Compare(before, after *Contract) []Change {
	c := &comparison{}
	server := check.Place{Kind: check.OfServer}
	if before.Instructions != after.Instructions {
		c.add("instructions", server, textChange("instructions", before.Instructions, after.Instructions), before.Instructions, after.Instructions)
	}
	c.capabilities(before.Capabilities, after.Capabilities)
	for _, k := range kinds() {
		if after.Unknown[k] != nil || before.Unknown[k] != nil {
			continue
		}
		c.list(k, before.Lists[k], after.Lists[k])
	}
	return c.sortedChanges()
}

// unknown stands for a definition that was not kept. It counts as a hash, so that it is not compared. Where neither side was kept nothing is said:
// nobody knows whether the two are the same.
const unknown = `{"bytes":0}`

// CompareList lists what changed in a list of definitions by their keys, the worst first. A definition that is not known any more is empty: it is
// unreadable where the other side knows it, and gone or new like any other where that does not have its key.
func CompareList(k offer.Kind, before, after map[string][]byte) []Change {
	c := &comparison{}
	list := func(in map[string][]byte) map[string]string {
		out := make(map[string]string, len(in))
		for key, raw := range in {
			if out[clean(key)] = unknown; len(raw) > 0 {
				out[clean(key)] = Canonical(raw)
			}
		}
		return out
	}
	c.list(k, list(before), list(after))
	return c.sortedChanges()
}

// Worst is the class of the worst change, "" for none.
func Worst(changes []Change) Class {
	for _, class := range Classes() {
		if slices.ContainsFunc(changes, func(c Change) bool { return c.Class == class }) {
			return class
		}
	}
	return ""
}

// comparison collects changes.
type comparison struct{ out []Change }

// add takes a change by the name of its rule.
func (c *comparison) add(name string, at check.Place, message, before, after string) {
	r := rules.Find("contract", "contract/"+name)
	c.out = append(c.out, Change{r.ID, Class(r.Class), at, message, before, after})
}

func (c *comparison) sortedChanges() []Change {
	Sort(c.out)
	return c.out
}

// Sort puts the worst changes first, and keeps the order of others.
func Sort(changes []Change) {
	rank := map[Class]int{}
	for i, class := range Classes() {
		rank[class] = i
	}
	slices.SortStableFunc(changes, func(a, b Change) int { return cmp.Compare(rank[a.Class], rank[b.Class]) })
}

// words is how rules name the items of a list.
func words(k offer.Kind) (rule string) {
	switch k {
	case offer.Prompts:
		return "prompt"
	case offer.Resources:
		return "resource"
	case offer.Templates:
		return "template"
	}
	return "tool"
}

// place is that of an item by its key, name or URI as its kind has it.
func place(k offer.Kind, key, pointer string) check.Place {
	return check.PlaceOf(k, offer.Item{Name: key, URI: key}, pointer)
}

// list compares two lists by the keys of their items, whose order means nothing. A key that changed is an item that is gone and one that is new.
func (c *comparison) list(k offer.Kind, before, after map[string]string) {
	var removed, added []string
	for _, key := range slices.Sorted(maps.Keys(before)) {
		now, there := after[key]
		switch {
		case !there:
			removed = append(removed, key)
		case now != before[key]:
			c.item(k, key, before[key], now)
		}
	}
	for _, key := range slices.Sorted(maps.Keys(after)) {
		if _, there := before[key]; !there {
			added = append(added, key)
		}
	}
	to := definitions(added, after)
	for _, key := range removed {
		msg := "was removed"
		if to := findRenamed(k, before[key], to); to != "" {
			msg += "; " + text.Clip(to, 80) + " has the same definition: was it renamed?"
		}
		c.add(words(k)+"-removed", place(k, key, ""), msg, strings.TrimPrefix(before[key], unknown), "")
	}
	for _, key := range added {
		c.add(words(k)+"-added", place(k, key, ""), "was added", "", after[key])
	}
}

// definition is one that was read.
type definition struct {
	key   string
	value *schema.Value
}

// definitions are those of some keys that can be read, none where there are very many: each item that is gone is compared with all of them.
func definitions(keys []string, list map[string]string) (out []definition) {
	if len(keys) > 1000 {
		return nil
	}
	for _, key := range keys {
		if v, ok := canonicalValue(list[key]); ok && !isHash(list[key]) {
			out = append(out, definition{key, v})
		}
	}
	return out
}

// findRenamed returns the key of the first added item that may be one that is gone: it takes the same arguments, or says the same. A schema without
// properties is that of many tools, so that the description counts too. It is a question in a message, and changes no class.
func findRenamed(k offer.Kind, gone string, added []definition) string {
	was, ok := canonicalValue(gone)
	if !ok || isHash(gone) {
		return ""
	}
	for _, is := range added {
		same := func(m string) bool { return was.Get(m).IsSet() && schema.Equal(was.Get(m), is.value.Get(m)) }
		switch {
		case k == offer.Tools && same("inputSchema") && (was.Get("inputSchema").Get("properties").Len() > 0 || same("description")),
			k == offer.Prompts && (was.Get("arguments").Len() > 0 && same("arguments") || same("description")),
			(k == offer.Resources || k == offer.Templates) && same("name"):
			return is.key
		}
	}
	return ""
}

// item compares two definitions of one thing, member by member. A member that has no rule of its own is metadata, whatever it may mean.
func (c *comparison) item(k offer.Kind, key, before, after string) {
	was, ok1 := canonicalValue(before)
	is, ok2 := canonicalValue(after)
	if !ok1 || !ok2 || isHash(before) || isHash(after) {
		c.add("unreadable", place(k, key, ""), "changed, and is too large or too broken to be compared", "", "")
		return
	}
	names := map[string]bool{}
	for _, m := range append(slices.Clip(was.Members()), is.Members()...) {
		names[m.Name] = true
	}
	for _, name := range slices.Sorted(maps.Keys(names)) {
		a, b := was.Get(name), is.Get(name)
		if schema.Equal(a, b) {
			continue
		}
		at := place(k, key, "/"+jsonrpc.EscapeToken(name))
		switch {
		case name == "description":
			c.add("description", at, textChange("description", a.Text(), b.Text()), a.Text(), b.Text())
		case name == "inputSchema" && k == offer.Tools:
			c.input(at, a, b)
		case name == "outputSchema" && k == offer.Tools:
			c.output(at, a, b)
		case name == "annotations" && k == offer.Tools:
			c.hints(at, a, b)
		case name == "execution" && k == offer.Tools:
			c.add("execution-changed", at, schema.Became(name, a, b), str(a), str(b))
		case name == "arguments" && k == offer.Prompts:
			c.arguments(at, a, b)
		case name == "mimeType":
			c.add("mime-type", at, schema.Became(name, a, b), a.Text(), b.Text())
		case name == "_meta":
			c.meta(at, a, b)
		default:
			c.add("metadata", at, schema.Became(name, a, b), str(a), str(b))
		}
	}
}

// str is a value as JSON, "" for one that is not there.
func str(v *schema.Value) string {
	if !v.IsSet() {
		return ""
	}
	return string(v.JSON())
}

// textChange says where two texts part: what is between what both begin and both end with, with up to 15 characters before it.
func textChange(what, before, after string) string {
	switch {
	case before == "":
		return what + " added: " + text.Clip(quoteString(after), 100)
	case after == "":
		return what + " removed: " + text.Clip(quoteString(before), 100)
	}
	a, b := []rune(before), []rune(after)
	from := 0
	for from < len(a) && from < len(b) && a[from] == b[from] {
		from++
	}
	to := 0
	for to < len(a)-from && to < len(b)-from && a[len(a)-1-to] == b[len(b)-1-to] {
		to++
	}
	piece := func(r []rune) string {
		start := max(0, from-15)
		s := string(r[start : len(r)-to])
		if start > 0 {
			s = "…" + s
		}
		return text.Clip(quoteString(s), 80)
	}
	return what + " changed: " + piece(a) + " → " + piece(b)
}

// capabilities compares what was negotiated.
func (c *comparison) capabilities(before, after string) {
	if before == after {
		return
	}
	was, _ := canonicalValue(cmp.Or(before, "{}"))
	is, _ := canonicalValue(cmp.Or(after, "{}"))
	for _, m := range was.Members() {
		at := check.Place{Kind: check.OfServer, Pointer: "/capabilities/" + jsonrpc.EscapeToken(m.Name)}
		now := is.Get(m.Name)
		switch {
		case !now.IsSet():
			c.add("capability-removed", at, text.Clip(m.Name, 60)+" is no longer declared", str(m.Value), "")
		case !schema.Equal(m.Value, now):
			c.add("capability-changed", at, schema.Became(m.Name, m.Value, now), str(m.Value), str(now))
		}
	}
	for _, m := range is.Members() {
		if !was.Get(m.Name).IsSet() {
			c.add("capability-added", check.Place{Kind: check.OfServer, Pointer: "/capabilities/" + jsonrpc.EscapeToken(m.Name)}, text.Clip(m.Name, 60)+" is declared", "", str(m.Value))
		}
	}
}

// reach is what the page of an app may do beside showing itself, by its _meta: the members of ui.csp with each of their hosts, and ui.permissions.
// https://github.com/modelcontextprotocol/ext-apps
func reach(meta *schema.Value) (out []string) {
	for _, m := range meta.At("ui", "csp").Members() {
		hosts := []schema.Member{m} // what is not a list clients may take for one host
		if m.Value.Kind() == schema.Array {
			hosts = m.Value.Members()
		}
		for _, host := range hosts {
			out = append(out, m.Name+" "+str(host.Value))
		}
	}
	for _, m := range meta.At("ui", "permissions").Members() {
		out = append(out, m.Name)
	}
	return out
}

// meta compares _meta of a definition. The page of an app is that of the extension for apps, in either of the two places that it may have. What the
// page may do no longer is metadata.
func (c *comparison) meta(at check.Place, a, b *schema.Value) {
	before := reach(a)
	more := slices.DeleteFunc(reach(b), func(s string) bool { return slices.Contains(before, s) })
	if len(more) > 0 {
		ui := check.Place{Kind: at.Kind, Name: at.Name, Pointer: at.Pointer + "/ui"}
		c.add("app-reaches-out", ui, "the page may now have "+text.Clip(strings.Join(more, ", "), 200), str(a.Get("ui")), str(b.Get("ui")))
	}
	page := func(v *schema.Value) string {
		if uri := v.At("ui", "resourceUri"); uri.IsSet() {
			return uri.Text()
		}
		return v.Get("ui/resourceUri").Text()
	}
	if page(a) != page(b) {
		c.add("app-changed", at, textChange("app page", page(a), page(b)), page(a), page(b))
		return
	}
	if len(more) > 0 {
		return
	}
	c.add("metadata", at, schema.Became("_meta", a, b), str(a), str(b))
}

// hints compares the annotations of a tool. A hint that is not given counts as the protocol says, and so does one that is not a boolean: only what
// clients make of it is compared, so that a default that is now written out is not a change.
func (c *comparison) hints(at check.Place, a, b *schema.Value) {
	type hint struct {
		name          string
		usual, danger bool // what it is where it is not given; what it is for a tool that may do more harm
	}
	known := []hint{{"readOnlyHint", false, false}, {"destructiveHint", true, true}, {"openWorldHint", true, true}, {"idempotentHint", false, false}}
	on := func(v *schema.Value, h hint) bool {
		if m := v.Get(h.name); m.Kind() == schema.Bool {
			return m.Bool()
		}
		return h.usual
	}
	for _, h := range known {
		was, is := on(a, h), on(b, h)
		if was == is {
			continue
		}
		if (h.name == "destructiveHint" || h.name == "idempotentHint") && on(a, known[0]) && on(b, known[0]) {
			continue // they say nothing of a tool that is read-only
		}
		id := "hint-flipped"
		switch {
		case h.name == "idempotentHint" && is:
			id = "metadata"
		case h.name == "idempotentHint":
			id = "not-idempotent"
		case is != h.danger:
			id = "hint-relaxed"
		}
		msg := schema.Became(h.name, a.Get(h.name), b.Get(h.name))
		if !a.Get(h.name).IsSet() || !b.Get(h.name).IsSet() {
			msg += map[bool]string{true: ", which is true where it is not given", false: ", which is false where it is not given"}[h.usual]
		}
		c.add(id, check.Place{Kind: at.Kind, Name: at.Name, Pointer: at.Pointer + "/" + h.name}, msg, str(a), str(b))
	}
	rest := func(v *schema.Value) string {
		var out []string
		for _, m := range sortedMembers(v) {
			if !slices.ContainsFunc(known, func(h hint) bool { return h.name == m.Name }) {
				out = append(out, m.Name+str(m.Value))
			}
		}
		return strings.Join(out, "\n")
	}
	if rest(a) != rest(b) {
		c.add("metadata", at, schema.Became("annotations", a, b), str(a), str(b))
	}
}

// arguments compares those of a prompt, by name: their order is not compared. Required is false where it is not given.
func (c *comparison) arguments(at check.Place, a, b *schema.Value) {
	index := func(v *schema.Value) map[string]*schema.Value {
		out := map[string]*schema.Value{}
		for _, m := range v.Members() {
			out[m.Value.Get("name").Text()] = m.Value
		}
		return out
	}
	was, is := index(a), index(b)
	for _, name := range slices.Sorted(maps.Keys(was)) {
		old, now := was[name], is[name]
		named := "`" + text.Clip(name, 60) + "` "
		switch {
		case now == nil:
			c.add("argument-removed", at, named+"was removed", str(old), "")
			continue
		case !old.Get("required").Bool() && now.Get("required").Bool():
			c.add("argument-required", at, named+"became required", str(old), str(now))
		case old.Get("required").Bool() && !now.Get("required").Bool():
			c.add("argument-optional", at, named+"is no longer required", str(old), str(now))
		}
		if d, e := old.Get("description").Text(), now.Get("description").Text(); d != e {
			c.add("parameter-description", at, named+textChange("description", d, e), d, e)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(is)) {
		if was[name] != nil {
			continue
		}
		named := "`" + text.Clip(name, 60) + "` "
		if is[name].Get("required").Bool() {
			c.add("argument-required", at, named+"was added as required", "", str(is[name]))
		} else {
			c.add("argument-optional", at, named+"was added", "", str(is[name]))
		}
	}
}
