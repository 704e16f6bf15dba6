package conform

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/mcphud/mcphud/session/base/jsonrpc"
	"github.com/mcphud/mcphud/session/check"
)

// skip is why a rule cannot be tried, or why nothing was learned from it.
type skip string

func (s skip) Error() string { return string(s) }

// notKnown begins what is said of a rule that was tried, and nothing was learned.
const notKnown = "unknown: "

// unknown says why nothing was learned: the answer says nothing of what was tried.
func unknown(format string, args ...any) error {
	return skip(notKnown + fmt.Sprintf(format, args...))
}

// uncontrolled is a good request that failed before anything about it was varied.
type uncontrolled struct{ skip }

func (u *uncontrolled) Unwrap() error { return u.skip }

// broken is a rule that does not hold.
type broken struct {
	severity check.Severity // where it is not the rule's
	own      bool
	once     bool // and it did the second time
	message  string
}

func (b *broken) Error() string { return b.message }

// violated says how a rule does not hold. One that is told why nothing was learned says that.
func violated(format string, args ...any) error {
	if err := inconclusive(args); err != nil {
		return err
	}
	return &broken{message: fmt.Sprintf(format, args...)}
}

// merely is violated with a severity of its own.
func merely(s check.Severity, format string, args ...any) error {
	if err := inconclusive(args); err != nil {
		return err
	}
	return &broken{severity: s, own: true, message: fmt.Sprintf(format, args...)}
}

// inconclusive is the first of some values that says that nothing was learned.
func inconclusive(args []any) error {
	for _, a := range args {
		if err, ok := a.(error); ok && !breach(err) {
			return err
		}
	}
	return nil
}

// breach reports whether err says that a rule does not hold. That nothing came in time may be the machine, and says nothing.
func breach(err error) bool {
	var why skip
	var silent *silence
	return err != nil && !errors.As(err, &why) && !errors.As(err, &silent)
}

// because is why nothing was learned.
func because(err error) string {
	var why skip
	if errors.As(err, &why) {
		return string(why)
	}
	return notKnown + err.Error()
}

// severity is that of a rule that does not hold: where the server died, whatever the rule is about, it is an error.
func (p *probe) severity(err error) check.Severity {
	var b *broken
	switch {
	case errors.As(err, &b) && b.own:
		return b.severity
	case errors.As(err, &b):
		return p.rule.Severity
	}
	return check.Error
}

func sure(err error) check.Confidence {
	var b *broken
	if errors.As(err, &b) && b.once {
		return check.Possible
	}
	return check.Certain
}

// control makes a good request on the rule's connection: what fails by itself cannot be blamed on what is varied then.
func (p *probe) control() error {
	if slices.Contains([]string{"ping", "discovery"}, p.rule.name) {
		return nil // it is what they try
	}
	method := jsonrpc.GetString(p.conn.alive(), "method")
	return p.good(method, "")
}

// good makes a request that nothing is wrong with; it is an error where that has no result.
func (p *probe) good(method, params string) error {
	a, err := p.conn.call(p.ctx, method, params)
	p.saw(strings.TrimSpace(method+" "+params), a, err)
	var silent *silence
	switch {
	case errors.As(err, &silent):
		p.spoilt = true
		return &uncontrolled{skip(notKnown + "a good " + err.Error())}
	case err != nil:
		return err
	case a.result() == nil:
		return &uncontrolled{skip(notKnown + "a good " + method + " fails as well: " + a.summary())}
	}
	return nil
}
