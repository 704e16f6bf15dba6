package listen

import (
	"net/netip"
	"net/url"
	"strings"
)

// Reach says from where an address can be reached; the smaller, the nearer.
type Reach int

// The reaches.
const (
	Machine Reach = iota // this one
	Network              // that this machine is in
	Anywhere
)

// ReachOf is the reach of a URL's host. Names other than localhost are not looked up.
func ReachOf(u *url.URL) Reach {
	host := strings.ToLower(strings.TrimSuffix(u.Hostname(), "."))
	if host == "localhost" || strings.HasSuffix(host, ".localhost") {
		return Machine
	}
	ip, err := netip.ParseAddr(host)
	if err != nil {
		return Anywhere
	}
	return ReachOfIP(ip)
}

// ReachOfIP is the reach of an address.
func ReachOfIP(ip netip.Addr) Reach {
	ip = ip.Unmap()
	switch {
	case ip.IsLoopback(), ip.IsUnspecified():
		return Machine
	case ip.IsPrivate(), ip.IsLinkLocalUnicast():
		return Network
	}
	return Anywhere
}
