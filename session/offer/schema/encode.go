package schema

// JSON returns v as compact JSON, nil when it is unset. Literals are the ones that were parsed.
func (v *Value) JSON() []byte {
	if !v.IsSet() {
		return nil
	}
	return v.append(nil, "", "")
}

// Indent returns v as JSON with one member a line, each level indented by
// two spaces; nil when it is unset. Empty containers stay on one line.
func (v *Value) Indent() []byte {
	if !v.IsSet() {
		return nil
	}
	return v.append(nil, "\n", "  ")
}

// String returns the compact JSON, "" for the unset value.
func (v *Value) String() string { return string(v.JSON()) }

// append writes v to dst. nl is the line break with the indent of v's own level, "" to write all on one line; step is what a level
// adds to it.
func (v *Value) append(dst []byte, nl, step string) []byte {
	switch v.Kind() {
	case Unset:
		return append(dst, "null"...) // only reached for an unset array element
	case Array, Object:
	default:
		return append(dst, v.raw...)
	}
	open, end := byte('['), byte(']')
	if v.kind == Object {
		open, end = '{', '}'
	}
	dst = append(dst, open)
	inner := nl + step
	for i, m := range v.kids {
		if i > 0 {
			dst = append(dst, ',')
		}
		if nl != "" {
			dst = append(dst, inner...)
		}
		if v.kind == Object {
			if m.raw != "" {
				dst = append(dst, m.raw...)
			} else {
				dst = append(dst, quote(m.Name)...)
			}
			dst = append(dst, ':')
			if nl != "" {
				dst = append(dst, ' ')
			}
		}
		next := ""
		if nl != "" {
			next = inner
		}
		dst = m.Value.append(dst, next, step)
	}
	if nl != "" && len(v.kids) > 0 {
		dst = append(dst, nl...)
	}
	return append(dst, end)
}

// size estimates the bytes of v's JSON and stops counting above limit.
func (v *Value) size(limit int) int {
	n := len(v.Literal()) + 2
	for _, m := range v.Members() {
		if n > limit {
			return n
		}
		n += len(m.Name) + 4 + m.Value.size(limit-n)
	}
	return n
}
