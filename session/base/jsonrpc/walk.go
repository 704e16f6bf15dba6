package jsonrpc

// Walker reads one JSON value in a single forward pass, for readers who need members of members: walking each level with
// Members would read the inner ones once per level. The zero Walker has nothing to read.
//
// Object and Array call back for each member or element; the callback may consume it with exactly one of Raw, Object or
// Array, or leave it alone, which skips it. After the first error everything returns at once; Err tells it.
//
//	w := jsonrpc.Walk(params)
//	w.Object(func(key string) {
//		if key == "message" {
//			message, _ = w.Str()
//		}
//	})
type Walker struct {
	b   []byte
	i   int
	err error
}

// Walk returns a Walker at the start of the value b.
func Walk(b []byte) *Walker { return &Walker{b: b, i: space(b, 0)} }

// Err is the first syntax error, or nil.
func (w *Walker) Err() error { return w.err }

// Peek is the first byte of the value to be read next, 0 if there is none: '{', '[', '"', 't', 'f', 'n', '-' or a digit.
func (w *Walker) Peek() byte {
	if w.err != nil || w.i >= len(w.b) {
		return 0
	}
	return w.b[w.i]
}

// Raw consumes the next value whatever it is and returns its text, nil after an error.
func (w *Walker) Raw() []byte {
	if w.err != nil {
		return nil
	}
	start := w.i
	end, err := skip(w.b, start)
	if err != nil {
		w.err = err
		return nil
	}
	w.i = end
	return w.b[start:end:end]
}

// Str consumes the next value; false if it is not a string.
func (w *Walker) Str() (string, bool) {
	raw := w.Raw()
	if len(raw) < 2 || raw[0] != '"' {
		return "", false
	}
	return unquote(raw), true
}

// Object consumes the next value, calling f for each member in wire order, and returns its text. A value of another kind
// is consumed without a call: false.
func (w *Walker) Object(f func(key string)) ([]byte, bool) {
	start := w.i
	if w.Peek() != '{' {
		return w.Raw(), false
	}
	w.i = space(w.b, w.i+1)
	if w.closes('}') {
		return w.b[start:w.i:w.i], true
	}
	for w.err == nil {
		if w.i >= len(w.b) || w.b[w.i] != '"' {
			w.err = syntax(w.b, w.i, "a member name")
			break
		}
		end, err := str(w.b, w.i+1)
		if err != nil {
			w.err = err
			break
		}
		key := name(w.b[w.i:end])
		if w.i = space(w.b, end); w.i >= len(w.b) || w.b[w.i] != ':' {
			w.err = syntax(w.b, w.i, "a colon")
			break
		}
		w.i = space(w.b, w.i+1)
		if w.one(func() { f(key) }, '}') {
			return w.b[start:w.i:w.i], true
		}
	}
	return nil, false
}

// Array is Object for arrays: f is called for each element.
func (w *Walker) Array(f func()) ([]byte, bool) {
	start := w.i
	if w.Peek() != '[' {
		return w.Raw(), false
	}
	w.i = space(w.b, w.i+1)
	if w.closes(']') {
		return w.b[start:w.i:w.i], true
	}
	for w.err == nil {
		if w.one(f, ']') {
			return w.b[start:w.i:w.i], true
		}
	}
	return nil, false
}

// one reads one value by f, and what follows it; true at the end of the container.
func (w *Walker) one(f func(), end byte) bool {
	at := w.i
	f()
	if w.err == nil && w.i == at {
		w.Raw()
	}
	if w.err != nil {
		return false
	}
	w.i = space(w.b, w.i)
	if w.closes(end) {
		return true
	}
	if w.i >= len(w.b) || w.b[w.i] != ',' {
		w.err = syntax(w.b, w.i, "a comma or the end of the container")
		return false
	}
	w.i = space(w.b, w.i+1)
	return false
}

// closes consumes the byte that ends a container, if that is next.
func (w *Walker) closes(end byte) bool {
	if w.i < len(w.b) && w.b[w.i] == end {
		w.i++
		return true
	}
	return false
}
