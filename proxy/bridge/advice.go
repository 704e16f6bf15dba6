package bridge

import (
	"errors"
	"strings"

	"github.com/mcphud/mcphud/session/base/failure"
	"github.com/mcphud/mcphud/session/base/mask"
	"github.com/mcphud/mcphud/session/wire/process"
)

// adviseError is an error without advice for a client's user; that for the administrator of the route is about its command.
func (b *Bridge) adviseError(err error) error {
	e := new(failure.Error)
	if b.o.Dial == nil || !errors.As(err, &e) {
		return withAdvice(err)
	}
	own := *e
	own.Next = ""
	return &own
}

// withAdvice replaces an error's advice, which is for a client's user, by advice for the administrator of the route.
func withAdvice(err error) error {
	e := new(failure.Error)
	if !errors.As(err, &e) {
		return err
	}
	own := *e
	switch {
	case errors.Is(err, process.ErrNotFound):
		own.Next = "install it, give its full path in the route's command, or set PATH in the route's env"
	case e.Kind == failure.SpawnFailed:
		own.Next = "check the route's command, args and cwd"
	case e.Kind == failure.ChannelClosed:
		own.Next = "see the stderr of its processes in the router's /status"
	default:
		own.Next = ""
	}
	return &own
}

// hide is a text of a process without secrets: those that can be recognised, and the values of the route's own variables that
// hold one.
func (b *Bridge) hide(s string) string {
	const least = 4 // bytes of a value that is looked for: "1" is everywhere
	for name, value := range b.o.Env {
		if len(value) >= least && mask.Secret(name) {
			s = strings.ReplaceAll(s, value, mask.Hidden)
		}
	}
	if g := b.given.Load(); g != nil {
		s = string(g.HideToken([]byte(s)))
	}
	return mask.Text(s)
}
