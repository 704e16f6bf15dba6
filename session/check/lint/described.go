package lint

import (
	"fmt"
	"strings"

	"github.com/mcphud/mcphud/session/base/text"
	"github.com/mcphud/mcphud/session/offer/schema"
)

// checkDescriptions examines whether a reader is told what to put into the parameters of a tool. One that is an object, or a list of them, says so by its
// members, each of which is looked at in its place.
func (w *walker) checkDescriptions(props *schema.Value) {
	m := mutes{w: w, known: map[*schema.Value]bool{}}
	for _, p := range props.Members() {
		m.member(p.Value, text.Clip(p.Name, 60), 0)
	}
	if len(m.paths) > 0 {
		w.e.add("lint/parameter-description", found{
			pointer: w.at + "/properties", evidence: strings.Join(m.paths, "\n"),
			message: fmt.Sprintf("%d of %d parameters: %s", len(m.paths), m.all, text.Clip(strings.Join(m.paths, ", "), 200)),
		})
	}
}

// mutes collects what nothing describes, of one schema.
type mutes struct {
	w     *walker
	known map[*schema.Value]bool // schemas that were looked at, and whether they have members: each is told once, wherever it is referred to
	paths []string               // as filter.rows[].id
	all   int                    // members without any of their own, described or not
}

// member looks at one property: at its members where it has any, otherwise at itself. path names it for people.
func (m *mutes) member(v *schema.Value, path string, depth int) {
	if v.Kind() != schema.Object || m.below(v, path, depth) {
		return
	}
	m.all++
	if !single(v) && !m.says(v) {
		m.paths = append(m.paths, text.Clip(path, 100))
	}
}

// single says whether a schema allows one value, so that there is nothing to decide: a constant, or an object that stays empty.
func single(v *schema.Value) bool {
	props, open := v.Get("properties"), v.Get("additionalProperties")
	return v.Get("const").IsSet() || v.Get("enum").Len() == 1 || props.Kind() == schema.Object && props.Len() == 0 && open.Kind() == schema.Bool && !open.Bool()
}

// says reports whether something describes v: itself, or what it is a list or a map of.
func (m *mutes) says(v *schema.Value) bool {
	for _, one := range []*schema.Value{v, v.Get("items"), v.Get("additionalProperties")} {
		if one.Kind() == schema.Object && strings.TrimSpace(m.w.describes(one)) != "" {
			return true
		}
	}
	return false
}

// below looks at the members that values of v have, and says whether there are any.
func (m *mutes) below(v *schema.Value, path string, depth int) bool {
	if v.Kind() != schema.Object || depth > maxDepth {
		return false
	}
	if has, ok := m.known[v]; ok {
		return has
	}
	props := v.Get("properties")
	has := props.Kind() == schema.Object && props.Len() > 0
	m.known[v] = has // for what refers back to it: recursion ends here
	if has {
		for _, p := range props.Members() {
			m.member(p.Value, path+"."+text.Clip(p.Name, 60), depth+1)
		}
	}
	into := func(v *schema.Value, step string) {
		if m.below(v, path+step, depth+1) {
			has = true
		}
	}
	into(v.Get("items"), "[]")
	into(v.Get("additionalProperties"), ".*")
	for _, k := range []string{"prefixItems", "anyOf", "oneOf", "allOf"} {
		step := ""
		if k == "prefixItems" {
			step = "[]"
		}
		for _, one := range v.Get(k).Members() {
			into(one.Value, step)
		}
	}
	if r := v.Get("$ref"); r.Kind() == schema.String {
		into(m.w.target(r.Text()), "")
	}
	m.known[v] = has
	return has
}

// target is what a reference leads to in this schema, nil for nothing.
func (w *walker) target(ref string) *schema.Value {
	if to, state := w.resolve(ref); state == here {
		return to
	}
	return w.findAnchor(strings.TrimPrefix(ref, "#"))
}

// describes is what a schema says of itself to a reader: its description, or that of what it refers to or of a branch.
func (w *walker) describes(v *schema.Value) string {
	if d := v.Get("description").Text(); d != "" {
		return d
	}
	if r := v.Get("$ref"); r.Kind() == schema.String {
		if d := w.target(r.Text()).Get("description").Text(); d != "" {
			return d
		}
	}
	for _, k := range []string{"anyOf", "oneOf", "allOf"} { // one branch is enough: the other may be null, of which there is nothing to say
		for _, m := range v.Get(k).Members() {
			if d := m.Value.Get("description").Text(); d != "" {
				return d
			}
		}
	}
	return ""
}
