package live

import (
	"bytes"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/mcphud/mcphud/session/base/jsonrpc"
	"github.com/mcphud/mcphud/session/base/text"
	"github.com/mcphud/mcphud/session/wire/journal"
)

// isHidden reports whether a recorder hid a part of a header, or cloneText cut it: what it was nobody knows.
func isHidden(v string) bool { return strings.Contains(v, "***") || strings.HasSuffix(v, "…") }

// isPost reports whether f is the head of a POST that carries a message.
func (f *frame) isPost() bool { return f.post.head.verb == "POST" && f.post.kind != 0 }

// isStreamable reports whether the transport is Streamable HTTP, as far as is known.
func (f *frame) isStreamable() bool { return !f.c.sse }

func checkAccept(f *frame) string {
	if !f.isPost() || !f.isStreamable() {
		return ""
	}
	v := f.head.fields["accept"]
	if strings.Contains(v, "*/*") || isHidden(v) {
		return ""
	}
	if !strings.Contains(v, "application/json") || !strings.Contains(v, "text/event-stream") {
		return "Accept: " + quote(v)
	}
	return ""
}

func checkContentType(f *frame) string {
	if v := f.head.fields["content-type"]; f.isPost() && !strings.HasPrefix(strings.ToLower(v), "application/json") {
		return "Content-Type: " + quote(v)
	}
	return ""
}

// checkVersionHeader: before the handshake no version is agreed on. Of notifications 2026-07-28/basic/transports/streamable-http#sending-messages
// leaves the headers open.
func checkVersionHeader(f *frame) string {
	if f.head.fields["mcp-protocol-version"] != "" || f.post.method == "initialize" || !f.isStreamable() || !f.isPost() || !f.modern && f.rev == revModern {
		return ""
	}
	if f.rev == revModern {
		if f.post.kind != journal.Request {
			return "" // the revision defines no headers for notifications
		}
		return "MCP-Protocol-Version: missing"
	}
	if !f.c.initialized {
		return ""
	}
	return "MCP-Protocol-Version: missing"
}

// checkVersionHeaderSame compares with the version in _meta, or in earlier eras with that of the handshake.
func checkVersionHeaderSame(f *frame) string {
	v := f.head.fields["mcp-protocol-version"]
	if v == "" || f.rev == "" || v == f.rev || f.post.method == "initialize" || f.post.kind != journal.Request || !f.modern && !f.c.initialized {
		return ""
	}
	return fmt.Sprintf("MCP-Protocol-Version: %s, where the protocol version is %s", quote(v), f.rev)
}

func checkMethodHeader(f *frame) string {
	if !f.isPost() || !f.modern || f.post.kind != journal.Request {
		return ""
	}
	switch v, ok := f.head.fields["mcp-method"]; {
	case !ok:
		return "Mcp-Method: missing"
	case v != f.post.method:
		return fmt.Sprintf("Mcp-Method: %s, where /method is %s", quote(v), quote(f.post.method))
	}
	return ""
}

// checkNameHeader is silent where the parameters are too large to be kept.
func checkNameHeader(f *frame) string {
	if !f.isPost() || !f.modern || f.post.params == nil {
		return ""
	}
	want, ok := mcp.ExtractHeaderName(mcp.MCPMethod(f.post.method), f.post.params)
	v, sent := f.head.fields["mcp-name"]
	if !ok || isHidden(v) {
		return ""
	}
	if !sent {
		return "Mcp-Name: missing"
	}
	if got, ok := mcp.DecodeHeaderValue(v); !ok || got != want {
		return fmt.Sprintf("Mcp-Name: %s, where the body has %s", quote(v), quote(want))
	}
	return ""
}

// checkParamHeaders needs the list of tools, which says what is marked, and all headers as they were sent.
func checkParamHeaders(f *frame) string {
	if !f.isPost() || !f.modern || f.post.params == nil || f.post.method != "tools/call" {
		return ""
	}
	t := f.c.server.tools[stringAt(f.post.params, "name")]
	if t == nil || !bytes.Contains(t.input, []byte("x-mcp-header")) {
		return ""
	}
	for _, v := range f.head.fields {
		if isHidden(v) {
			return ""
		}
	}
	get := func(name string) (string, bool) { v, ok := f.head.fields[strings.ToLower(name)]; return v, ok }
	if err := mcp.ValidateParamHeadersLookup(get, &mcp.Tool{RawInputSchema: t.input}, f.post.params); err != nil {
		return text.Clip(err.Error(), 160)
	}
	return ""
}

// checkSessionMissing is about GET and DELETE, too (2025-11-25/basic/transports#session-management), and not about OPTIONS, see checkVerb.
func checkSessionMissing(f *frame) string {
	_, sent := f.head.fields["mcp-session-id"]
	if !f.c.session || sent || f.head.verb == "OPTIONS" || f.post.method == "initialize" || f.modern || f.rev == revModern {
		return ""
	}
	return "Mcp-Session-Id: missing"
}

func checkSessionGone(f *frame) string {
	_, sent := f.head.fields["mcp-session-id"]
	if !f.c.sessionExpired || !sent || f.modern || !f.isPost() {
		return ""
	}
	return "Mcp-Session-Id: of a session that was answered with 404"
}

// checkSessionModern is for two rules: the head is that of a request, or of a response.
func checkSessionModern(f *frame) string {
	if _, sent := f.head.fields["mcp-session-id"]; sent && f.modern {
		return "Mcp-Session-Id, which this revision does not have"
	}
	return ""
}

// checkVerb allows GET until the server has answered in the modern era, since a client may still look for an earlier one, and OPTIONS, with which
// browsers ask first (https://fetch.spec.whatwg.org/#cors-preflight-fetch).
func checkVerb(f *frame) string {
	if v := f.post.head.verb; v != "POST" && v != "OPTIONS" && f.c.modern && !f.c.initialized {
		return v + " to the MCP endpoint"
	}
	return ""
}

func checkCancelHTTP(f *frame) string {
	if f.isPost() && f.rev == revModern && f.post.method == "notifications/cancelled" {
		return "a POST of notifications/cancelled"
	}
	return ""
}

func checkQuery(f *frame) string {
	u, err := url.Parse(f.head.target)
	if err != nil {
		return ""
	}
	for _, name := range slices.Sorted(maps.Keys(u.Query())) {
		switch strings.ToLower(name) {
		case "access_token", "accesstoken", "token", "bearer", "authorization":
			return "the parameter " + quote(name)
		}
	}
	return ""
}

// isResponseTo reports whether f is the head of the answer to a POST that carried a message of this kind.
func (f *frame) isResponseTo(k journal.Kind) bool {
	return f.post != nil && f.post.known && f.post.kind == k && f.post.head.verb == "POST" && f.isStreamable()
}

// mediaType is that of a response, in lower case and without parameters.
func (f *frame) mediaType() string {
	m, _, _ := strings.Cut(f.head.fields["content-type"], ";")
	return strings.ToLower(strings.TrimSpace(m))
}

func checkResponseType(f *frame) string {
	if !f.isResponseTo(journal.Request) || f.head.status != 200 {
		return ""
	}
	if m := f.mediaType(); m != "application/json" && m != "text/event-stream" {
		return "Content-Type: " + quote(f.head.fields["content-type"])
	}
	return ""
}

func checkAccepted(f *frame) string {
	if f.isResponseTo(journal.Request) && (f.head.status == 202 || f.head.status == 204) {
		return fmt.Sprintf("%d for the request %s", f.head.status, text.Clip(f.post.method, 60))
	}
	return ""
}

// checkNotificationStatus is about answers of clients, too. A refusal with another status than 2xx is allowed.
func checkNotificationStatus(f *frame) string {
	if f.post == nil || f.post.kind == journal.Request || f.post.kind == 0 || !f.isResponseTo(f.post.kind) {
		return ""
	}
	if s := f.head.status; s/100 == 2 && s != 202 {
		return fmt.Sprintf("%d for %s", s, text.Clip(messageName(f.post), 60))
	}
	return ""
}

func messageName(p *post) string {
	if p.method == "" {
		return "an answer"
	}
	return p.method
}

// checkAcceptedBody goes by Content-Length, and does not see a body without it.
func checkAcceptedBody(f *frame) string {
	if n := f.head.fields["content-length"]; f.post != nil && f.isStreamable() && f.head.status == 202 && n != "" && n != "0" {
		return "202 with Content-Length: " + text.Clip(n, 20)
	}
	return ""
}

func checkChallenge(f *frame) string {
	if f.head.status == 401 && f.head.fields["www-authenticate"] == "" {
		return "401 without WWW-Authenticate"
	}
	return ""
}

// checkOrigin compares with the URL that a session recorded, or the header Host that a router did.
func checkOrigin(f *frame) string {
	if f.post == nil || f.head.status/100 != 2 {
		return ""
	}
	origin := f.post.head.fields["origin"]
	u, err := url.Parse(origin)
	if origin == "" || err != nil || u.Host == "" {
		return ""
	}
	host := f.post.head.fields["host"]
	if t, err := url.Parse(f.post.head.target); err == nil && t.Host != "" {
		host = t.Host
	}
	if host == "" || strings.EqualFold(withoutPort(u.Host), withoutPort(host)) {
		return ""
	}
	return fmt.Sprintf("Origin: %s at %s, answered with %d", quote(origin), quote(host), f.head.status)
}

// withoutPort takes a default port off a host. What scheme a header Host goes with is not known, for there may be a proxy before the server.
func withoutPort(host string) string {
	return strings.TrimSuffix(strings.TrimSuffix(host, ":443"), ":80")
}

// checkErrorStatus is silent where no HTTP response was recorded. -32602 has a status of its own only for a missing _meta (2026-07-28/basic#meta).
func checkErrorStatus(f *frame) string {
	q := f.req
	if q == nil || !q.modern || q.status == 0 {
		return ""
	}
	want := 0
	switch string(jsonrpc.Get(f.env.Error, "code")) {
	case "-32601":
		want = 404
	case "-32020", "-32021", "-32022":
		want = 400
	case "-32602":
		if q.withoutMeta {
			want = 400
		}
	}
	if want == 0 || q.status == want {
		return ""
	}
	return fmt.Sprintf("/error/code: %s with HTTP status %d instead of %d", jsonrpc.Get(f.env.Error, "code"), q.status, want)
}
