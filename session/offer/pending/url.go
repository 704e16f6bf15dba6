package pending

import (
	"net"
	"net/url"
	"strings"
	"unicode"

	"github.com/mcphud/mcphud/session/base/failure"
	"github.com/mcphud/mcphud/session/base/listen"
	"github.com/mcphud/mcphud/session/base/text"
)

// Page is what is known of a URL before it is opened.
type Page struct {
	Host string // as it is written, with its port; "" if there is none
	// Warnings are what a person should look at, such as a host name that imitates another one.
	Warnings []string
	// Refused is why it must not be opened; nil if it may.
	Refused error
	// Why says the same without the URL, and Next what to do; both are empty where Refused is nil.
	Why, Next string
}

// PageOf judges the URL of an elicitation: only https is opened, and http on this machine. Nothing is looked up or fetched: what it says is by how the URL
// is written (2025-11-25, client/elicitation, "Safe URL Handling").
func PageOf(raw string) Page {
	no := func(p Page, why, next string) Page {
		p.Why, p.Next = why, next
		p.Refused = &failure.Error{Kind: failure.Usage, Stage: "opening a page", Message: why + ": " + text.Clip(raw, 200), Next: next}
		return p
	}
	u, err := url.Parse(raw)
	if err != nil || strings.ContainsFunc(raw, func(r rune) bool { return r <= ' ' || r == 0x7f || r == '\\' }) {
		return no(Page{}, "not a valid URL", "decline it")
	}
	p := Page{Host: u.Host}
	host := u.Hostname()
	local := host == "localhost" || strings.HasSuffix(host, ".localhost")
	ip := net.ParseIP(host)
	if ip != nil {
		local = ip.IsLoopback()
	}
	if strings.ContainsFunc(host, isInvisible) {
		return no(p, "the host has characters that no screen shows, or that turn the direction of text", "decline it: this is how pages pretend to be others")
	}
	switch reach := listen.ReachOf(u); {
	case u.Scheme == "http" && local, u.Scheme != "http" && u.Scheme != "https": // on this machine, which is why it may be http; refused below
	case listen.Spelled(host):
		p.Warnings = append(p.Warnings, "the host is an address, written so that it does not look like one")
	case ip != nil && !local:
		p.Warnings = append(p.Warnings, "the host is an address and not a name")
	case reach == listen.Machine:
		p.Warnings = append(p.Warnings, "the page is of a program of this machine")
	case reach == listen.Network && host != "":
		p.Warnings = append(p.Warnings, "the page is of a program of this network")
	}
	for _, label := range strings.Split(strings.ToLower(host), ".") {
		if strings.HasPrefix(label, "xn--") {
			p.Warnings = append(p.Warnings, "the host name is encoded (punycode) and may imitate another one")
			break
		}
	}
	if strings.ContainsFunc(host, func(r rune) bool { return r > 0x7e }) {
		p.Warnings = append(p.Warnings, "the host name has letters that may imitate others")
	}
	switch {
	case u.User != nil:
		return no(p, "the URL has a user name in front of its host, "+u.Host, "decline it: this is how pages pretend to be others")
	case host == "":
		return no(p, "the URL has no host", "decline it")
	case u.Scheme == "https", u.Scheme == "http" && local:
		return p
	case u.Scheme == "http":
		return no(p, "the page is not encrypted", "ask for an https page")
	}
	return no(p, "only https pages are opened, and not "+text.Clip(u.Scheme, 20), "decline it")
}

// isInvisible reports whether a character of a host shows nothing of its own, or changes where others stand.
func isInvisible(r rune) bool {
	return r > 0x7e && (!unicode.IsPrint(r) || strings.ContainsRune("\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0", r) ||
		r >= 0x180b && r <= 0x180f || r >= 0xfe00 && r <= 0xfe0f || r >= 0xe0100 && r <= 0xe01ef)
}
