package conform

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/mcphud/mcphud/session/base/jsonrpc"
	"github.com/mcphud/mcphud/session/check"
)

// skip is why a rule was not tried, or why its trial says nothing about the server.
type skip string

func (s skip) Error() string { return string(s) }

// unknownPrefix begins the skip of a rule whose trial says nothing about the server. Reports and the section's figures tell such rules from those
// that do not apply by it.
const unknownPrefix = "unknown: "

// inconclusiveSkip returns a skip of a trial whose answer says nothing about what was tried.
func inconclusiveSkip(format string, args ...any) error {
	return skip(unknownPrefix + fmt.Sprintf(format, args...))
}

// controlFailed is a correct request that failed before anything about it was varied. It is a skip, told apart only when a trial is repeated: a
// server that fails good requests after what was tried has been broken by it.
type controlFailed struct{ skip }

func (u *controlFailed) Unwrap() error { return u.skip }

// violation says that a rule does not hold.
type violation struct {
	severity    check.Severity // where it is not the rule's
	ownSeverity bool           // severity is set; its zero value is a severity too
	onceOnly    bool           // it held the second time, which makes it possible only
	message     string
}

func (b *violation) Error() string { return b.message }

// newViolation returns a violation. If one of args is an error that says that nothing was learned, it returns that instead: so trials may wrap
// whatever an exchange returned.
func newViolation(format string, args ...any) error {
	if err := inconclusive(args); err != nil {
		return err
	}
	return &violation{message: fmt.Sprintf(format, args...)}
}

// violatedAs is newViolation with another severity than the rule's.
func violatedAs(s check.Severity, format string, args ...any) error {
	if err := inconclusive(args); err != nil {
		return err
	}
	return &violation{severity: s, ownSeverity: true, message: fmt.Sprintf(format, args...)}
}

// inconclusive returns the first error of args that says that nothing was learned, nil for none.
func inconclusive(args []any) error {
	for _, a := range args {
		if err, ok := a.(error); ok && !isViolation(err) {
			return err
		}
	}
	return nil
}

// isViolation reports whether err says that a rule does not hold. A timeout may be the machine's fault, and is none.
func isViolation(err error) bool {
	var why skip
	var silent *silence
	return err != nil && !errors.As(err, &why) && !errors.As(err, &silent)
}

// reasonOf returns why nothing was learned, of an error that is not a violation.
func reasonOf(err error) string {
	var why skip
	if errors.As(err, &why) {
		return string(why)
	}
	return unknownPrefix + err.Error()
}

// severity returns that of a violation; any other error, such as that the server died, is check.Error whatever the rule is about.
func (p *probe) severity(err error) check.Severity {
	var b *violation
	switch {
	case errors.As(err, &b) && b.ownSeverity:
		return b.severity
	case errors.As(err, &b):
		return p.rule.Severity
	}
	return check.Error
}

// confidenceOf returns how sure a violation is: what was seen once, and not again, may be the moment's.
func confidenceOf(err error) check.Confidence {
	var b *violation
	if errors.As(err, &b) && b.onceOnly {
		return check.Possible
	}
	return check.Certain
}

// controlRequest makes a correct request on the rule's connection first: what fails by itself cannot be blamed on what is varied then.
func (p *probe) controlRequest() error {
	if slices.Contains([]string{"ping", "discovery"}, p.rule.name) {
		return nil // it is what they try
	}
	method := jsonrpc.GetString(p.conn.harmlessRequest(), "method")
	return p.goodRequest(method, "")
}

// goodRequest makes a correct request. The error is controlFailed where it has no result, also in time; another says that the connection ended.
func (p *probe) goodRequest(method, params string) error {
	a, err := p.conn.call(p.ctx, method, params)
	p.record(strings.TrimSpace(method+" "+params), a, err)
	var silent *silence
	switch {
	case errors.As(err, &silent):
		p.unusable = true
		return &controlFailed{skip(unknownPrefix + "a good " + err.Error())}
	case err != nil:
		return err
	case a.result() == nil:
		return &controlFailed{skip(unknownPrefix + "a good " + method + " fails as well: " + a.summary())}
	}
	return nil
}
