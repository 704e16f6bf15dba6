// Package paint turns palette tokens into terminal styles, once per palette
// and colour profile, and builds frames from cached rows.
package paint

// Style is a pair of escape sequences cut once, so that styling costs one concatenation. The closing one ends only what
// the opening one began: a style can hold text that is already styled, and a selected row keeps its ground behind the
// colours in it.
type Style struct{ pre, suf string }

// S returns s in the style. s must be safe and on one line.
func (st Style) S(s string) string {
	if st.pre == "" || s == "" {
		return s
	}
	return st.pre + s + st.suf
}

// Append appends s in the style to dst.
func (st Style) Append(dst []byte, s string) []byte {
	dst = append(dst, st.pre...)
	dst = append(dst, s...)
	return append(dst, st.suf...)
}

// Open returns the escape sequence that begins the style.
func (st Style) Open() string { return st.pre }

// Close returns the escape sequence that ends it.
func (st Style) Close() string { return st.suf }

// And returns a style that applies both, o inside st.
func (st Style) And(o Style) Style { return Style{st.pre + o.pre, o.suf + st.suf} }
