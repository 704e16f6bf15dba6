package cli

import (
	"github.com/mcphud/mcphud/session/base/failure"
	"github.com/mcphud/mcphud/session/config"
)

// NetworkFlags say how a server is reached by its URL.
var NetworkFlags = []string{"proxy", "ca", "client-cert", "client-key", "insecure"}

// Unverified is the warning about a server that nobody vouches for.
func Unverified(s config.Server) string {
	return "warning: " + s.Name + ": its certificate is not checked: anybody on the way can read and change what is sent"
}

// Network overrides what s says of the network by the flags.
func (o *Options) Network(s *config.Server) error {
	if err := config.CheckProxy(o.Proxy); err != nil {
		return failure.UsageError("--proxy "+err.Error(), "see mcphud help network")
	}
	if o.Proxy != "" {
		s.Proxy = o.Proxy
	}
	if o.CA != "" {
		s.CA, s.Insecure = o.CA, false
	}
	if o.clientCert != "" {
		s.ClientCert, s.ClientKey = o.clientCert, ""
	}
	if o.key != "" {
		s.ClientKey = o.key
	}
	if o.insecure {
		if o.CA != "" {
			return failure.UsageError("--ca and --insecure contradict each other", "leave one of them out")
		}
		s.CA, s.Insecure = "", true
	}
	return nil
}
