package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"strings"

	"github.com/mcphud/mcphud/cmd/inspector"
	"github.com/mcphud/mcphud/session"
	"github.com/mcphud/mcphud/session/auth/credstore"
	"github.com/mcphud/mcphud/session/config"
	"github.com/mcphud/mcphud/session/offer/pending"
	"github.com/mcphud/mcphud/session/wire/journal"
	"github.com/mcphud/mcphud/tui/safe"
)

// inspecting is the first argument of a command line that is the official Inspector's.
const inspecting = "--cli"

// inspect runs one of the Inspector's command lines, and returns its exit code.
func (a *app) inspect(ctx context.Context, args []string) int {
	tell := a.err
	r, err := inspector.Parse(args)
	if err == nil {
		err = a.inspectWith(ctx, r)
	}
	switch {
	case err == nil || errors.Is(err, errOutputClosed):
		return exitOK
	case errors.Is(context.Cause(ctx), errInterrupted):
		return exitInterrupted
	}
	e := inspectorError(err)
	e.Message = a.sent.clean(e.Message)
	line := e.Line()
	if terminal(tell) {
		line = escaped(line)
	}
	fmt.Fprintf(tell, "%s\n", line)
	return e.Exit
}

func (a *app) inspectWith(ctx context.Context, r *inspector.Request) error {
	switch {
	case r.Help:
		_, err := io.WriteString(stdout{a.out}, inspector.Usage())
		return err
	case r.Version:
		_, err := io.WriteString(stdout{a.out}, version()+"\n")
		return err
	case r.Completion != "":
		return a.inspectorScript(r.Completion)
	}
	if err := r.Check(); err != nil {
		return err
	}
	if r.ListStoredAuth || r.PrintHandoff {
		return a.inspectLogins(ctx, r)
	}
	var answer inspector.Answer
	var err error
	switch r.Method {
	case inspector.ServersList:
		answer.Result, err = r.Listed()
	case inspector.ServersShow:
		answer.Result, err = r.Shown()
	default:
		if !r.Writes() {
			return a.inspectServer(ctx, r)
		}
		var kept credstore.Inputs
		if kept, err = enteredValues(); err == nil {
			answer, err = r.Written(ctx, kept)
		}
		a.warnOf(answer.Lost)
		if err == nil && len(r.Env) > 0 && !r.Quiet {
			a.note("mcphud: values of -e are kept in " + kept.Store.Where())
		}
	}
	if err != nil {
		return err
	}
	return a.inspected(r, answer)
}

// enteredValues is where the values of -e are kept that an entry of a file has: as the Inspector does, without a keychain in plain
// text. Who gives them on a command line to be saved is not asked.
func enteredValues() (credstore.Inputs, error) {
	s, err := credentials()
	return credstore.Inputs{Store: s}, err
}

// inspected prints an answer. Some are errors as well.
func (a *app) inspected(r *inspector.Request, answer inspector.Answer) error {
	p := &printer{w: stdout{a.out}, tty: terminal(a.out)}
	for _, line := range r.Lines(answer) {
		if err := p.line(line); err != nil {
			return err
		}
	}
	said := r.Said(answer)
	if terminal(a.err) {
		said = safe.Text(said)
	}
	_, _ = io.WriteString(a.err, said) // where nobody reads it, the answer is still there
	return r.Verdict(answer)
}

// inspectServer connects to a server and makes the one call.
func (a *app) inspectServer(ctx context.Context, r *inspector.Request) error {
	stored, err := a.storedLogin(ctx, r)
	if err != nil {
		return err
	}
	kept, err := enteredValues()
	if err != nil {
		return err
	}
	sel, err := r.Selected(ctx, kept)
	if err != nil {
		return err
	}
	if err := r.CheckCall(); err != nil {
		return err
	}
	cfg := &sel.Server
	cfg.MaxTimeout, cfg.MaxFrame = max(cfg.Timeout, config.DefaultMaxTimeout), config.DefaultMaxFrame
	if stored {
		maps.DeleteFunc(cfg.Headers, func(name, _ string) bool { return strings.EqualFold(name, "Authorization") })
	}
	if err := a.inspectorLogin(ctx, r, sel); err != nil {
		return err
	}
	a.o.client = &session.Client{Capabilities: r.Capabilities()}
	a.o.script = &pending.Script{} // nobody is asked
	if r.Quiet {
		defer a.quiet(cfg.Name)()
	}
	var answer inspector.Answer
	err = a.connected(ctx, *cfg, func(ctx context.Context, l *link) error {
		if err := l.SetMeta(r.Meta(sel.Meta, false)); err != nil {
			return err
		}
		answer, err = (&inspection{link: l, r: r, meta: sel.Meta, budget: sel.Budget}).call(ctx)
		return err
	})
	if err != nil {
		var own *inspector.Error
		if !errors.As(err, &own) {
			err = &unanswered{*cfg, err}
		}
		return err
	}
	if r.Output != "" {
		if answer.File, err = r.Save(answer.Result); err != nil {
			return err
		}
	}
	return a.inspected(r, answer)
}

// quiet leaves nothing on stderr but the question of a login, until it is undone.
func (a *app) quiet(title string) (undo func()) {
	said, person := a.err, a.person
	null, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0)
	if err != nil {
		return func() {} // what is written stays
	}
	asking := func() {}
	if a.canLogIn() {
		j := journal.New(journal.Options{})
		sd := newSide(j, a.err, a.printer(), false)
		a.person, asking = a.browserPerson(sd, title, nil), func() { sd.stop(); _ = j.Close() } // it has no file
	}
	a.err = null
	return func() {
		a.err, a.person = said, person
		asking()
		_ = null.Close()
	}
}

// unanswered is the error of a server that was to answer.
type unanswered struct {
	server config.Server
	error
}

func (u *unanswered) Unwrap() error { return u.error }

// inspection is one call on a connected server.
type inspection struct {
	*link
	r      *inspector.Request
	meta   json.RawMessage // of the server's file
	budget inspector.Budget
}
