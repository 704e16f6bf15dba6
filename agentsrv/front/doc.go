// Package front is the agent's transport: Streamable HTTP in both protocol eras on one endpoint, and stdio. It replaces
// what github.com/mark3labs/mcp-go does between a socket and MCPServer.HandleMessage, which stays the engine that knows
// tools, resources, prompts and completion.
//
// A request becomes an [Exchange], passes the middlewares, and reaches the engine. What is sent to the client meanwhile
// (progress, log messages, questions) goes out on the request's own stream, in order, and before the result. Frames are
// scanned by session/base/jsonrpc and never decoded here: the client gets its id back byte for byte.
//
// Specification: https://modelcontextprotocol.io/specification, basic/transports, of 2024-11-05 to 2026-07-28.
package front
