package listen

import "net/url"

// PortOf is the port of an http or https URL as text, also where it is left out (RFC 9110, sections 4.2.1 and 4.2.2).
func PortOf(u *url.URL) string {
	switch {
	case u.Port() != "":
		return u.Port()
	case u.Scheme == "https":
		return "443"
	}
	return "80"
}
