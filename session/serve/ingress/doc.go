// Package ingress is what every server here does with a POSTed message before it looks at what the message asks for: it
// reads the body under limits, refuses what is not a JSON-RPC message, what two readers could read differently, and
// what the protocol version that the message names does not allow.
package ingress
