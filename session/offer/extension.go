package offer

import (
	"fmt"

	"github.com/mcphud/mcphud/session/base/jsonrpc"
	"github.com/mcphud/mcphud/session/base/text"
)

// Extension is something beyond the core protocol that a server advertises, in capabilities.extensions of 2026-07-28 or in
// capabilities.experimental of any revision.
type Extension struct {
	Name         string // "io.modelcontextprotocol/ui"; as sent
	Settings     string // JSON as sent, at most 400 bytes of it; "{}" for none
	Experimental bool   // it is one of capabilities.experimental
	Support      string // what mcphud does about it
}

// supports says what is done about the extensions that are known.
var supports = map[string]string{
	"io.modelcontextprotocol/ui":                               "pages of apps are shown as source with what they may do, and never run",
	"io.modelcontextprotocol/tasks":                            "calls may run as tasks",
	"io.modelcontextprotocol/skills":                           "skills are listed, shown and verified",
	"io.modelcontextprotocol/oauth-client-credentials":         "a token is got by the grant client_credentials, where the configuration chooses it",
	"io.modelcontextprotocol/enterprise-managed-authorization": "a token is got by the grant enterprise_managed, where the configuration chooses it",
}

// Extensions are those that a server's capabilities name, in their order, and what is done about each.
func Extensions(capabilities []byte) (out []Extension) {
	for _, member := range []string{"extensions", "experimental"} {
		n := 0
		_ = jsonrpc.Members(jsonrpc.Get(capabilities, member), func(name string, value []byte) bool { // absent: none
			e := Extension{Name: name, Settings: text.Clip(string(value), 400), Experimental: member == "experimental", Support: "not known: shown, not used"}
			if s := supports[name]; s != "" {
				e.Support = s
			}
			out = append(out, e)
			n++
			return n < 50
		})
	}
	return out
}

// deprecated are the features in the registry of deprecated features of 2026-07-28, with the revision that deprecated them and what to
// use instead.
var deprecated = map[string][2]string{
	"roots":    {"2026-07-28", "tool parameters, resource URIs or configuration"},
	"sampling": {"2026-07-28", "the API of a model"},
	"logging":  {"2026-07-28", "stderr, or OpenTelemetry"},
	"sse":      {"2025-03-26", "Streamable HTTP"},
}

// Deprecated says that a feature (roots, sampling, logging, or the transport sse) is deprecated, since when, and what is to be used instead;
// "" for those that are not.
func Deprecated(feature string) string {
	if d, ok := deprecated[feature]; ok {
		return fmt.Sprintf("deprecated since %s; use %s", d[0], d[1])
	}
	return ""
}
