package cli

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/mcphud/mcphud/session"
	"github.com/mcphud/mcphud/session/auth"
	"github.com/mcphud/mcphud/session/base/failure"
	"github.com/mcphud/mcphud/session/base/mask"
	"github.com/mcphud/mcphud/session/base/text"
	"github.com/mcphud/mcphud/session/config"
	"github.com/mcphud/mcphud/tui/safe"
)

// MaxLogins is how often one command logs in before it believes that no login helps.
const MaxLogins = 3

// referTime bounds finding out where a login would be.
const referTime = 5 * time.Second

// LoggedIn does something, and does it again after each login that it turned out to need. Where nobody can log in it says how
// somebody can.
func (a *App) LoggedIn(ctx context.Context, s *session.Session, do func() error) error {
	for n := 0; ; n++ {
		err := do()
		switch {
		case failure.RemedyOf(err) != failure.LogIn:
			return err
		case a.Person == nil:
			return a.Refer(ctx, s, err)
		case n == MaxLogins || n > 0 && !s.Authorizer().Status().Challenge.StepUp() && !tookToken(s):
			return err // a token that was just given is refused
		}
		if err := a.LogInBy(ctx, s, auth.LoginOptions{}); err != nil {
			return err
		}
	}
}

// LogInBy logs in with the person who is there.
func (a *App) LogInBy(ctx context.Context, s *session.Session, o auth.LoginOptions) error {
	err := s.Authorizer().Login(ctx, a.Person, o)
	if err != nil && ctx.Err() != nil {
		return errors.Join(ErrNotLoggedIn, ctx.Err())
	}
	return failure.Wrap(err, s.Title(), "login")
}

// tookToken reports whether the server has taken the token of the last login, so that another one helps where it does not any more, such
// as after it moved to another authorization server.
func tookToken(s *session.Session) bool {
	f := s.Authorizer().Status().Flow
	if f == nil {
		return false
	}
	steps := f.Steps()
	last := len(steps) - 1
	return last >= 0 && steps[last].Name == auth.StepRetry && steps[last].State == auth.Done
}

// Refer completes the error of a command that nobody can log in for: where the login is, and the command to run.
func (a *App) Refer(ctx context.Context, s *session.Session, refused error) error {
	ctx, cancel := context.WithTimeout(ctx, referTime)
	defer cancel()
	var e *failure.Error
	if !errors.As(refused, &e) {
		return refused
	}
	f, err := s.Authorizer().Discover(ctx, nil)
	c := *e
	if failure.RemedyOf(err) == failure.GiveHeader || err == nil && f.Issuer() == "" {
		c.Next, c.Remedy = `give credentials, such as an "Authorization: Bearer …" header`, failure.GiveHeader
		return &c
	}
	c.Next, c.Remedy = c.Next+" ("+a.LoginCommand(s.Config(), s.Authorizer().Status().Wanted())+"); without a person see mcphud help login", ""
	if f.Issuer() != "" && s.Config().OAuth.LogsInAt() == "" { // that is named already; else explain shows what is wrong
		c.URL = mask.URL(f.Issuer())
		c.Message += " at " + c.URL
	}
	return &c
}

// LoginCommand is the command line that logs in at a server.
func (a *App) LoginCommand(s config.Server, scopes []string) string {
	words := []string{"mcphud", "auth", "login"}
	for _, file := range a.Options.Configs {
		words = append(words, "--config", safe.Quote(file))
	}
	switch {
	case a.Options.Agent != "":
		words = append(words, "--agent", safe.Quote(a.Options.Agent))
	case s.Unnamed:
		words = append(words, safe.Quote(mask.URL(s.URL)))
	default:
		words = append(words, "--server", safe.Quote(s.Name))
	}
	for _, scope := range scopes {
		words = append(words, "--scope", safe.Quote(text.Clip(scope, 200)))
	}
	return strings.Join(words, " ")
}
