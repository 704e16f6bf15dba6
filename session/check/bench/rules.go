package bench

import "github.com/mcphud/mcphud/session/check"

const (
	read = "2026-11-23"
	spec = "https://modelcontextprotocol.io/specification/2025-11-25/basic"
)

// Rules are those of the section.
func (*Section) Rules() []*check.Rule {
	return []*check.Rule{
		{
			ID: "load/died", Severity: check.Error, Title: "dies, or closes the connection, under load", Why: "all clients lose what they were doing",
			Fix: "look at the last lines of its stderr; bound what runs at once, and answer the rest with an error", Source: spec + "/lifecycle#shutdown", Read: read,
		},
		{
			ID: "load/errors", Severity: check.Error, Title: "fails requests under load that succeed alone", Why: "agents call several tools at once, and several agents share a server",
			Fix: "let requests wait, or refuse them with an error that says when to try again", Source: spec + "#responses", Read: read,
		},
		{
			ID: "load/rate-not-held", Severity: check.Warning, Title: "cannot answer the rate of requests", Why: "requests queue up, and each waits longer than the one before",
			Fix: "find out what the time goes to; mcphud bench shows the phases of a request", Source: "https://github.com/giltene/wrk2#readme", Read: read,
		},
		{
			ID: "load/latency-grows", Severity: check.Warning, Title: "answers one request after the other", Why: "a request that takes long holds up all others, a ping among them",
			Fix: "handle requests concurrently: JSON-RPC allows answers in any order", Source: "https://www.jsonrpc.org/specification#batch", Read: read,
		},
		{
			ID: "load/slo", Severity: check.Error, Title: "misses a threshold", Why: "whoever set the threshold counts on it",
			Fix: "find out what the time goes to; mcphud bench shows the phases of a request", Source: "https://github.com/giltene/wrk2#readme", Read: read,
		},
	}
}
