package transport

import (
	"strings"

	"github.com/mcphud/mcphud/session/base/failure"
	"github.com/mcphud/mcphud/session/base/mask"
	"github.com/mcphud/mcphud/session/base/text"
)

// Explain is the refusal as users see it: what to do next goes by the status, and for 400 by what well-known servers write in the body. 401 and 403
// are of kind OAuth, all others of kind Transport; h is what it wraps. The body is shown as text, the beginning of it.
func (h *HTTPError) Explain() *failure.Error {
	e := &failure.Error{
		Kind: failure.Transport, Status: h.Status, URL: h.URL, Err: h,
		Message: h.Error(), Detail: text.Clip(text.OfPage(strings.ToValidUTF8(string(h.Body), "\uFFFD")), 400),
	}
	switch {
	case h.Status == 401 || h.Status == 403:
		e.Kind = failure.OAuth
		if how := h.Header.Get("WWW-Authenticate"); how != "" {
			e.Message += " (WWW-Authenticate: " + text.Clip(mask.Text(how), 400) + ")"
		}
		e.Next, e.Remedy = `give credentials, such as an "Authorization: Bearer …" header`, failure.GiveHeader
	case h.Status == 407:
		p := refusedByProxy("", h.Status, "")
		e.Message, e.Next, e.Remedy = strings.ReplaceAll(p.message, "  ", " "), p.next, failure.ChooseProxy
	case h.Status >= 300 && h.Status < 400:
		e.Next = "give the final URL itself"
		if to := h.Header.Get("Location"); to != "" {
			e.Message += ", a redirect to " + text.Clip(mask.URL(to), 200)
		}
	case h.Status == 400 && strings.HasPrefix(h.URL, "http:") && strings.Contains(strings.ToUpper(string(h.Body)), "HTTPS"): // from Go, nginx and Apache
		e.Next = "use https:// instead of http://"
	case h.Status == 400 && strings.Contains(string(h.Body), "SSL certificate"): // from nginx
		e.Next, e.Remedy = "name a client certificate with its private key", failure.GiveCertificate
	case h.Status == 404:
		e.Next = "check the path of the URL (many servers listen at /mcp)"
	case h.Status == 405 || h.Status == 406 || h.Status == 415:
		e.Next, e.Remedy = "check that the URL is an MCP endpoint, or try HTTP+SSE", failure.ChooseTransport
	case h.Status == 429:
		e.Next = "wait and try again"
		if after := h.Header.Get("Retry-After"); after != "" {
			e.Next = "wait (the server says Retry-After: " + text.Clip(after, 60) + ") and try again"
		}
	case h.Status >= 500:
		e.Next = "look at the server's own log, then try again"
	}
	return e
}
