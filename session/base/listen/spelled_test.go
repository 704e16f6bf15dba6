package listen

import (
	"net/url"
	"testing"

	"github.com/mcphud/mcphud/session/test/require/assert"
)

// A host is as near as the nearest that any resolver or browser takes it for.
func TestReachOfHosts(t *testing.T) {
	for host, want := range map[string]Reach{
		"127.0.0.1": Machine, "127.1": Machine, "127.0.1": Machine, "2130706433": Machine, "0x7f000001": Machine, "0X7F.1": Machine, "0x7f.0x0.0x0.0x1": Machine, "0177.0.0.1": Machine,
		"017700000001": Machine, "127.0.0.1.": Machine, "2130706433.": Machine, "127。0。0。1": Machine, "１２７.0.0.1": Machine, "①②⑦.0.0.1": Machine, "0": Machine, "0x": Machine,
		"127．0．0．1": Machine, "[::1]": Machine, "[::ffff:127.0.0.1]": Machine, "localhost": Machine, "LOCALHOST.": Machine, "ｌｏｃａｌｈｏｓｔ": Machine, "a.localhost": Machine, "ⓛocalhost": Machine,
		"1.2.3.4.5": Machine, "256.1.1.1": Machine, "0x100000000": Machine, "127..1": Machine, "a.1": Machine, // which nothing takes for a name
		"10.0.0.1": Network, "167772161": Network, "0xa000001": Network, "10.1": Network, "012.0.0.1": Network, "010.0.0.1": Network, "192.168.257": Network, "0xC0.0xA8.0x1.0x1": Network,
		"169.254.169.254": Network, "2852039166": Network, "0xa9fea9fe": Network, "[fd00::1]": Network, "[fe80::1]": Network,
		"nas": Network, "nas.": Network, "NAS": Network, "nas.lan": Network, "router.local": Network, "x.home.arpa": Network, "metadata.google.internal": Network, "host.docker.internal": Network,
		"kubernetes.default.svc": Network, "a.svc.cluster.local": Network, "printer.home": Network, "wiki.corp": Network, "x.intranet": Network, "y.private": Network, "h.localdomain": Network,
		"router.LOCAL.": Network, "ｎａｓ": Network, "nas。lan": Network,
		"8.8.8.8": Anywhere, "134744072": Anywhere, "0x8.8.8.8": Anywhere, "example.com": Anywhere, "local.example.com": Anywhere, "1.example.com": Anywhere, "127.0.0.1.example.com": Anywhere,
		"xn--bcher-kva.example": Anywhere, "bücher.example": Anywhere, "0x7f.example": Anywhere, "a.dev": Anywhere, "[2606:4700::1]": Anywhere, "svc.example.com": Anywhere,
	} {
		assert.Equalf(t, ReachOf(&url.URL{Scheme: "https", Host: host, Path: "/"}), want, "%s", host)
		assert.Equalf(t, ReachOf(&url.URL{Scheme: "https", Host: host + ":8443"}), want, "%s with a port", host)
	}
}
