// Package session talks MCP as a client: one Session per configured server through all its connections, a Manager for
// all of them.
//
// A Transport carries frames; a mux on top of it owns ids, timeouts, progress and cancellation; a conn is a mux after the
// handshake of one protocol era; a Session keeps a conn alive and knows the server's lists. Lists and calls are raw:
// what a caller gets are the bytes that the server sent.
//
// mcp-go brings the protocol's vocabulary: versions, methods, _meta keys, headers, subscription filters. Its transports
// and its client decode what they carry, so frames go through transports of our own. Package session/client/mcpgo lets a session use
// any of mcp-go's instead (From), and is for callers who want its typed client on top of a session (Client).
package session
