package cli

import (
	"context"
	"strings"

	"github.com/spf13/pflag"

	"github.com/mcphud/mcphud/session/base/failure"
	"github.com/mcphud/mcphud/session/traffic/calls"
	"github.com/mcphud/mcphud/session/traffic/compare"
	"github.com/mcphud/mcphud/session/traffic/expect"
	"github.com/mcphud/mcphud/tui/safe"
)

// Ignoring is the flag for places of answers that are not compared.
type Ignoring struct {
	Places []string
	parsed expect.Places
}

// IgnoringHelp explains --ignore in the help of verbs that compare.
const IgnoringHelp = "--ignore PLACE leaves a place out of the comparison, with all that is below it: a JSON pointer such as /structuredContent/at, or a jq expression that names places, such as .content[]._meta."

// Register gives a command the flags.
func (i *Ignoring) Register(f *pflag.FlagSet, usage string) {
	f.StringArrayVar(&i.Places, "ignore", nil, usage+" what is at `PLACE`, a JSON pointer or a jq expression (repeatable)")
}

// Parse reads the places, before anything is sent.
func (i *Ignoring) Parse() error {
	i.parsed = expect.Places{}
	for _, place := range i.Places {
		if err := i.parsed.Ignore(place); err != nil {
			return &failure.Error{Kind: failure.Usage, Message: "--ignore: " + err.Error(), Err: err, Next: "name a place as /structuredContent/at or .structuredContent.at; nothing was sent"}
		}
	}
	return nil
}

// Compared says how two answers differ. Where they do, or always, learn asks a server once more for what varies, unless it is nil; twice
// reports that it did.
func (i *Ignoring) Compared(ctx context.Context, before, after calls.Answer, always bool, learn func() (*compare.Noise, error)) (r compare.Result, twice bool, err error) {
	a, b := calls.Values(before, after)
	ignore, err := i.parsed.In(ctx, a, b)
	if err != nil {
		return r, false, &failure.Error{Kind: failure.Usage, Message: "--ignore: " + err.Error(), Err: err, Next: "correct the expression"}
	}
	r, noise, err := calls.Differ(before, after, ignore, always, learn)
	return r, noise != nil, err
}

// Allow is the flags that leave out what may vary by itself.
func Allow(r compare.Result) string {
	const most = 3
	var flags []string
	for _, at := range r.Guessed(most + 1) {
		flags = append(flags, "--ignore "+safe.Quote(at))
	}
	if len(flags) > most {
		flags[most] = "…"
	}
	return strings.Join(flags, " ")
}
