package front

import (
	"net"
	"net/url"
	"testing"

	"github.com/mcphud/mcphud/session/test/require"
)

func (f *fixture) host() string {
	u, err := url.Parse(f.url)
	if err != nil {
		return ""
	}
	return u.Host
}

// raw is a TCP connection to the server.
func (f *fixture) raw(t testing.TB) net.Conn {
	t.Helper()
	c, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", f.host())
	require.NoError(t, err)
	t.Cleanup(func() { _ = c.Close() })
	return c
}
