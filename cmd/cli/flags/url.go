package flags

import (
	"net"
	"net/url"
	"regexp"
)

// hostAndMore is what is a URL but for its scheme: localhost, or a host with a port or a path behind it.
var hostAndMore = regexp.MustCompile(`^(localhost(:\d+)?(/.*)?|[A-Za-z0-9][A-Za-z0-9.-]*:\d+(/.*)?|[A-Za-z0-9-]+(\.[A-Za-z0-9-]+)+/.*|\[[0-9a-fA-F:.]+\](:\d+)?(/.*)?)$`)

// BareURL is the URL that somebody meant who left out the scheme, "" if the text does not look like one.
func BareURL(s string) string {
	if !hostAndMore.MatchString(s) {
		return ""
	}
	u, err := url.Parse("http://" + s)
	if err != nil {
		return ""
	}
	if ip := net.ParseIP(u.Hostname()); u.Hostname() != "localhost" && ip == nil && u.Port() == "" {
		u.Scheme = "https"
	}
	return u.String()
}
