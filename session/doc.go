// Package session talks MCP as a client: one [Session] per configured server through all its connections, a [Manager] for
// all of them.
//
//	m := session.NewManager(session.Options{})
//	defer m.Close()
//	s, err := m.Register(config.Server{Name: "files", Command: "npx", Args: []string{"-y", "@modelcontextprotocol/server-filesystem", "."}})
//	…
//	err = s.Connect(ctx)
//	reply, err := s.CallTool(ctx, "list_directory", json.RawMessage(`{"path":"."}`), session.CallOptions{})
//
// A Transport carries frames; a mux on top of it owns ids, timeouts, progress and cancellation; a conn is a mux after the
// handshake of one protocol era; a Session keeps a conn alive and knows the server's lists. Lists and calls are raw:
// what a caller gets are the bytes that the server sent.
//
// Both eras of the protocol are spoken, see [Era]: the handshake finds out which (handshake.go), and from then on a conn
// completes each request as its era wants it. Callers need not know, with few exceptions that are documented where they are.
//
// What a server asks in return (elicitation, sampling, roots) waits in [Options.Pending] until somebody answers, or is answered
// by [Options.Serve]. A call that the server turns into a task is waited for like any other.
//
// Nothing is pushed to a user interface. Whoever shows a session takes snapshots (Status, Listing, Tasks, Subscriptions), none of
// which does I/O, and learns from [Manager.Changed] when to take the next.
//
// Errors are *failure.Error, with the server's title and what was being done.
//
// Where is what:
//
//   - session.go is the type with its life, link.go, attempt.go and reconnect.go its connection, dial.go and handshake.go how one is made,
//     health.go how long it lasts.
//   - call.go makes requests, input.go and ask.go answer what the server asks because of them, task.go and task_follow.go wait for tasks.
//   - list.go and lists.go keep what the server offers, result_cache.go what it answered.
//   - subs.go, subscription.go and kept.go follow resources, listen.go takes notifications.
//   - manager.go and update.go are for all servers together.
//
// mcp-go brings the protocol's vocabulary: versions, methods, _meta keys, headers, subscription filters. Its transports
// and its client decode what they carry, so frames go through transports of our own. Package session/client/mcpgo lets a session use
// any of mcp-go's instead (From), and is for callers who want its typed client on top of a session (Client).
//
// Specification: https://modelcontextprotocol.io/specification/2025-11-25 (the latest legacy revision) and
// https://modelcontextprotocol.io/specification/2026-07-28 (the modern era).
package session
