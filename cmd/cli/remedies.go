package cli

import "github.com/mcphud/mcphud/session/base/failure"

// Remedies are what the command line has for the remedies of errors.
var Remedies = map[failure.Remedy]string{
	failure.RaiseTimeout:        "--timeout",
	failure.RaiseMaxTimeout:     "--max-timeout",
	failure.RaiseConnectTimeout: "--connect-timeout",
	failure.RaiseFrameLimit:     "--max-frame",
	failure.ChooseProtocol:      "--protocol",
	failure.ChooseTransport:     "--transport",
	failure.GiveHeader:          `-H "Name: value"`,
	failure.ChooseProxy:         "--proxy URL, or --proxy none",
	failure.TrustAuthority:      "--ca FILE",
	failure.GiveCertificate:     "--client-cert FILE --client-key FILE",
	failure.SetVariable:         "-e %s=VALUE",
	failure.RemoveCache:         "rm -rf %s",
	failure.SeeTraffic:          "--journal FILE records it",
	failure.TrustServer:         "in the server list of mcphud",
	failure.SeeTask:             "mcphud tasks result %s",
	failure.LogIn:               "mcphud auth login %s",
	failure.ListServers:         "mcphud servers list",
}
