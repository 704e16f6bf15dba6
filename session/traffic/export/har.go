// Package export writes journals in formats of others: HTTP archives for browsers and proxies, a page for bug reports; and journal
// files of others: a part of one, or several as one.
package export

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/mcphud/mcphud/session/wire/journal"

	"github.com/mcphud/mcphud/session/base/jsonrpc"
	"github.com/mcphud/mcphud/session/traffic/importer"
)

// HAR writes an HTTP archive (version 1.2): what went over HTTP as it was, and exchanges over a pipe or a socket as entries that are
// marked as made up, whose bodies are the messages. left says what an archive cannot hold.
func HAR(ctx context.Context, w io.Writer, j *journal.Journal, keep *Selection, version string) (left string, err error) {
	a := &archiver{j: j, all: exchangesOf(j), w: bufio.NewWriterSize(w, 256<<10), heads: map[connKey]*request{}, notes: map[connKey]journal.Entry{}, dropped: map[journal.Kind]int{}}
	creator, err := json.Marshal(map[string]string{"name": "mcphud", "version": version}, json.Deterministic(true))
	if err != nil {
		return "", err
	}
	_, _ = fmt.Fprintf(a.w, `{"log":{"version":"1.2","creator":%s,"entries":[`, creator) // Flush has its error
	n := 0
	j.Each(0, func(e *journal.Entry) bool {
		if keep == nil || keep.Has(e.Seq) {
			a.handle(*e)
		}
		n++
		return a.err == nil && (n&1023 != 0 || ctx.Err() == nil)
	})
	for _, k := range slices.SortedFunc(maps.Keys(a.notes), connKey.compare) {
		a.writeMessage(a.notes[k])
	}
	for _, k := range slices.SortedFunc(maps.Keys(a.heads), connKey.compare) {
		a.send(a.heads[k])
	}
	left = a.omissions()
	comment, _ := json.Marshal(left) // a string
	_, _ = fmt.Fprintf(a.w, "\n],\"comment\":%s}}\n", comment)
	return left, cmp.Or(a.err, ctx.Err(), a.w.Flush())
}

// archiver makes entries of an archive from those of a journal.
type archiver struct {
	j       *journal.Journal
	all     *exchanges
	w       *bufio.Writer
	n       int
	heads   map[connKey]*request      // of each connection, the latest HTTP request that no message is known of
	notes   map[connKey]journal.Entry // notification of the client's whose HTTP request may come
	dropped map[journal.Kind]int
	err     error
}

// connKey is a connection.
type connKey struct {
	server, hop string
	conn        uint64
}

func (s connKey) compare(o connKey) int {
	return cmp.Or(cmp.Compare(s.server, o.server), cmp.Compare(s.hop, o.hop), cmp.Compare(s.conn, o.conn))
}

func connKeyOf(e *journal.Entry) connKey { return connKey{e.Server, e.Hop, e.Conn} }

// request is an HTTP request and its response: entries of kind HTTP.
type request struct {
	out, in journal.Entry
	body    *journal.Entry // what was sent; nil for nothing that is known
	refusal *journal.Entry // what came back in place of messages
	answers []journal.Entry
	resent  bool // the body was sent before
}

// handle takes one entry of the journal. An exchange is written when its request comes.
func (a *archiver) handle(e journal.Entry) {
	switch {
	case e.Kind == journal.Request:
		k := connKeyOf(&e)
		a.flushNote(k)
		if r := a.heads[k]; r != nil && r.in.Seq != 0 {
			delete(a.heads, k)
			a.send(r)
		}
		a.exchange(e)
		return
	case e.Root != 0 && !(e.Kind == journal.Notification && e.Dir == journal.Out):
		if _, ok := a.j.Get(e.Root); ok {
			return // written with its request
		}
	case e.Kind == journal.Stderr || e.Kind == journal.Bad || e.Kind == journal.State || e.Kind == journal.Span:
		a.dropped[e.Kind]++
		return
	}
	k := connKeyOf(&e)
	if r := a.heads[k]; r != nil && r.in.Seq != 0 && (e.Kind != journal.HTTP || e.Dir == journal.Out) { // nothing of it comes any more
		delete(a.heads, k)
		a.send(r)
	}
	switch {
	case e.Kind == journal.HTTP:
		a.handleHTTP(k, e)
	case e.Kind == journal.Notification && e.Dir == journal.Out:
		if e.Root != 0 && !slices.ContainsFunc(a.all.frames(e.Root), isHTTP) {
			return // written with its request
		}
		a.flushNote(k)
		a.notes[k] = e
	default:
		a.writeMessage(e)
	}
}

func isHTTP(e journal.Entry) bool { return e.Kind == journal.HTTP }

// flushNote writes the notification whose HTTP request did not come.
func (a *archiver) flushNote(k connKey) {
	if e, ok := a.notes[k]; ok {
		delete(a.notes, k)
		a.writeMessage(e)
	}
}

// handleHTTP takes an HTTP entry that belongs to no request of the protocol: of a notification, a stream, a login.
func (a *archiver) handleHTTP(k connKey, e journal.Entry) {
	r := a.heads[k]
	switch {
	case e.Dir == journal.Out:
		if r != nil {
			a.send(r)
		}
		r = &request{out: e}
		if note, ok := a.notes[k]; ok && note.Method == e.Method {
			delete(a.notes, k)
			r.body = &note
		}
		a.heads[k] = r
	case r != nil && r.in.Seq == 0 && (e.Peer == r.out.Seq || e.Peer == 0):
		r.in = e
	case r != nil && r.refusal == nil && e.Peer == 0:
		r.refusal = &e
	default:
		a.dropped[journal.HTTP]++
	}
}

// exchange writes a request of the protocol with all that belongs to it.
func (a *archiver) exchange(q journal.Entry) {
	var sent []*request
	var frames []journal.Entry
	var ended *importer.HAREnded
	for _, e := range a.all.frames(q.Seq) {
		switch {
		case e.Seq == q.Seq:
		case e.Kind == journal.HTTP && e.Dir == journal.Out:
			sent = append(sent, &request{out: e})
		case e.Kind == journal.HTTP:
			i := slices.IndexFunc(sent, func(r *request) bool { return e.Peer != 0 && r.out.Seq == e.Peer })
			if i < 0 {
				i = len(sent) - 1
			}
			switch {
			case i < 0:
				a.dropped[journal.HTTP]++
			case sent[i].in.Seq == 0:
				sent[i].in = e
			default:
				sent[i].refusal = &e
			}
		case e.Kind == journal.State:
			ended = &importer.HAREnded{Time: stamp(e.Time), Status: e.Status, Note: e.Note}
		case e.Kind == journal.Stderr || e.Kind == journal.Bad || e.Kind == journal.Span:
			a.dropped[e.Kind]++
		default:
			frames = append(frames, e)
		}
	}
	if len(sent) == 0 || q.Dir == journal.In {
		h := a.syntheticEntry(q)
		h.Ended = ended
		if len(sent) == 0 {
			a.answer(h, q.Time, frames, "")
		}
		a.write(h)
	}
	answered := len(sent) - 1 // the one that the messages came back on, where a later one (a retry, a resumption) got no response
	for i, r := range sent {
		if r.in.Seq != 0 && r.in.Status == "" {
			answered = i
		}
	}
	for i, r := range sent {
		switch {
		case q.Dir == journal.In: // what the client answered
			if len(frames) > 0 {
				r.body = &frames[len(frames)-1]
			}
		default:
			r.body = &q
			if i == answered {
				r.answers = slices.DeleteFunc(frames, func(e journal.Entry) bool { return e.Dir == journal.Out && e.Kind == journal.Notification })
			}
		}
		r.resent = i > 0 && q.Dir == journal.Out
		h := a.http(r)
		if q.Dir == journal.Out && i == len(sent)-1 {
			h.Ended = ended
		}
		a.write(h)
	}
}

func (a *archiver) send(r *request) { a.write(a.http(r)) }

// writeMessage writes a message that is not a part of an exchange.
func (a *archiver) writeMessage(e journal.Entry) {
	h := a.syntheticEntry(e)
	h.Response.Status, h.Response.StatusText = http.StatusAccepted, http.StatusText(http.StatusAccepted)
	a.write(h)
}

// syntheticEntry is an entry for a message that did not go over HTTP.
func (a *archiver) syntheticEntry(e journal.Entry) *importer.HAREntry {
	h := a.entry(e)
	h.Made, h.Comment = true, "made from messages: there was no HTTP request"
	if e.Dir == journal.In {
		h.From = "server"
		h.Comment += "; sent by the server"
	}
	u := url.URL{Scheme: "mcp", Host: "server", Path: "/" + e.Server + "/" + cmp.Or(e.Method, e.Kind.String())}
	if e.Tool != "" {
		u.RawQuery = url.Values{"name": {e.Tool}}.Encode()
		h.Request.QueryString = []importer.HARPair{{Name: "name", Value: e.Tool}}
	}
	h.Request.Method, h.Request.URL = http.MethodPost, u.String()
	h.Request.Headers = []importer.HARPair{{Name: "Content-Type", Value: "application/json"}}
	a.post(h, e)
	return h
}

// entry fills in what all entries have.
func (a *archiver) entry(e journal.Entry) *importer.HAREntry {
	h := &importer.HAREntry{Started: stamp(e.Time), Type: "fetch", Server: e.Server, Conn: e.Conn, Hop: e.Hop}
	h.Request = importer.HARRequest{HTTPVersion: "HTTP/1.1", Cookies: []importer.HARPair{}, Headers: []importer.HARPair{}, QueryString: []importer.HARPair{}, HeadersSize: -1}
	h.Response = importer.HARResponse{HTTPVersion: "HTTP/1.1", Cookies: []importer.HARPair{}, Headers: []importer.HARPair{}, HeadersSize: -1, BodySize: -1}
	return h
}

// post puts a message into the request.
func (a *archiver) post(h *importer.HAREntry, e journal.Entry) {
	if body := a.body(e); len(body) > 0 {
		h.Request.PostData = &importer.HARPostData{MimeType: "application/json", Text: string(body)}
		h.Request.BodySize = len(body)
	}
}

func (a *archiver) body(e journal.Entry) []byte {
	body, err := a.j.Body(e.Seq)
	if err != nil && e.Size > 0 {
		a.dropped[e.Kind]++
	}
	_, body = journal.Masked(e, body)
	return body
}

// http is an entry for a request that went over HTTP.
func (a *archiver) http(r *request) *importer.HAREntry {
	h := a.entry(r.out)
	first, headers := parseHead(a.body(r.out))
	method, rest, _ := strings.Cut(first, " ")
	target, proto, _ := strings.Cut(rest, " ")
	h.Request.Method, h.Request.Headers, h.Request.HTTPVersion = cmp.Or(method, http.MethodGet), headers, cmp.Or(proto, "HTTP/1.1")
	h.Request.URL = target
	if strings.HasPrefix(target, "/") {
		h.Request.URL = "http://" + url.PathEscape(cmp.Or(r.out.Server, "server")) + target
	}
	if u, err := url.Parse(h.Request.URL); err == nil {
		for _, name := range slices.Sorted(maps.Keys(u.Query())) {
			for _, v := range u.Query()[name] {
				h.Request.QueryString = append(h.Request.QueryString, importer.HARPair{Name: name, Value: v})
			}
		}
	}
	if r.body != nil && method == http.MethodPost {
		a.post(h, *r.body)
		h.Again = r.resent
		if !r.resent && r.body.Time.Before(r.out.Time) {
			h.Started = stamp(r.body.Time)
		}
	}
	if r.in.Seq == 0 || r.in.Status != "" {
		h.Response.Error = cmp.Or(r.in.Note, "no response was recorded")
		for _, e := range r.answers {
			a.dropped[e.Kind]++
		}
		return h
	}
	first, h.Response.Headers = parseHead(a.body(r.in))
	if strings.HasPrefix(first, "HTTP/") {
		h.Response.HTTPVersion, first, _ = strings.Cut(first, " ")
	}
	code, words, _ := strings.Cut(first, " ")
	h.Response.Status, _ = strconv.Atoi(code)
	h.Response.StatusText = words
	h.Timings.Wait = milliseconds(r.in.Time.Sub(r.out.Time))
	h.Time = h.Timings.Wait
	i := slices.IndexFunc(h.Response.Headers, func(p importer.HARPair) bool { return strings.EqualFold(p.Name, "Content-Type") })
	kind := ""
	if i >= 0 {
		kind = h.Response.Headers[i].Value
	}
	if r.refusal != nil {
		content(h, kind, a.body(*r.refusal))
		return h
	}
	a.answer(h, r.out.Time, r.answers, kind)
	return h
}

// answer puts the messages that came back into the response: as they are, or as the events of a stream where there are several, or
// where kind, the content type, says so.
func (a *archiver) answer(h *importer.HAREntry, start time.Time, frames []journal.Entry, kind string) {
	if len(frames) == 0 {
		return
	}
	events := strings.HasPrefix(kind, "text/event-stream") || len(frames) > 1 || frames[0].Kind == journal.Notification || frames[0].Kind == journal.Request
	if kind == "" {
		if kind = "application/json"; events {
			kind = "text/event-stream"
		}
		h.Response.Headers = append(h.Response.Headers, importer.HARPair{Name: "Content-Type", Value: kind})
		h.Response.Status, h.Response.StatusText = http.StatusOK, http.StatusText(http.StatusOK)
	}
	var b bytes.Buffer
	for _, e := range frames {
		body := a.body(e)
		f := importer.HARFrame{Time: stamp(e.Time)}
		if e.Dir == journal.Out && h.From == "" {
			f.From = "client"
		}
		h.Frames = append(h.Frames, f)
		if events {
			fmt.Fprintf(&b, "event: message\ndata: %s\n\n", jsonrpc.OneLine(bytes.TrimSpace(body)))
		} else {
			b.Write(body)
		}
	}
	content(h, kind, b.Bytes())
	total := milliseconds(frames[len(frames)-1].Time.Sub(start))
	if h.Made {
		h.Timings.Wait = milliseconds(frames[0].Time.Sub(start))
	}
	h.Timings.Receive = max(total-h.Timings.Wait, 0)
	h.Time = h.Timings.Wait + h.Timings.Receive
}

func content(h *importer.HAREntry, kind string, body []byte) {
	h.Response.Content = importer.HARContent{Size: len(body), MimeType: kind, Text: string(body)}
	h.Response.BodySize = len(body)
}

// write writes one entry.
func (a *archiver) write(h *importer.HAREntry) {
	if a.err != nil {
		return
	}
	b, err := json.Marshal(h, jsontext.AllowInvalidUTF8(true))
	if err != nil {
		a.err = err
		return
	}
	if a.n++; a.n > 1 {
		_ = a.w.WriteByte(',')
	}
	_ = a.w.WriteByte('\n')
	_, a.err = a.w.Write(b)
}

// omissions counts what was left out by its kind, for the comment of the archive; "" if nothing was.
func (a *archiver) omissions() string {
	var parts []string
	for _, k := range slices.Sorted(maps.Keys(a.dropped)) {
		parts = append(parts, fmt.Sprintf("%d %s", a.dropped[k], k))
	}
	if len(parts) == 0 {
		return ""
	}
	return "left out, since an HTTP archive cannot hold them: " + strings.Join(parts, ", ")
}

// parseHead takes the text of an HTTP head apart.
func parseHead(text []byte) (first string, headers []importer.HARPair) {
	first, rest, _ := strings.Cut(string(text), "\n")
	headers = []importer.HARPair{}
	for line := range strings.Lines(rest) {
		if name, value, ok := strings.Cut(strings.TrimRight(line, "\r\n"), ":"); ok && name != "" {
			headers = append(headers, importer.HARPair{Name: name, Value: strings.TrimSpace(value)})
		}
	}
	return strings.TrimRight(first, "\r"), headers
}

func stamp(t time.Time) string { return t.UTC().Format(time.RFC3339Nano) }

// milliseconds are what archives count in, to the microsecond.
func milliseconds(d time.Duration) float64 {
	return max(float64(d.Round(time.Microsecond))/float64(time.Millisecond), 0)
}
