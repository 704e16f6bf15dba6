package fuzz

import "github.com/mcphud/mcphud/session/check"

const (
	spec = "https://modelcontextprotocol.io/specification/2025-11-25/"
	day  = "2026-11-23" // on which the sources were read
)

// rules is the table. Each is an oracle: what must not come of any call.
func rules() []*check.Rule {
	all := []*check.Rule{
		{
			ID: "fuzz/died", Severity: check.Error, Title: "the server dies, or closes the connection, instead of an answer", Why: "every client loses its session, and what others were doing with it",
			Fix: "catch what the handler throws, and answer with isError; the evidence has the last lines of stderr", Source: spec + "server/tools#error-handling",
		},
		{
			ID: "fuzz/no-answer", Severity: check.Error, Title: "a call is never answered", Why: "the client waits until its timeout, and the model for nothing",
			Fix: "answer every request, with an error if need be; bound what takes long, and report progress", Source: spec + "basic/lifecycle#timeouts",
		},
		{
			ID: "fuzz/http-status", Severity: check.Error, Title: "a call is answered with an HTTP error", Why: "clients take it for a failure of the connection, and drop the session",
			Fix: "answer with status 200 and a result or a JSON-RPC error", Source: spec + "basic/transports#sending-messages-to-the-server",
		},
		{
			ID: "fuzz/noise", Severity: check.Error, Title: "output that is not a message", Why: "strict clients end the connection on the first line that is not JSON-RPC",
			Fix: "write logs to stderr", Source: spec + "basic/transports#stdio",
		},
		{
			ID: "fuzz/frame", Severity: check.Error, Title: "a message breaks the protocol", Why: "clients that validate refuse it",
			Fix: "send what the schema of the negotiated revision defines", Source: spec + "schema",
		},
		{
			ID: "fuzz/output", Severity: check.Error, Title: "a result breaks the tool's outputSchema", Why: "clients must validate structured results, and refuse this one",
			Fix: "return what outputSchema says, or correct outputSchema", Source: spec + "server/tools#output-schema",
		},
		{
			ID: "fuzz/answer-twice", Severity: check.Error, Title: "a request is answered twice", Why: "which of both counts depends on the client", Fix: "send one answer to each request", Source: spec + "basic#responses",
		},
		{
			ID: "fuzz/unknown-id", Severity: check.Error, Title: "an answer to a request that nobody made", Why: "the one who asked never gets it", Fix: "repeat the id of the request, byte for byte", Source: spec + "basic#responses",
		},
		{
			ID: "fuzz/accepted", Severity: check.Error, Title: "arguments that the schema forbids are accepted", Why: "a model that errs is not told, and gets an answer to something else",
			Fix: "validate arguments by the schema that is listed", Source: spec + "server/tools#security-considerations",
		},
		{
			ID: "fuzz/refused", Severity: check.Warning, Title: "arguments that the schema allows are refused", Why: "a model can only know what the schema says",
			Fix: "put the limit into the schema: a pattern, an enum, a bound, required", Source: spec + "server/tools#tool",
		},
		{
			ID: "fuzz/wrong-layer", Severity: check.Warning, Title: "an error in the wrong layer", Why: "a model sees the failures of a tool, and clients keep errors of the protocol to themselves",
			Fix: "answer what the tool cannot do with a result that has isError, and a name that does not exist with error -32602", Source: spec + "server/tools#error-handling",
		},
		{
			ID: "fuzz/silent-error", Severity: check.Warning, Title: "isError without any content", Why: "nobody learns what went wrong, least of all the model", Fix: "say in a text what happened, and what to do", Source: spec + "server/tools#error-handling",
		},
		{
			ID: "fuzz/stack-trace", Severity: check.Warning, Title: "a stack trace in an answer", Why: "it costs tokens, helps no model, and tells strangers how the server is built",
			Fix: "say what went wrong in a sentence, and write the trace to stderr", Source: "https://cwe.mitre.org/data/definitions/209.html",
		},
		{
			ID: "fuzz/path", Severity: check.Info, Title: "a path of the server's machine in an error", Why: "it tells strangers where things are",
			Fix: "name files as the caller did", Source: "https://cwe.mitre.org/data/definitions/209.html",
		},
		{
			ID: "fuzz/secret", Severity: check.Error, Title: "a secret in an answer", Why: "the model, its provider and every log get to know it", Fix: "leave secrets out of results, or mask them", Source: spec + "server/tools#security-considerations",
		},
		{
			ID: "fuzz/dead-link", Severity: check.Warning, Title: "a resource that was listed or linked cannot be read", Why: "clients offer it, and fail", Fix: "answer resources/read for it, or leave it out", Source: spec + "server/resources#reading-resources",
		},
		{
			ID: "fuzz/slow", Severity: check.Info, Title: "much slower than its other calls", Why: "a client may give up, and others have to wait", Fix: "bound the work that one argument can ask for", Source: spec + "basic/lifecycle#timeouts",
		},
		{
			ID: "fuzz/memory", Severity: check.Warning, Title: "memory grows with each call", Why: "a session that lasts a day ends with the server", Fix: "look for what is kept after a call: caches, listeners, logs", Source: "https://cwe.mitre.org/data/definitions/401.html",
		},
	}
	for _, r := range all {
		r.Read = day
	}
	return all
}
