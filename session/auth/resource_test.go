package auth_test

import (
	"net/url"
	"testing"

	"github.com/mcphud/mcphud/session/auth"
	"github.com/mcphud/mcphud/session/test/require"
	"github.com/mcphud/mcphud/session/test/require/assert"
)

func TestResource(t *testing.T) {
	for given, want := range map[string]string{
		"HTTPS://Host.Example:443/Mcp":     "https://host.example/Mcp",
		"https://host.example:8443/mcp#at": "https://host.example:8443/mcp",
		"http://[::1]:80/":                 "http://[::1]",
		"http://a:443/mcp":                 "http://a:443/mcp",
		"wss://host.example:443/mcp?a=b":   "https://host.example/mcp?a=b",
	} {
		u, err := url.Parse(given)
		require.NoError(t, err)
		assert.Equalf(t, auth.Resource(u), want, "%s", given)
	}
}
