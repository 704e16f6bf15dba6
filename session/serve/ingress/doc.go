// Package ingress checks a POSTed message before a server here looks at what it asks for: it reads the body under limits, refuses what is not a
// JSON-RPC message, what two readers could understand differently (a member that is there twice), and what the protocol version that the
// message names does not allow.
package ingress
