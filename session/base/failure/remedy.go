package failure

import (
	"errors"
	"strings"
)

// Remedy is a code for what can be done about an error. Surfaces that have a flag, a key or a screen for it name that beside
// Error.Next, whose words hold everywhere. For a surface without a name for it, a remedy does nothing.
type Remedy string

// The remedies.
const (
	RaiseTimeout        Remedy = "raise-timeout"         // the time without progress that a request may take
	RaiseMaxTimeout     Remedy = "raise-max-timeout"     // the time that a request may take whatever the progress
	RaiseConnectTimeout Remedy = "raise-connect-timeout" // the time that connecting may take
	RaiseFrameLimit     Remedy = "raise-frame-limit"     // the size of the largest frame
	ChooseProtocol      Remedy = "choose-protocol"       // the protocol version
	ChooseTransport     Remedy = "choose-transport"
	GiveHeader          Remedy = "give-header"      // an HTTP header, for example with credentials
	ChooseProxy         Remedy = "choose-proxy"     // another one, or none
	TrustAuthority      Remedy = "trust-authority"  // a file of certificates by which the server is trusted
	GiveCertificate     Remedy = "give-certificate" // one by which the server knows who connects
	SetVariable         Remedy = "set-variable"     // an environment variable of a child process; Object is its name
	RemoveCache         Remedy = "remove-cache"     // of a package runner, half filled; Object is the folder
	SeeTraffic          Remedy = "see-traffic"      // the frames that were exchanged
	TrustServer         Remedy = "trust-server"     // of a project file, after reading what it runs
	ListServers         Remedy = "list-servers"     // that the configurations name
	SeeTask             Remedy = "see-task"         // that goes on at the server; Object is its id
	LogIn               Remedy = "log-in"           // at the server, in a browser; Object is its URL
	Reconnect           Remedy = "reconnect"        // now, instead of waiting for the next attempt
)

// RemedyOf returns the remedy of the first *Error in err's chain, "" if there is none.
func RemedyOf(err error) Remedy {
	var e *Error
	if errors.As(err, &e) {
		return e.Remedy
	}
	return ""
}

// With gives the error with what a surface has for its remedy; names is that by code, "" or missing for nothing, in which %s
// stands for the quoted Object.
func (e *Error) With(names map[Remedy]string, quote func(string) string) *Error {
	name := names[e.Remedy]
	if name == "" {
		return e
	}
	name = strings.ReplaceAll(name, "%s", quote(e.Object))
	c := *e
	if c.Next == "" {
		c.Next = name
	} else {
		c.Next += " (" + name + ")"
	}
	c.Remedy = ""
	return &c
}
