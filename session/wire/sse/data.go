package sse

// data collects the data of one event in chunks, so that a large event is copied once, at the end, and never needs
// more than twice its size.
type data struct {
	chunks [][]byte // the last one may have room
	n      int64
}

// maxChunk is the size of a chunk at most: chunks grow with the event up to there, so that little is copied and little is wasted.
const maxChunk = 4 << 20

// append copies p, which must not be kept.
func (d *data) append(p []byte) {
	d.n += int64(len(p))
	if k := len(d.chunks); k > 0 {
		last := &d.chunks[k-1]
		room := cap(*last) - len(*last)
		take := min(room, len(p))
		*last = append(*last, p[:take]...)
		p = p[take:]
		if len(p) > 0 {
			d.chunks = append(d.chunks, append(make([]byte, 0, max(len(p), d.next())), p...))
		}
		return
	}
	if len(p) > 0 {
		d.chunks = append(d.chunks, append([]byte(nil), p...))
	}
}

// next is how large the next chunk is.
func (d *data) next() int { return int(min(max(d.n, 512), maxChunk)) }

// space returns room to read into, at most bufferSize; commit says how much of it was used.
func (d *data) space() []byte {
	if k := len(d.chunks); k > 0 {
		if last := d.chunks[k-1]; cap(last) > len(last) {
			return last[len(last):min(cap(last), len(last)+bufferSize)]
		}
	}
	size := max(d.next(), bufferSize)
	d.chunks = append(d.chunks, make([]byte, 0, size))
	return d.chunks[len(d.chunks)-1][:bufferSize]
}

// commit keeps n bytes of what space returned.
func (d *data) commit(n int) {
	last := &d.chunks[len(d.chunks)-1]
	*last = (*last)[:len(*last)+n]
	d.n += int64(n)
}

// head copies the first n bytes.
func (d *data) head(n int) []byte {
	var b []byte
	for _, c := range d.chunks {
		b = append(b, c[:min(len(c), n-len(b))]...)
	}
	return b
}

// take returns everything as one slice of its own and starts anew.
func (d *data) take() []byte {
	chunks, n := d.chunks, d.n
	*d = data{}
	if len(chunks) == 0 {
		return nil
	}
	if c := chunks[0]; len(chunks) == 1 && cap(c)-len(c) <= len(c)/8+64 {
		return c[:len(c):len(c)]
	}
	b := make([]byte, 0, n)
	for i, c := range chunks {
		b = append(b, c...)
		chunks[i] = nil
	}
	return b
}
