package schema

import "slices"

// byValue are the keywords whose verdict on a value depends on the texts in it.
var byValue = []string{"oneOf", "anyOf", "not", "contains", "minContains", "maxContains", "uniqueItems", "const", "enum", "if", "then", "else", "propertyNames"}

// A recorded call has its secrets hidden, so that its values are not those that were sent: a problem that rests on a hidden text
// says nothing about the server.

// Certain are the problems of a value, a JSON text, that are there whatever its texts are that unknown reports: those that were hidden when the
// value was recorded.
func Certain(problems []Problem, raw []byte, unknown func(text string) bool) []Problem {
	if len(problems) == 0 {
		return problems
	}
	v, err := ParseValue(raw)
	if err != nil {
		return problems
	}
	return slices.DeleteFunc(slices.Clone(problems), func(p Problem) bool {
		path, ok := SplitPointer(p.Pointer)
		if !ok {
			return false
		}
		for n, at := 0, v; ; n++ { // a whole value may be one text now, and the name of a member as well
			if at.Kind() == String && unknown(at.Text()) {
				return true
			}
			if n == len(path) {
				return slices.Contains(byValue, p.Keyword) && hasUnknown(at, unknown)
			}
			if unknown(path[n]) || at.Get(path[n]) == nil && slices.ContainsFunc(at.Members(), func(m Member) bool { return unknown(m.Name) }) {
				return true
			}
			at = at.At(path[n])
		}
	})
}

// Within reports whether unknown reports a text in a JSON text: a string, or the name of a member.
func Within(raw []byte, unknown func(text string) bool) bool {
	v, err := ParseValue(raw)
	if err != nil {
		return unknown(string(raw))
	}
	return hasUnknown(v, unknown)
}

// hasUnknown reports whether a text that is not known is in a value.
func hasUnknown(v *Value, unknown func(string) bool) bool {
	if v.Kind() == String {
		return unknown(v.Text())
	}
	return slices.ContainsFunc(v.Members(), func(m Member) bool { return unknown(m.Name) || hasUnknown(m.Value, unknown) })
}
