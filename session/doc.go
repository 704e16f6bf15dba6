// Package session talks MCP as a client: one Session per configured server through all its connections, a Manager for
// all of them.
//
// A Transport carries frames; a mux on top of it owns ids, timeouts, progress and cancellation; a conn is a mux after the
// handshake of one protocol era; a Session keeps a conn alive and knows the server's lists. Lists and calls are raw:
// what a caller gets are the bytes that the server sent.
package session
