package main

import (
	"github.com/mcphud/mcphud/session/config"
)

// networkFlags say how a server is reached by its URL.
var networkFlags = []string{"proxy", "ca", "client-cert", "client-key", "insecure"}

// unverified is the warning about a server that nobody vouches for.
func unverified(s config.Server) string {
	return "warning: " + s.Name + ": its certificate is not checked: anybody on the way can read and change what is sent"
}

// network overrides what s says of the network by the flags.
func (o *options) network(s *config.Server) error {
	if err := config.CheckProxy(o.proxy); err != nil {
		return usageError("--proxy "+err.Error(), "see mcphud help network")
	}
	if o.proxy != "" {
		s.Proxy = o.proxy
	}
	if o.ca != "" {
		s.CA, s.Insecure = o.ca, false
	}
	if o.clientCert != "" {
		s.ClientCert, s.ClientKey = o.clientCert, ""
	}
	if o.key != "" {
		s.ClientKey = o.key
	}
	if o.insecure {
		if o.ca != "" {
			return usageError("--ca and --insecure contradict each other", "leave one of them out")
		}
		s.CA, s.Insecure = "", true
	}
	return nil
}
