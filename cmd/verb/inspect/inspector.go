package inspect

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"strings"

	"github.com/mcphud/mcphud/cmd/cli"
	"github.com/mcphud/mcphud/cmd/cli/output"
	"github.com/mcphud/mcphud/cmd/inspector"
	"github.com/mcphud/mcphud/session"
	"github.com/mcphud/mcphud/session/config"
	"github.com/mcphud/mcphud/session/offer/pending"
	"github.com/mcphud/mcphud/session/wire/journal"
	"github.com/mcphud/mcphud/tui/safe"
)

// Inspecting is the first argument of a command line that is the official Inspector's.
const Inspecting = "--cli"

// Main runs one of the Inspector's command lines, and returns its exit code.
func Main(ctx context.Context, of *cli.App, args []string) int {
	a := &app{of}
	tell := a.Err
	r, err := inspector.Parse(args)
	if err == nil {
		err = a.inspectWith(ctx, r)
	}
	switch {
	case err == nil || errors.Is(err, output.ErrOutputClosed):
		return cli.ExitOK
	case errors.Is(context.Cause(ctx), cli.ErrInterrupted):
		return cli.ExitInterrupted
	}
	e := inspectorError(err)
	e.Message = a.Sent.Clean(e.Message)
	line := e.Line()
	if output.Terminal(tell) {
		line = output.Escaped(line)
	}
	fmt.Fprintf(tell, "%s\n", line)
	return e.Exit
}

func (a *app) inspectWith(ctx context.Context, r *inspector.Request) error {
	switch {
	case r.Help:
		_, err := io.WriteString(output.Stdout{File: a.Out}, inspector.Usage())
		return err
	case r.Version:
		_, err := io.WriteString(output.Stdout{File: a.Out}, cli.Version()+"\n")
		return err
	case r.Completion != "":
		return a.inspectorScript(r.Completion)
	}
	if err := r.Check(); err != nil {
		return err
	}
	return a.inspectServer(ctx, r)
}

// inspected prints an answer. Some are errors as well.
func (a *app) inspected(r *inspector.Request, answer inspector.Answer) error {
	p := &output.Printer{W: output.Stdout{File: a.Out}, Tty: output.Terminal(a.Out)}
	for _, line := range r.Lines(answer) {
		if err := p.Line(line); err != nil {
			return err
		}
	}
	said := r.Notes(answer)
	if output.Terminal(a.Err) {
		said = safe.Text(said)
	}
	_, _ = io.WriteString(a.Err, said) // where nobody reads it, the answer is still there
	return r.Verdict(answer)
}

// inspectServer connects to a server and makes the one call.
func (a *app) inspectServer(ctx context.Context, r *inspector.Request) error {
	stored, err := a.storedLogin(ctx, r)
	if err != nil {
		return err
	}
	cfg, meta, err := r.Selected()
	if err != nil {
		return err
	}
	if err := r.CheckCall(); err != nil {
		return err
	}
	cfg.MaxTimeout, cfg.MaxFrame = max(cfg.Timeout, config.DefaultMaxTimeout), config.DefaultMaxFrame
	if stored {
		maps.DeleteFunc(cfg.Headers, func(name, _ string) bool { return strings.EqualFold(name, "Authorization") })
	}
	if err := a.prepareLogin(r, cfg); err != nil {
		return err
	}
	a.Options.Client = &session.Client{Capabilities: r.Capabilities()}
	a.Options.Script = &pending.Script{} // nobody is asked
	if r.Quiet {
		defer a.quiet(cfg.Name)()
	}
	var answer inspector.Answer
	err = a.Connected(ctx, cfg, func(ctx context.Context, l *cli.Link) error {
		if err := l.SetMeta(r.Meta(meta, false)); err != nil {
			return err
		}
		answer, err = (&inspection{Link: l, r: r, meta: meta}).call(ctx)
		return err
	})
	if err != nil {
		var own *inspector.Error
		if !errors.As(err, &own) {
			err = &unanswered{cfg, err}
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
	said, person := a.Err, a.Person
	null, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0)
	if err != nil {
		return func() {} // what is written stays
	}
	asking := func() {}
	if a.CanLogIn() {
		j := journal.New(journal.Options{})
		sd := cli.NewSide(j, a.Err, a.Printer(), false)
		a.Person, asking = a.BrowserPerson(sd, title, nil), func() { sd.Stop(); _ = j.Close() } // it has no file
	}
	a.Err = null
	return func() {
		a.Err, a.Person = said, person
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
	*cli.Link
	r    *inspector.Request
	meta json.RawMessage // of the server's file
}
