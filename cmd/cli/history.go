package cli

import (
	"context"
	"errors"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/mcphud/mcphud/session/base/failure"
	"github.com/mcphud/mcphud/session/traffic/calls"
)

// NoHistory is the variable that turns the history off.
const NoHistory = "MCPHUD_HISTORY"

// KeptCalls is the history that this run adds its calls to; nil where it is not to add any.
func (a *App) KeptCalls() *calls.History {
	off := !a.Preferences().History
	if v := os.Getenv(NoHistory); v != "" {
		off = HistoryOff(v)
	}
	if a.Options.noHistory || a.Options.ReadOnly || off {
		return nil
	}
	return a.KnownCalls()
}

// KnownCalls is the history to read from, and to change by commands.
func (a *App) KnownCalls() *calls.History {
	u := a.Preferences()
	return calls.OpenHistory(StateFile("calls.db"), calls.Limits{Calls: u.HistoryCalls, Bytes: u.HistorySize, Age: time.Duration(u.HistoryDays) * 24 * time.Hour})
}

// HistoryOff reports whether a value of MCPHUD_HISTORY turns the history off.
func HistoryOff(value string) bool {
	switch strings.ToLower(value) {
	case "off", "0", "false", "no":
		return true
	}
	return false
}

// WithHistory makes a command's body from a function that is given the history and the command's arguments.
func (a *App) WithHistory(f func(ctx context.Context, h *calls.History, own []string) error) func(*cobra.Command, []string) error {
	return a.Action(func(ctx context.Context, cmd *cobra.Command, args []string) error {
		if err := CheckArgs(cmd, args); err != nil {
			return err
		}
		h := a.KnownCalls()
		if h == nil {
			return failure.UsageError("there is no folder for the history", "set HOME or XDG_STATE_HOME")
		}
		err := f(ctx, h, args)
		if errors.Is(err, calls.ErrNone) {
			err = &failure.Error{Kind: failure.NotFound, Message: err.Error(), Err: err, Next: "mcphud history list shows what there is"}
		} else if errors.Is(err, calls.ErrName) {
			err = failure.UsageError(err.Error(), "choose another name")
		}
		return errors.Join(err, h.Close())
	})
}
