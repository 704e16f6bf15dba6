package jsonrpc

// edit is one piece of a text to be replaced, for splice. Offsets are bytes of the text as it was, whatever earlier edits put in.
type edit struct {
	Start, End int // of the piece; equal where something is put in
	With       []byte
}

// splice returns text with its pieces replaced. The edits are in the order of the text and do not overlap; text stays as it
// is. Without an edit it returns text itself.
func splice(text []byte, edits ...edit) []byte {
	if len(edits) == 0 {
		return text
	}
	size := len(text)
	for _, e := range edits {
		size += len(e.With) - (e.End - e.Start)
	}
	out := make([]byte, 0, size)
	at := 0
	for _, e := range edits {
		out = append(append(out, text[at:e.Start]...), e.With...)
		at = e.End
	}
	return append(out, text[at:]...)
}

// Find gives the offsets in obj of the value that a path of member names leads to; of members with one name it takes the
// first. It is false where there is none.
func Find(obj []byte, path ...string) (start, end int, ok bool) {
	end = len(obj)
	for _, name := range path {
		found := false
		// Each name is looked for in the value of the one before; what a path of no names leads to is not there.
		base := start
		_, _ = members(obj[base:end], func(key []byte, from, to int) bool { // what is not an object has no members
			if found = isName(key, name); found {
				start, end = base+from, base+to
			}
			return !found
		})
		if !found {
			return 0, 0, false
		}
	}
	return start, end, len(path) > 0
}

// OneLine is a valid JSON text without line ends, which stand between its tokens only. Text itself is returned if it has none,
// and never modified.
func OneLine(text []byte) []byte {
	var out []byte
	for i, ch := range text {
		if ch != '\n' && ch != '\r' {
			continue
		}
		if out == nil {
			out = append([]byte(nil), text...)
		}
		out[i] = ' '
	}
	if out == nil {
		return text
	}
	return out
}
