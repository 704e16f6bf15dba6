package journal

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"os"
	"time"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/mcphud/mcphud/session/base/mask"
)

// openFile opens Options.File for appending. Devices and pipes keep their mode.
func openFile(name string) (*os.File, error) {
	f, err := os.OpenFile(name, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, fmt.Errorf("cannot open the journal file: %w", err)
	}
	if fi, err := f.Stat(); err == nil && fi.Mode().IsRegular() && fi.Mode().Perm()&0o077 != 0 {
		if err := f.Chmod(0o600); err != nil {
			_ = f.Close()
			return nil, fmt.Errorf("cannot make the journal file %s private (choose another): %w", name, err)
		}
	}
	return f, nil
}

// file writes one batch of entries to Options.File and reports whether there may be more. Where entries were dropped before their turn came a
// line {"missing":n} stands in their place. The first error ends it for good: what came later would look as if nothing lay between.
func (w *writer) file() bool {
	j := w.j
	w.batch, w.lines = w.batch[:0], w.lines[:0]
	j.mu.Lock()
	if j.file == nil || j.toFile >= j.store.last() {
		j.mu.Unlock()
		return false
	}
	gap, total := j.missed, 0
	j.missed = 0
	seq, last := j.toFile, j.store.last()
	for seq < last && total < batchBytes && len(w.batch) < batchLen {
		seq++
		b, i := j.store.at(seq)
		w.lines = append(w.lines, Entry{})
		b.entry(i, seq, &w.lines[len(w.lines)-1])
		w.batch = append(w.batch, item{seq: seq, body: b.body(i)})
		total += len(b.body(i))
	}
	f := j.file
	j.mu.Unlock()

	w.buf = w.buf[:0]
	if gap > 0 {
		w.buf = fmt.Appendf(w.buf, "{\"missing\":%d}\n", gap)
	}
	for i := range w.batch {
		e, body := w.lines[i], w.batch[i].body
		if j.opts.Keep != nil {
			e, body = j.opts.Keep(e, body)
		}
		w.buf = AppendLine(w.buf, e, body)
		w.batch[i].body = nil
	}
	_, err := f.Write(w.buf)
	if cap(w.buf) > 4*batchBytes {
		w.buf = nil // one very large frame
	}

	j.mu.Lock()
	defer j.mu.Unlock()
	j.toFile = max(j.toFile, seq)
	if err != nil {
		j.fail(fmt.Errorf("cannot write the journal file, entries from %d on are not in it: %w", seq, err))
		_ = j.file.Close()
		j.file = nil
	}
	return err == nil
}

// Masked is an entry and its body with secrets hidden, as they may leave the process. A frame that is valid JSON stays as
// it was sent, but for what somebody set to be a secret; of anything else the text is masked, and what is not UTF-8 stays.
func Masked(e Entry, body []byte) (Entry, []byte) {
	e, body, _ = maskEntry(e, body)
	return e, body
}

// maskEntry also says whether the body is a frame that is valid JSON.
func maskEntry(e Entry, body []byte) (_ Entry, _ []byte, frame bool) {
	e.Tool, e.Note = mask.Text(e.Tool), mask.Text(e.Note)
	switch {
	case len(body) == 0:
	case e.Kind <= Notification && jsontext.Value(body).IsValid(jsontext.AllowDuplicateNames(true)):
		body = mask.Extra(body)
		frame = jsontext.Value(body).IsValid(jsontext.AllowDuplicateNames(true)) // a pattern can match more than a string
	case e.Kind == HTTP:
		body = []byte(mask.Lines(string(body)))
	case e.Kind == Stderr && utf8.Valid(body):
		body = []byte(mask.Log(string(body)))
	case utf8.Valid(body):
		body = []byte(mask.Text(string(body)))
	}
	return e, body, frame
}

// AppendLine appends the line that Options.File has for an entry: a JSON object, secrets masked as by Masked, and a line feed. A frame
// that is valid JSON is there as raw JSON under "frame", anything else under "text", or under "base64" when it is not
// UTF-8. Members that are empty or 0 are left out, but for seq, time and size; the body is the last one, which ParseLine relies on to be
// quick. All of it is one line, unlike here:
//
//	{"seq":7,"time":"2026-07-28T09:00:00.1Z","server":"files","conn":1,"dir":"in","kind":"response","method":"tools/call","id":"3",
//	 "tool":"read","peer":6,"took_ms":12.500,"status":"ok","size":36,"frame":{"jsonrpc":"2.0","id":3,"result":{}}}
func AppendLine(b []byte, e Entry, body []byte) []byte {
	e, body, frame := maskEntry(e, body)
	b = fmt.Appendf(b, `{"seq":%d,"time":"%s"`, e.Seq, e.Time.UTC().Format(time.RFC3339Nano))
	b = appendText(b, "server", e.Server)
	if e.Conn != 0 {
		b = fmt.Appendf(b, `,"conn":%d`, e.Conn)
	}
	b = appendText(b, "dir", e.Dir.String())
	b = appendText(b, "kind", e.Kind.String())
	b = appendText(b, "method", e.Method)
	b = appendText(b, "id", e.ID)
	b = appendText(b, "tool", e.Tool)
	if e.Peer != 0 {
		b = fmt.Appendf(b, `,"peer":%d`, e.Peer)
	}
	if e.Took != 0 {
		b = fmt.Appendf(b, `,"took_ms":%.3f`, float64(e.Took)/float64(time.Millisecond))
	}
	b = appendText(b, "status", e.Status)
	b = appendText(b, "note", e.Note)
	b = appendText(b, "hop", e.Hop)
	b = appendText(b, "trace", e.Trace)
	b = fmt.Appendf(b, `,"size":%d`, e.Size)
	switch {
	case len(body) == 0:
	case frame:
		b = append(b, `,"frame":`...)
		from := len(b)
		b = append(b, body...)
		// Line breaks can only be white space between tokens here.
		for i := range b[from:] {
			if c := b[from+i]; c == '\n' || c == '\r' {
				b[from+i] = ' '
			}
		}
	case e.Kind == HTTP:
		b = appendText(b, "text", string(body))
	case !utf8.Valid(body):
		b = append(b, `,"base64":"`...)
		b = base64.StdEncoding.AppendEncode(b, body)
		b = append(b, '"')
	default:
		b = appendText(b, "text", string(bytes.TrimRight(body, "\r\n")))
	}
	return append(b, '}', '\n')
}

// appendText appends ,"name":"value" unless the value is empty. Invalid UTF-8 becomes U+FFFD.
func appendText(b []byte, name, value string) []byte {
	if value == "" {
		return b
	}
	b = append(b, ',', '"')
	b = append(b, name...)
	b = append(b, '"', ':')
	b, _ = jsontext.AppendQuote(b, value) // the only error is invalid UTF-8, which it has replaced
	return b
}
