package live

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/mcphud/mcphud/session/base/jsonrpc"
	"github.com/mcphud/mcphud/session/base/text"
	"github.com/mcphud/mcphud/session/wire/journal"
)

// quote quotes a text for evidence, at most 60 bytes of it.
func quote(s string) string { return fmt.Sprintf("%q", text.Clip(s, 60)) }

// quoteStart quotes the first bytes of the body.
func (f *frame) quoteStart() string {
	return quote(strings.ToValidUTF8(string(f.body[:min(len(f.body), 80)]), "\uFFFD"))
}

// isNotJSON reports whether the body is not JSON.
func (f *frame) isNotJSON() bool {
	var s *jsonrpc.SyntaxError
	return errors.As(f.err, &s)
}

// isObject reports whether the body begins as a message does.
func (f *frame) isObject() bool {
	first := bytes.TrimLeft(f.body, " \t\r\n")
	return len(first) > 0 && first[0] == '{'
}

// isArray reports whether the body is a JSON array.
func (f *frame) isArray() bool {
	first := bytes.TrimLeft(f.body, " \t\r\n")
	return len(first) > 0 && first[0] == '[' && jsonrpc.Valid(first) == nil
}

// isNearlyMessage reports whether a bad body is a JSON object that says that it is JSON-RPC, or nearly.
func (f *frame) isNearlyMessage() bool {
	return f.whole && f.err != nil && !f.isNotJSON() && f.isObject() && utf8.Valid(f.body)
}

// isNoise reports whether the body is nothing that was meant as a message.
func (f *frame) isNoise() bool {
	return f.whole && !f.isArray() && (!f.isObject() || f.isNotJSON() && !bytes.Contains(f.body, []byte(`"jsonrpc"`)))
}

// checkNoise is about stdio; over HTTP the same is for checkBody.
func checkNoise(f *frame) string {
	if !f.isNoise() || f.c.overHTTP() {
		return ""
	}
	return f.quoteStart()
}

func checkBody(f *frame) string {
	if !f.isNoise() || !f.c.overHTTP() {
		return ""
	}
	return f.quoteStart()
}

// checkCut takes for a broken message what names jsonrpc; other broken JSON is noise.
func checkCut(f *frame) string {
	if !f.whole || !f.isObject() || !f.isNotJSON() || !bytes.Contains(f.body, []byte(`"jsonrpc"`)) {
		return ""
	}
	return text.Clip(f.err.Error(), 120)
}

func checkUTF8(f *frame) string {
	if !f.whole || f.isNotJSON() || utf8.Valid(f.body) {
		return ""
	}
	for i, r := range string(f.body) {
		if _, n := utf8.DecodeRune(f.body[i:]); r == utf8.RuneError && n == 1 {
			return fmt.Sprintf("byte 0x%02x at offset %d", f.body[i], i)
		}
	}
	return ""
}

// checkBatch: 2025-03-26/basic#batching allows them, and an unknown revision may be that. A session notes a batch that it took apart, see batchOf.
func checkBatch(f *frame) string {
	switch {
	case f.rev == rev2503, f.rev == "":
		return ""
	case f.Kind == journal.State:
		return f.Note
	case !f.whole || !f.isArray():
		return ""
	}
	n := 0
	_ = jsonrpc.Elements(f.body, func([]byte) bool { n++; return true }) // it is valid
	return fmt.Sprintf("an array of %d messages", n)
}

func checkVersionMember(f *frame) string {
	if !f.isNearlyMessage() || f.env.Method == "" && f.env.ID == nil && f.env.Result == nil && f.env.Error == nil {
		return ""
	}
	v := jsonrpc.Get(f.body, "jsonrpc")
	switch {
	case v == nil:
		return "/jsonrpc: missing"
	case string(v) != `"2.0"`:
		return "/jsonrpc: " + text.Clip(string(v), 40)
	}
	return ""
}

func checkDuplicate(f *frame) string {
	if !f.isNearlyMessage() || !strings.Contains(f.err.Error(), "given twice") && !strings.Contains(f.err.Error(), "letter case") {
		return ""
	}
	return strings.TrimPrefix(f.err.Error(), jsonrpc.ErrInvalid.Error()+": ")
}

func checkBoth(f *frame) string {
	if f.isNearlyMessage() && f.env.Result != nil && f.env.Error != nil {
		return "/result and /error"
	}
	return ""
}

func checkNeither(f *frame) string {
	if f.isNearlyMessage() && f.env.Method == "" && f.env.ID != nil && f.env.Result == nil && f.env.Error == nil {
		return "/id: " + text.Clip(string(f.env.ID), 40) + ", and nothing else"
	}
	return ""
}

// checkNullID: only the error about a request whose id could not be read has null.
func checkNullID(f *frame) string {
	if f.isNearlyMessage() && f.env.ID != nil && f.env.ID[0] == 'n' && f.env.Error == nil {
		return "/id: null"
	}
	return ""
}

func checkMissingID(f *frame) string {
	if f.isNearlyMessage() && f.env.ID == nil && f.env.Result != nil && f.env.Error == nil {
		return "/id: missing"
	}
	return ""
}

// checkIDType: JSON-RPC allows 1.5, MCP integers only (2025-11-25/basic#requests). null is for checkNullID.
func checkIDType(f *frame) string {
	id := f.env.ID
	switch {
	case !f.whole || len(id) == 0 || id[0] == '"' || id[0] == 'n':
		return ""
	case bytes.ContainsAny(id, "{[tf.eE"):
		return "/id: " + text.Clip(string(id), 40)
	}
	return ""
}

// checkShape is for what no other rule about a bad frame has found.
func checkShape(f *frame) string {
	if !f.isNearlyMessage() || f.env.ID != nil && strings.IndexByte("n{[tf", f.env.ID[0]) >= 0 {
		return ""
	}
	for _, other := range []func(*frame) string{checkVersionMember, checkDuplicate, checkBoth, checkNeither, checkMissingID} {
		if other(f) != "" {
			return ""
		}
	}
	if f.env.Method == "" && f.env.Error == nil && jsonrpc.Get(f.body, "jsonrpc") == nil {
		return "an object that is not JSON-RPC: " + f.quoteStart()
	}
	return strings.TrimPrefix(f.err.Error(), jsonrpc.ErrInvalid.Error()+": ")
}

// checkReused: an id is used once in a session (2025-11-25/basic#requests), in the modern era once at a time (2026-07-28/basic#requests). Without a
// recorded handshake, HTTP does not show where sessions begin.
func checkReused(f *frame) string {
	s := &f.c.sides[f.Dir]
	if f.modern || f.rev == revModern {
		if q := s.pending[f.ID]; q != nil {
			return fmt.Sprintf("/id: %s is that of request %d, which has no answer yet", text.Clip(f.ID, 40), q.seq)
		}
		return ""
	}
	if !s.ids.has(hashString(f.ID)) || f.c.initializeSeq == 0 && f.c.overHTTP() {
		return ""
	}
	return fmt.Sprintf("/id: %s is that of request %d", text.Clip(f.ID, 40), s.ids.set[hashString(f.ID)])
}

// otherTypedID returns the pending request whose id equals that of an answer but for its type, 1 for "1"; nil for none.
func (f *frame) otherTypedID() *request {
	pending := f.c.sides[opposite(f.Dir)].pending
	if f.req != nil || f.ID == "" || f.ID == "null" || f.c.sides[opposite(f.Dir)].lost {
		return nil
	}
	twin := string(jsonrpc.Quote(f.ID))
	if s, ok := jsonrpc.String([]byte(f.ID)); ok {
		twin = s
	}
	if q := pending[twin]; q != nil {
		return q
	}
	for id, q := range pending { // 1.0 for 1; not where many are pending, each of which would be looked at
		if len(pending) <= 64 && jsonrpc.SameID([]byte(id), []byte(f.ID)) {
			return q
		}
	}
	return nil
}

func checkChangedID(f *frame) string {
	if q := f.otherTypedID(); q != nil {
		return fmt.Sprintf("/id: %s, where request %d has %s", text.Clip(f.ID, 40), q.seq, text.Clip(q.id, 40))
	}
	return ""
}

func checkUnknownID(f *frame) string {
	s := &f.c.sides[opposite(f.Dir)]
	if f.req != nil || f.ID == "" || f.ID == "null" || !f.c.begun || !s.ids.lacks(hashString(f.ID)) || f.otherTypedID() != nil {
		return ""
	}
	return "/id: " + text.Clip(f.ID, 40)
}

func checkDuplicateAnswer(f *frame) string {
	s := &f.c.sides[opposite(f.Dir)]
	h := hashString(f.ID)
	if f.req != nil || f.ID == "" || f.ID == "null" || !s.ids.has(h) || s.lost {
		return ""
	}
	return fmt.Sprintf("/id: %s was answered before, request %d", text.Clip(f.ID, 40), s.ids.set[h])
}

func checkLate(f *frame) string {
	if f.req == nil || !f.req.cancelled {
		return ""
	}
	return fmt.Sprintf("request %d was cancelled", f.req.seq)
}

// checkUnanswered: a stream of listen ends without an answer, an HTTP status from 400 on is one, and a server of an earlier era may ignore
// server/discover. That a server sends initialize is for checkDirection.
func checkUnanswered(f *frame) string {
	q := f.req
	if q.cancelled || q.method == "subscriptions/listen" || q.status >= 400 || q.method == "server/discover" || q.method == "initialize" && f.Dir == journal.In {
		return ""
	}
	return fmt.Sprintf("%s, id %s", text.Clip(strings.TrimSpace(q.method+" "+q.target), 80), text.Clip(q.id, 40))
}
