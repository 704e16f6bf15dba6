package main

import (
	"net"
	"net/url"
	"regexp"
	"slices"

	"github.com/spf13/cobra"

	"github.com/mcphud/mcphud/session/config"
)

// takeURL takes the server's URL from a command's own arguments, where nothing else names a server: the first, else the last, else
// another one, if it is a plain http(s) or ws(s) URL and the command can do without it. The others are returned.
func (o *options) takeURL(cmd *cobra.Command, own []string, dash bool) []string {
	if dash || o.url+o.agent+o.server != "" {
		return own
	}
	if rule, ok := argRules[cmd.Annotations[ruleKey]]; !ok || len(own) <= rule.min {
		return own
	}
	order := []int{0, len(own) - 1}
	for i := range own {
		order = append(order, i)
	}
	for _, i := range order {
		if config.IsURL(own[i]) {
			o.url = own[i]
			return slices.Delete(slices.Clone(own), i, i+1)
		}
	}
	return own
}

// hostAndMore is what is a URL but for its scheme: localhost, or a host with a port or a path behind it.
var hostAndMore = regexp.MustCompile(`^(localhost(:\d+)?(/.*)?|[A-Za-z0-9][A-Za-z0-9.-]*:\d+(/.*)?|[A-Za-z0-9-]+(\.[A-Za-z0-9-]+)+/.*|\[[0-9a-fA-F:.]+\](:\d+)?(/.*)?)$`)

// bareURL is the URL that somebody meant who left out the scheme, "" if the text does not look like one.
func bareURL(s string) string {
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
