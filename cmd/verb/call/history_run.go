package call

import (
	"cmp"
	"context"
	"errors"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mcphud/mcphud/cmd/cli/output"
	"github.com/mcphud/mcphud/cmd/cli/runner"
	"github.com/mcphud/mcphud/session/base/failure"
	"github.com/mcphud/mcphud/session/traffic/calls"
)

// historyRun makes a call of the history again: run, for one of its words.
func (a *app) historyRun(ctx context.Context, cmd *cobra.Command, args []string) error {
	own, target, err := runner.OwnTarget(a.App, cmd, args, nil)
	if err != nil {
		return err
	}
	file, err := a.remembered(ctx, own[0], len(own) > 1)
	if err != nil {
		return err
	}
	r, err := runner.PrepareRun(ctx, a.App, []calls.File{file}, target, own[1:], runner.Flags{})
	if err != nil {
		return err
	}
	return r.Single(ctx)
}

// remembered is a call of the history as one that can be made: what of it is not kept, it asks for. given says that it gets
// arguments.
func (a *app) remembered(ctx context.Context, word string, given bool) (f calls.File, err error) {
	h := a.KnownCalls()
	c, err := h.Find(ctx, word)
	if err = errors.Join(err, h.Close()); err != nil {
		if errors.Is(err, calls.ErrNone) {
			err = &failure.Error{Kind: failure.NotFound, Message: err.Error(), Err: err, Next: "mcphud history list shows what there is"}
		}
		return f, err
	}
	for _, p := range c.Secrets {
		below, ok := strings.CutPrefix(p, "/arguments")
		switch {
		case p == "/uri":
			return f, failure.UsageError("the URI of call "+word+" had a secret in it, which is not kept", "read it with mcphud resources read URI")
		case ok && below == "" && !given:
			return f, failure.UsageError("the arguments of call "+word+" are not kept", "give them as KEY=VALUE")
		case !ok:
			a.Note("mcphud: warning: " + strings.TrimPrefix(p, "/meta/") + " of _meta was secret and is not sent; --meta gives it")
		}
	}
	c.Name = cmp.Or(c.Name, word)
	return calls.File{Name: c.Name, Calls: []calls.Call{c}}, nil
}

// historySave writes a call to a file of the project.
func (a *app) historySave(c calls.Call, name string, replace bool) error {
	dir, err := runner.ProjectCalls()
	if err != nil {
		return err
	}
	file, err := calls.Path(dir, name)
	if err != nil {
		return failure.UsageError(err.Error(), "choose another name")
	}
	if _, err := os.Lstat(file); err == nil && !replace {
		return failure.UsageError(file+" is there already", "choose another name, or give --replace")
	}
	k := c.Saved(file, name)
	if err := calls.Write(k); err != nil {
		return err
	}
	if made, ok := c.Server.Config(); ok && a.Options.Trust() != nil {
		if err := calls.Trust(a.Options.Trust(), file, made); err != nil {
			a.Note("mcphud: warning: " + err.Error())
		}
	}
	if !k.Server.IsSet() {
		a.Note("mcphud: warning: the file names no server: what it was called with is not all kept")
	}
	return a.Printer().Show(map[string]string{"file": file}, func(t *output.Text) { t.Block(file) })
}
