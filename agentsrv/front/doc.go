// Package front is the agent's transport: Streamable HTTP in both protocol eras on one endpoint, and stdio. It replaces
// what github.com/mark3labs/mcp-go does between a socket and MCPServer.HandleMessage, which stays the engine that knows
// tools, resources, prompts and completion.
//
// A request becomes an [Exchange], passes the middlewares, and reaches the engine. What is sent to the client meanwhile
// (progress, log messages, questions) goes out on the request's own stream, in order, and before the result. Frames are
// scanned by session/base/jsonrpc and never decoded here: the client gets its id back byte for byte.
//
//	engine := server.NewMCPServer("files", "1", front.EngineOptions()...)
//	s := front.New(front.Options{Engine: engine})
//	defer s.Close(ctx)
//	http.Serve(listener, s.Handler()) // or s.ServeStdio(ctx, os.Stdin, os.Stdout)
//
// What a request is part of:
//
//   - a [Session] of the legacy era, for whoever sent initialize (session.go, sessions.go); callers of the modern era, and those without a
//     session, have none. It has the questions to its client (ask.go) and its streams.
//   - a stream, which is what one response carries (stream.go, streams.go). In a session it outlives its connection, so that a client that comes
//     back gets what it missed; the work on the request does not notice.
//   - a peer, which is what mcp-go sees of the client (peer.go, client.go); what it broadcasts to all goes through one hub (hub.go).
//
// http.go and post.go are the ways in over HTTP, stdio.go over a pipe; run.go and engine.go take an exchange to its answer, direct.go is a shorter
// way for plain tool calls, errors.go puts what the engine says against a request into words. A request may be worked on in another process (away.go).
//
// Specification: https://modelcontextprotocol.io/specification, basic/transports, of 2024-11-05 to 2026-07-28.
package front
