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

// ReachOf is the reach of a URL's host: of an address in whatever spelling, and of a name by what it says of itself, whoever resolves it.
// No name is looked up.
func ReachOf(u *url.URL) Reach {
	host := plainHost(u.Hostname())
	if host == "localhost" || strings.HasSuffix(host, ".localhost") {
		return Machine
	}
	if ip, err := netip.ParseAddr(host); err == nil {
		return ReachOfIP(ip)
	}
	if numeric(host) {
		return reachOfNumbers(host)
	}
	if private(host) {
		return Network
	}
	return Anywhere
}

// near are networks that are not the Internet, beside those that netip knows.
var near = []netip.Prefix{
	netip.MustParsePrefix("0.0.0.0/8"),      // this network (RFC 1122)
	netip.MustParsePrefix("100.64.0.0/10"),  // shared by customers of a carrier (RFC 6598); some clouds have their metadata there
	netip.MustParsePrefix("192.0.0.0/24"),   // of protocols (RFC 6890)
	netip.MustParsePrefix("198.18.0.0/15"),  // of benchmarks (RFC 2544)
	netip.MustParsePrefix("240.0.0.0/4"),    // reserved, and broadcast
	netip.MustParsePrefix("64:ff9b:1::/48"), // translated locally (RFC 8215)
	netip.MustParsePrefix("fec0::/10"),      // site-local (RFC 3879)
}

// ReachOfIP is the reach of an address. One that has an IPv4 address inside, for a translator on the way, has the reach of that.
func ReachOfIP(ip netip.Addr) Reach {
	ip = inside(ip.Unmap().WithZone(""))
	switch {
	case ip.IsLoopback(), ip.IsUnspecified():
		return Machine
	case ip.IsPrivate(), ip.IsLinkLocalUnicast(), ip.IsMulticast():
		return Network
	}
	for _, p := range near {
		if p.Contains(ip) {
			return Network
		}
	}
	return Anywhere
}

// inside is the IPv4 address that an IPv6 address stands for, or the address itself.
func inside(ip netip.Addr) netip.Addr {
	if ip.Is4() || ip.IsLoopback() || ip.IsUnspecified() {
		return ip
	}
	b := ip.As16()
	switch {
	case netip.MustParsePrefix("64:ff9b::/96").Contains(ip), netip.MustParsePrefix("::/96").Contains(ip): // NAT64 (RFC 6052), IPv4-compatible (RFC 4291)
		return netip.AddrFrom4([4]byte(b[12:]))
	case netip.MustParsePrefix("2002::/16").Contains(ip): // 6to4 (RFC 3056)
		return netip.AddrFrom4([4]byte(b[2:6]))
	}
	return ip
}
