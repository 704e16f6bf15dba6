package fuzz

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/mcphud/mcphud/session/check"

	"github.com/mcphud/mcphud/session/base/failure"
	"github.com/mcphud/mcphud/session/base/jsonrpc"
	"github.com/mcphud/mcphud/session/base/mask"
	"github.com/mcphud/mcphud/session/base/text"
	"github.com/mcphud/mcphud/session/check/live"
	"github.com/mcphud/mcphud/session/check/rules"
)

// hit is what an oracle says of an outcome.
type hit struct {
	rule     string // with "fuzz/"
	cause    string // the same for the same fault, whatever the arguments; it is in the fingerprint and in the name of the kept file
	message  string
	evidence string
	severity check.Severity
	sure     check.Confidence
}

func (h *hit) key() string { return h.rule + "\x00" + h.cause }

// hasNoAnswer reports whether there was no answer, for no reason that could be seen.
func (h *hit) hasNoAnswer() bool { return h.rule == "fuzz/died" || h.rule == "fuzz/no-answer" }

// oracles look at one outcome. What they say depends on nothing else, so that shrinking can ask again. Where there is no answer, or one
// that only says that calls come too fast, nothing but the wire and the end of the call is looked at.
func (c *client) oracles(t *target, in input, out *outcome) (hits []hit) {
	say := func(h hit) {
		h.severity = rules.Find("fuzz", h.rule).Severity
		hits = append(hits, h)
	}
	for _, f := range out.wire {
		if h, ok := wireHit(f); ok {
			say(h)
		}
	}
	instead := slices.ContainsFunc(out.wire, func(f live.Finding) bool { _, is := insteadOfAnswer(f.Rule.ID); return is })
	if h, ok := c.noAnswerHit(out); ok && !(in.Extreme && tooLarge(out.err.Status)) && (!instead || out.gone || h.rule == "fuzz/died") {
		say(h)
	}
	for _, f := range out.last {
		if h, ok := wireHit(f); ok {
			say(h)
		}
	}
	if out.hasNoAnswer() || out.isRateLimited() {
		return hits
	}
	if t.kind == check.OfResource && out.err != nil {
		say(hit{rule: "fuzz/dead-link", message: "cannot be read: " + text.Clip(text.FirstLine(out.err.Message), 160), evidence: out.err.Error()})
	}
	if h, ok := t.layerHit(in, out); ok {
		say(h)
	}
	if out.result.IsError && len(out.result.Contents) == 0 && t.kind == check.OfTool {
		say(hit{rule: "fuzz/silent-error", message: "a result with isError has no content"})
	}
	if h, ok := t.verdictHit(in, out); ok {
		hits = append(hits, h)
	}
	if trace := findTrace(out.text); trace != "" {
		say(hit{rule: "fuzz/stack-trace", message: "the text has a stack trace", evidence: trace})
	} else if p := c.findPath(out.text, in); p != "" && (out.err != nil || out.result.IsError) {
		say(hit{rule: "fuzz/path", message: "the error names " + text.Clip(p, 80), evidence: text.Clip(out.text, 1000), sure: check.Likely})
	}
	if name := c.findSecret(out); name != "" {
		say(hit{rule: "fuzz/secret", cause: name, message: "the answer has the value of " + name})
	}
	return hits
}

// tooLarge reports whether a server may well refuse what is large by a status: the body, the URL, or the header that repeats a name or URI.
func tooLarge(status int) bool {
	return status == http.StatusRequestEntityTooLarge || status == http.StatusRequestURITooLong || status == http.StatusRequestHeaderFieldsTooLarge
}

// wireHit turns a violation of the protocol by the server into a hit of a rule of fuzz.
func wireHit(f live.Finding) (h hit, ok bool) {
	h = hit{rule: "fuzz/frame", cause: f.Rule.ID, message: f.Rule.Title, evidence: f.Evidence + "\n" + f.Section()}
	switch f.Rule.ID {
	case "stdout-noise", "http-body":
		h.rule = "fuzz/noise"
	case "answer-twice":
		h.rule = "fuzz/answer-twice"
	case "id-unknown", "id-changed", "id-null", "id-missing", "id-type":
		h.rule = "fuzz/unknown-id"
	case "output-schema", "output-missing":
		h.rule = "fuzz/output"
	case "unanswered", "answer-late", "arguments-error", "tool-error", "unknown-tool-result", "unknown-tool-code":
		return h, false // there are oracles for these, or they come of our own giving up
	}
	if f.Rule.Severity < rules.Error {
		return h, false
	}
	if at, _, found := strings.Cut(f.Evidence, ":"); found && strings.HasPrefix(at, "/") {
		h.cause += " " + anyIndex(at)
		h.message += ": " + text.Clip(f.Evidence, 200)
	}
	return h, true
}

// noAnswerHit says how an answer did not come. Where something else came instead, what came is the failure.
func (c *client) noAnswerHit(out *outcome) (h hit, ok bool) {
	if !out.hasNoAnswer() || out.isRateLimited() || out.broken && len(out.wire) > 0 {
		return h, false
	}
	h.evidence = out.err.Error()
	status := out.err.Status
	switch kind := out.kind(); {
	case kind == failure.Timeout:
		h.rule, h.message = "fuzz/no-answer", "no answer within "+text.Duration(c.o.Timeout)
	case status >= 400:
		h.rule, h.cause, h.message = "fuzz/http-status", fmt.Sprint(status), fmt.Sprintf("HTTP status %d", status)
	case kind == failure.Protocol && !errors.Is(out.err, io.ErrUnexpectedEOF): // that of the server's output is its end
		h.rule, h.message = "fuzz/frame", text.Clip(text.FirstLine(out.err.Message), 200)
	case kind == failure.Protocol, kind == failure.ChannelClosed, kind == failure.Transport, kind == failure.SpawnFailed, kind == failure.ServerNotConnected:
		h.rule, h.message = "fuzz/died", cmp.Or(text.Clip(text.FirstLine(out.err.Message), 200), "the connection ended")
		if lines := c.stderr(20); lines != "" {
			h.evidence += "\n" + mask.Log(lines)
		}
	default:
		return h, false
	}
	return h, true
}

// layerHit looks at errors that are in the wrong layer: a tool's own failures belong into a result with isError, where a model sees them, and wrong
// arguments are not an internal error (https://modelcontextprotocol.io/specification/2025-11-25/server/tools#error-handling).
func (t *target) layerHit(in input, out *outcome) (h hit, ok bool) {
	h = hit{rule: "fuzz/wrong-layer", evidence: text.Clip(out.text, 1000)}
	if out.err == nil || out.err.Code == nil {
		return h, false
	}
	code := *out.err.Code
	h.cause = fmt.Sprint(code)
	said := fmt.Sprintf("error %d: %s", code, oneLine(out.err.Message, 120))
	switch {
	case in.Extreme, code == jsonrpc.CodeMissingCapability, code == jsonrpc.CodeURLElicitation: // what these say is meant for the client
		return h, false
	case code == jsonrpc.CodeInternal && in.verdict == forbidden:
		h.cause += wrongToo
		h.message = "wrong arguments are an internal error: " + said
	case t.kind == check.OfTool && code != jsonrpc.CodeInvalidParams && in.verdict != forbidden:
		h.message = "the tool's failure is an error of the protocol: " + said
	default:
		return h, false
	}
	return h, true
}

// limited is how servers say in prose that calls come too fast.
var limited = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)rate.?limit|too many requests|quota exceeded|throttl`)
})

// isRateLimited reports whether a server only says that calls come too fast.
func (o *outcome) isRateLimited() bool {
	if o.err == nil {
		return o.result.IsError && len(o.text) < 500 && limited().MatchString(o.text)
	}
	kind := jsonrpc.ErrorKind(jsonrpc.GetString(o.err.Data, "kind"))
	busy := kind == jsonrpc.KindRateLimited || kind == jsonrpc.KindQueueFull
	if c := o.err.Code; c != nil { // those of queues that are full; others that say when to try again have failed
		busy = busy || o.retryAfter() > 0 && (*c == -32002 || *c == -31002)
	}
	return busy || o.err.Status == http.StatusTooManyRequests || limited().MatchString(o.err.Message)
}

// retryAfter is how long an error asks to wait before the next call, by its data, at most maxPause; 0 where it does not say.
func (o *outcome) retryAfter() time.Duration {
	if o.err == nil {
		return 0
	}
	for _, of := range []struct {
		name string
		unit time.Duration
	}{{"retryAfterMs", time.Millisecond}, {"retryAfter", time.Second}, {"retry_after", time.Second}} {
		var n float64
		if err := json.Unmarshal(jsonrpc.Get(o.err.Data, of.name), &n); err == nil && n > 0 {
			return time.Duration(min(n*float64(of.unit), float64(maxPause)))
		}
	}
	return 0
}

// wrongToo ends the cause of an error that wrong arguments got: where valid ones get the same, it has nothing to do with the arguments.
const wrongToo = " wrong"

// oneLine is a text on one line, without what is blank in it.
func oneLine(s string, n int) string {
	return text.Clip(strings.Join(strings.Fields(text.Cut(s, 8*n)), " "), n)
}

// refusal is what servers say of arguments that they do not take. A result with isError says by nothing else whether the arguments or the work failed.
var refusal = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)(input|argument|parameter)s? validation error|validation errors? for|invalid arguments for (tool|prompt)|invalid params\b|-32602|invalid_type|failed to validate|does not match the schema|is a required property`)
})

// verdictHit compares what the server made of the arguments with what the schema says. It sets the severity itself. What a resource or template
// refuses is not compared: their arguments have no schema.
func (t *target) verdictHit(in input, out *outcome) (h hit, ok bool) {
	refused := out.err != nil || out.result.IsError
	switch {
	case in.verdict == forbidden && !refused && !in.Extreme:
		h = hit{rule: "fuzz/accepted", cause: in.cause, message: "accepted: " + text.Clip(in.problem, 160), evidence: text.Clip(out.text, 600), severity: check.Error}
		if isUndeclared(in.cause) {
			h.severity = check.Info // most servers drop them
		}
		return h, true
	case in.verdict == allowed && !in.Extreme && refused && t.kind != check.OfResource && t.kind != check.OfTemplate:
		if out.err != nil && (out.err.Code == nil || *out.err.Code != jsonrpc.CodeInvalidParams) || out.err == nil && !refusal().MatchString(out.text) {
			return h, false // the tool cannot do it, and says so
		}
		said := oneLine(out.text, 160)
		return hit{rule: "fuzz/refused", cause: withoutVariables(said), message: "refused: " + said, evidence: text.Clip(out.text, 1000), severity: check.Warning, sure: check.Likely}, true
	}
	return h, false
}

func isUndeclared(cause string) bool {
	return strings.HasPrefix(cause, "additionalProperties ") || strings.HasPrefix(cause, "unevaluatedProperties ")
}

// withoutVariables returns the first 100 bytes or so of a message without numbers and quoted parts, so that two of one kind are equal.
func withoutVariables(s string) string {
	var b strings.Builder
	quote := rune(0)
	for _, r := range s {
		switch {
		case quote != 0:
			if r == quote {
				quote = 0
			}
		case r == '"' || r == '`':
			quote = r
		case r >= '0' && r <= '9':
		default:
			b.WriteRune(r)
		}
		if b.Len() > 100 {
			break
		}
	}
	return b.String()
}

// traces are what stack traces look like in the languages that servers are written in.
var traces = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?m)^\s*at .{1,200}\(?[^\s()]+:\d+:\d+\)?$|Traceback \(most recent call last\)|^goroutine \d+ \[|^\s+at [\w.$<>]+\([\w]+\.(?:java|kt|scala):\d+\)|^\s*File "[^"]+", line \d+|thread '[^']*' panicked at|^\s+at [\w.<>` + "`" + `]+\(.*\) in .+:line \d+`)
})

// findTrace returns the stack trace in a text, "" if there is none.
func findTrace(s string) string {
	at := traces().FindStringIndex(s)
	if at == nil {
		return ""
	}
	return text.Clip(s[at[0]:], 1500)
}

// paths are absolute paths of a machine: those below folders that every system has.
var paths = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?:^|[\s'"(:=])((?:/(?:home|Users|root|usr|var|opt|tmp|app|srv|etc|work|workspace|mnt|private)/[^\s'"():,;]{2,200})|(?:[A-Z]:\\[^\s'"():,;]{3,200}))`)
})

// findPath is a path in a text that neither the arguments nor the server's command line have; "" for none.
func (c *client) findPath(s string, in input) string {
	cfg := c.subject.Session.Config()
	known := append([]string{cfg.Cwd}, cfg.Args...) // whoever set the server up knows these
	if in.IsSet() {
		known = append(known, string(in.JSON()))
	}
	for _, m := range paths().FindAllStringSubmatch(text.Clip(s, 64<<10), 20) {
		if !slices.ContainsFunc(known, func(k string) bool { return k != "" && (strings.Contains(k, m[1]) || strings.HasPrefix(m[1], k)) }) {
			return m[1]
		}
	}
	return ""
}

// minSecret is the shortest value that is looked for, in bytes.
const minSecret = 8

// findSecret is the name of a secret of the server's configuration that an answer has; "" for none.
func (c *client) findSecret(out *outcome) string {
	for _, of := range c.secrets() {
		quoted, _ := json.Marshal(of.value)
		if strings.Contains(out.text, of.value) || strings.Contains(string(First(out.reply.Result, maxAnswer)), string(quoted[1:len(quoted)-1])) {
			return of.name
		}
	}
	return ""
}

// mask is a text without the secrets of the server's configuration, and what looks like one: reports are for more eyes than those of who
// set it up.
func (c *client) mask(s string) string {
	for _, of := range c.secrets() {
		s = strings.ReplaceAll(s, of.value, mask.Hidden)
	}
	return mask.Prose(s)
}

// namedSecret is a secret value of the server's configuration, and its name.
type namedSecret struct{ name, value string }

// secrets are those of the server's configuration, by name.
func (c *client) secrets() (out []namedSecret) {
	cfg := c.subject.Session.Config()
	for _, of := range []map[string]string{cfg.Env, cfg.Headers} {
		for name, v := range of {
			if v = strings.TrimPrefix(v, "Bearer "); len(v) >= minSecret && mask.Secret(name) {
				out = append(out, namedSecret{name, v})
			}
		}
	}
	slices.SortFunc(out, func(a, b namedSecret) int {
		return cmp.Or(cmp.Compare(len(b.value), len(a.value)), cmp.Compare(a.name, b.name))
	}) // a short one may be part of a long one
	return out
}
