package main

import (
	"context"
	"errors"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mcphud/mcphud/session/base/failure"
	"github.com/mcphud/mcphud/session/config"
	"github.com/mcphud/mcphud/session/traffic/calls"
	"github.com/mcphud/mcphud/session/traffic/history"
)

// historyRun makes a call of the history again.
func (a *app) historyRun(ctx context.Context, cmd *cobra.Command, args []string) error {
	own, target, err := a.ownTarget(cmd, args, nil)
	if err != nil {
		return err
	}
	h := a.knownCalls()
	c, err := h.Find(ctx, own[0])
	if err = errors.Join(err, h.Close()); err != nil {
		if errors.Is(err, history.ErrNone) {
			err = &failure.Error{Kind: failure.NotFound, Message: err.Error(), Err: err, Next: "mcphud history list shows what there is"}
		}
		return err
	}
	s, err := target(func() (config.Server, error) {
		if !c.Server.Unnamed {
			return a.o.configured(c.Server.Name)
		}
		s, ok := c.Server.Of()
		if !ok {
			return s, usageError("what "+c.Server.Where()+" was called with is not all kept: variables, headers and secrets are not", nameTarget)
		}
		return s, nil
	})
	if err != nil {
		return err
	}
	k := &keptCall{method: c.Method, target: c.Target, args: c.Arguments, meta: c.UnmaskedMeta(), timeout: c.Timeout, given: own[1:]}
	for _, p := range c.Secrets {
		below, ok := strings.CutPrefix(p, "/arguments")
		switch {
		case p == "/uri":
			return usageError("the URI of call "+own[0]+" had a secret in it, which is not kept", "read it with mcphud resources read URI")
		case ok && below == "" && len(own) == 1:
			return usageError("the arguments of call "+own[0]+" are not kept", "give them as KEY=VALUE")
		case ok && below != "":
			k.secrets = append(k.secrets, below)
		case !ok:
			a.note("mcphud: warning: " + strings.TrimPrefix(p, "/meta/") + " of _meta was secret and is not sent; --meta gives it")
		}
	}
	if string(k.args) == `"***"` { // all of it was
		k.args = nil
	}
	return a.connected(ctx, s, func(ctx context.Context, l *link) error { return a.runOne(ctx, l, k) })
}

// historySave writes a call to a file of the project.
func (a *app) historySave(c history.Call, name string, replace bool) error {
	dir, err := projectCalls()
	if err != nil {
		return err
	}
	file, err := calls.Path(dir, name)
	if err != nil {
		return usageError(err.Error(), "choose another name")
	}
	if _, err := os.Lstat(file); err == nil && !replace {
		return usageError(file+" is there already", "choose another name, or give --replace")
	}
	k := calls.Of(c, file, name)
	if err := calls.Write(k); err != nil {
		return err
	}
	if made, ok := c.Server.Of(); ok && a.o.trust() != nil {
		if err := calls.Trust(a.o.trust(), file, made); err != nil {
			a.note("mcphud: warning: " + err.Error())
		}
	}
	if k.Server == "" && len(k.Command) == 0 && k.URL == "" {
		a.note("mcphud: warning: the file names no server: what it was called with is not all kept")
	}
	raw, err := marshal(map[string]string{"file": file})
	if err != nil {
		return err
	}
	return a.printer().print(answer{result: raw, frames: [][]byte{raw}, text: func(t *textOutput) { t.block(file) }})
}
