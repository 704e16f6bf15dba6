package lint

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/mcphud/mcphud/session/base/text"
	"github.com/mcphud/mcphud/session/check"
	"github.com/mcphud/mcphud/session/offer"
	"github.com/mcphud/mcphud/session/offer/schema"
)

// name examines the name of one tool by itself.
func (e *examiner) name(v *schema.Value, it offer.Item) {
	name := it.Name
	if v.Get("name").Kind() != schema.String || name == "" {
		e.add("lint/name-missing", found{message: "name is " + orNone(string(v.Get("name").JSON()))})
		return
	}
	switch bad := strings.Map(notAllowed, name); {
	case bad != "":
		e.add("lint/name-characters", found{pointer: "/name", message: fmt.Sprintf("%q has %q", text.Clip(name, 80), text.Clip(bad, 20))})
	case strings.Contains(name, "."):
		e.add("lint/name-dot", found{pointer: "/name", message: text.Clip(name, 80) + " has a dot"})
	}
	// Models' providers take names of functions, which some of them want to begin as an identifier does.
	if c := name[0]; (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && c != '_' && c != '-' && c != '.' {
		e.add("lint/name-start", found{pointer: "/name", message: text.Clip(name, 80) + " does not begin with a letter or underscore"})
	}
	if strings.Trim(name, "-.") != name {
		e.add("lint/name-edge", found{pointer: "/name", message: text.Clip(name, 80) + " begins or ends with a hyphen or dot"})
	}
	n := utf8.RuneCountInString(name)
	if n > 128 {
		e.add("lint/name-length", found{pointer: "/name", message: fmt.Sprintf("the name has %d characters, the protocol allows 128", n)})
		return
	}
	e.checkPrefixedName(name, n)
}

// notAllowed keeps what the protocol does not allow in the name of a tool.
func notAllowed(r rune) rune {
	if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '_' || r == '-' || r == '.' {
		return -1
	}
	return r
}

// checkPrefixedName examines the name as clients write it, n being its characters. Where the prefix is of a name that is a guess, what is too long
// only with it is likely, and a warning.
func (e *examiner) checkPrefixedName(name string, n int) {
	for _, l := range limits {
		if l.about != ofName {
			continue
		}
		prefix := ""
		if l.prefix != "" {
			prefix = fmt.Sprintf(l.prefix, strings.Map(func(r rune) rune {
				if notAllowed(r) != -1 || r == '.' {
					return '_'
				}
				return r
			}, e.known))
		}
		total := n + utf8.RuneCountInString(prefix)
		if total <= l.most {
			continue
		}
		sev, sure, assumed := check.Warning, check.Certain, ""
		if l.errs {
			sev = check.Error
		}
		guess := prefix != "" && e.opts.KnownAs == "" && n <= l.most
		if guess { // users can give the server another name
			sev, sure = check.Warning, check.Likely
			assumed = fmt.Sprintf(" · assumed is the prefix %s, of the name that the server gives itself; its user may choose another", text.Clip(prefix, 80))
		}
		e.add("lint/name-too-long", found{
			pointer: "/name", key: fmt.Sprintf("%s/%d", l.client, l.most), severity: &sev, sure: sure, clients: []string{l.client}, harms: !l.errs || guess,
			message:  fmt.Sprintf("%s%s has %d characters, %s takes %d: %s", text.Clip(prefix, 80), text.Clip(name, 120), total, title(l.client), l.most, l.then) + assumed,
			evidence: "source: " + l.source + ", read " + l.read,
		})
	}
}

// together examines the tools as a list: what none of them shows by itself. Of two with the same name, or the same description, the later one is
// told; a client that keeps one of them keeps the first, or the last.
func (e *examiner) together() {
	names, plain, said := map[string]int{}, map[string]string{}, map[string]string{}
	styles := map[string]int{}
	for i, it := range e.o.Tools {
		if it.Name == "" || it.Flaw != nil && it.Raw[0] != '{' { // findings of their own
			continue
		}
		e.atItem(offer.Tools, it)
		if first, ok := names[it.Name]; ok {
			e.add("lint/name-duplicate", found{pointer: "/name", key: fmt.Sprint(i), message: fmt.Sprintf("tools %d and %d of the list have this name", first+1, i+1)})
			continue
		}
		names[it.Name] = i
		folded := clientName(it.Name)
		if first, ok := plain[folded]; ok {
			e.add("lint/name-collides", found{pointer: "/name", message: fmt.Sprintf("%s and %s are both %s where clients rewrite names", text.Clip(first, 60), text.Clip(it.Name, 60), text.Clip(folded, 60))})
		} else {
			plain[folded] = it.Name
		}
		if d := strings.TrimSpace(it.Description); d != "" {
			if first, ok := said[d]; ok {
				e.add("lint/description-shared", found{pointer: "/description", message: text.Clip(first, 60) + " has the same description", evidence: text.Clip(d, maxExcerpt)})
			} else {
				said[d] = it.Name
			}
		}
		styles[style(it.Name)]++
	}
	e.style(styles)
	e.once()
	for _, l := range limits {
		if n := len(e.o.Tools); l.about == ofTools && n > l.most {
			sev := check.Warning
			if l.errs {
				sev = check.Error
			}
			e.add("lint/too-many-tools", found{key: l.client, severity: &sev, clients: []string{l.client}, all: true, evidence: "source: " + l.source + ", read " + l.read, message: fmt.Sprintf("%d tools, %s takes %d: %s", n, title(l.client), l.most, l.then)})
		}
	}
}

// clientName is a name as clients write it that replace what is not allowed, and do not tell cases apart.
func clientName(name string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r >= 'A' && r <= 'Z':
			return r + 'a' - 'A'
		case r >= 'a' && r <= 'z', r >= '0' && r <= '9', r == '-':
			return r
		}
		return '_'
	}, name)
}

// style is how the words of a name are joined, "" for one word, and for names that mix ways.
func style(name string) string {
	switch {
	case strings.Contains(name, "_") && !strings.Contains(name, "-"):
		return "snake_case"
	case strings.Contains(name, "-") && !strings.Contains(name, "_"):
		return "kebab-case"
	case strings.ContainsAny(name, "_-."):
		return ""
	case strings.ToLower(name) != name && name[0] >= 'a' && name[0] <= 'z':
		return "camelCase"
	}
	return ""
}

// style reports names that are written in another way than at least three quarters of them.
func (e *examiner) style(styles map[string]int) {
	all := styles["snake_case"] + styles["kebab-case"] + styles["camelCase"]
	for _, most := range []string{"snake_case", "kebab-case", "camelCase"} {
		if all < 4 || styles[most]*4 < all*3 || styles[most] == all {
			continue
		}
		for _, it := range e.o.Tools {
			if s := style(it.Name); it.Name != "" && s != "" && s != most {
				e.atItem(offer.Tools, it)
				e.add("lint/name-style", found{pointer: "/name", message: fmt.Sprintf("%s is %s; %d of %d names are %s", text.Clip(it.Name, 60), s, styles[most], all, most)})
			}
		}
	}
}
