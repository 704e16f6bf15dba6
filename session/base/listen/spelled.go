package listen

import (
	"encoding/binary"
	"net/netip"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/net/idna"
	"golang.org/x/text/unicode/norm"
)

// Spelled reports whether a host is an address that is not written as one, such as 0x7f.1 or 2130706433: a person sees a name or a number,
// and resolvers and browsers an address.
func Spelled(host string) bool {
	_, err := netip.ParseAddr(strings.Trim(host, "[]"))
	return err != nil && numeric(plainHost(host))
}

// plainHost is a host as resolvers and browsers look it up: in lower case, letters and digits of other widths and shapes as the plain ones.
func plainHost(host string) string {
	if strings.ContainsFunc(host, func(r rune) bool { return r > 0x7e }) {
		ascii, err := idna.Lookup.ToASCII(host)
		if err != nil {
			ascii = strings.ReplaceAll(norm.NFKC.String(host), "。", ".")
		}
		host = ascii
	}
	return strings.ToLower(strings.TrimRight(host, "."))
}

// numeric reports whether a host ends in a number, by which browsers take all of it for an address.
func numeric(host string) bool {
	last := host[strings.LastIndexByte(host, '.')+1:]
	if hex, ok := strings.CutPrefix(last, "0x"); ok {
		return strings.Trim(hex, "0123456789abcdef") == ""
	}
	return last != "" && strings.Trim(last, "0123456789") == ""
}

// reachOfNumbers is the nearest reach of what a host of numbers may stand for. One that stands for nothing is as near as it can be.
func reachOfNumbers(host string) Reach {
	reach := Anywhere
	for _, octal := range []bool{true, false} { // resolvers do not agree on a leading zero
		ip, ok := numbers(host, octal)
		if !ok && octal {
			return Machine
		}
		if ok {
			reach = min(reach, ReachOfIP(ip))
		}
	}
	return reach
}

// numbers are up to four numbers as one address, as inet_aton has it: the last one fills what the others leave.
func numbers(host string, octal bool) (ip netip.Addr, ok bool) {
	parts := strings.Split(host, ".")
	if len(parts) > 4 {
		return ip, false
	}
	var all uint64
	for i, p := range parts {
		base := 10
		switch {
		case strings.HasPrefix(p, "0x"):
			base, p = 16, p[2:]
			if p == "" {
				p = "0"
			}
		case octal && len(p) > 1 && p[0] == '0':
			base = 8
		}
		n, err := strconv.ParseUint(p, base, 64)
		room := 8
		if i == len(parts)-1 {
			room = 8 * (5 - len(parts))
		}
		if err != nil || n >= 1<<room {
			return ip, false
		}
		all = all<<room | n
	}
	var b [4]byte
	binary.BigEndian.PutUint32(b[:], uint32(all))
	return netip.AddrFrom4(b), true
}

// privateNames are ends of names that no public server has.
var privateNames = []string{"local", "localdomain", "lan", "home", "corp", "intranet", "private", "internal", "home.arpa", "svc"}

// private reports whether a name is one of this network: a single label, or below a domain that is nobody's.
func private(host string) bool {
	return host != "" && !strings.ContainsAny(host, ".:") || slices.ContainsFunc(privateNames, func(end string) bool { return strings.HasSuffix(host, "."+end) })
}
