package check

import (
	"fmt"

	"github.com/mcphud/mcphud/session/base/jsonrpc"
	"github.com/mcphud/mcphud/session/base/text"
	"github.com/mcphud/mcphud/session/check/live"
	"github.com/mcphud/mcphud/session/check/rules"
	"github.com/mcphud/mcphud/session/wire/journal"
)

// stdoutNoise is the rule about output beside messages.
const stdoutNoise = "server/stdout-noise"

// NoMessage reports whether a line of standard output is none of JSON-RPC. An object with the member jsonrpc is one, also where others of its
// members are wrong, which other rules say.
func NoMessage(line []byte) bool {
	return jsonrpc.Valid(line) != nil || jsonrpc.Get(line, "jsonrpc") == nil
}

// stdout reports what the subject's process wrote to standard output beside messages, where no section did that tries it.
func stdout(s *Subject, r *Recorder) (found bool) {
	if s.Session == nil || s.Session.Journal() == nil || s.Transport != "stdio" {
		return false
	}
	j := s.Session.Journal()
	n, first := 0, ""
	var body []byte // of the entry that is looked at
	checker := live.NewChecker(func(f live.Finding) {
		if f.By != rules.Server || f.Rule.ID != "stdout-noise" && (f.Rule.ID != "message-shape" || !NoMessage(body)) {
			return
		}
		if n++; n == 1 {
			first = f.Evidence
		}
	})
	j.Each(0, func(e *journal.Entry) bool {
		if e.Kind == journal.Bad && e.Dir == journal.In && e.Server == s.Server && live.Wants(e) {
			body, _ = j.Body(e.Seq) // nothing is known of one that is gone
			checker.Add(e, body)
		}
		return true
	})
	if n == 0 {
		return false
	}
	what := "a line that is not JSON-RPC: " + text.Clip(text.FirstLine(first), 240)
	if n > 1 {
		what = fmt.Sprintf("%d lines that are not JSON-RPC, the first: %s", n, text.Clip(text.FirstLine(first), 240))
	}
	r.Add(stdoutNoise, Finding{Place: Place{Kind: OfServer}, Message: what, Evidence: first})
	return true
}
