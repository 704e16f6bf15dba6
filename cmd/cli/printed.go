package cli

import (
	"cmp"
	"errors"
	"time"

	"github.com/spf13/cobra"

	"github.com/mcphud/mcphud/cmd/cli/output"
	"github.com/mcphud/mcphud/session/base/failure"
	"github.com/mcphud/mcphud/tui/safe"
)

// printedFlags are those about all that is printed, which each command has that prints an answer.
var printedFlags = []string{"format", "select", "max-bytes"}

// checkFormat refuses a format that a command does not have, before it does anything.
func (o *Options) checkFormat(cmd *cobra.Command) error {
	switch {
	case o.Format != output.FormatBrief:
		return nil
	case o.selection.Query != nil:
		return failure.UsageError("--select filters JSON, and --format brief prints text", "leave one of them out")
	case cmd.Annotations[briefKey] == "":
		return failure.UsageError("--format brief is for lists of a server, such as mcphud tools list, and not for "+cmd.CommandPath(), "write --format text, json, jsonl or raw")
	}
	return nil
}

// Printed reports whether a flag is about what is printed, so that no full screen is opened.
func (o *Options) Printed() bool {
	return o.Format != "" || o.selection.Query != nil || o.limit.Most > 0
}

// Selects reports whether --select was given, for what prints something else than JSON.
func (o *Options) Selects() bool { return o.selection.Query != nil }

// AsksJSON reports whether a flag asks for JSON, of what is text for everybody else.
func (o *Options) AsksJSON() bool {
	return o.Selects() || o.Format != "" && o.Format != output.FormatText && o.Format != output.FormatBrief
}

// Printer is one for the output of this run, which begins now.
func (a *App) Printer() *output.Printer {
	p := &output.Printer{
		W: output.Stdout{File: a.Out}, Width: output.WidthOf(a.Out), Format: a.Options.FormatFor(a.Out), Tty: output.Terminal(a.Out), Expect: &a.Options.Expected.All, Began: time.Now(),
	}
	if a.Options.limit.Most > 0 {
		p.Limit = &a.Options.limit
	}
	if a.Options.Selects() {
		p.Select = &a.Options.selection
		if p.Format == output.FormatText {
			p.Format, p.Plain = output.FormatJSON, true
		}
	}
	return p
}

// LinePrinter is one for recorded traffic, which --linear prints as text.
func (a *App) LinePrinter() *output.Printer {
	p := a.Printer()
	if a.Options.Linear && !a.Options.Printed() {
		p.Format = output.FormatText
	}
	return p
}

// Printed says on stderr what --max-bytes and --select left out of what was printed, and how to get it. It returns the error that the run ends with:
// err, or else that of --select.
func (a *App) Printed(err error) error {
	if errors.Is(err, output.ErrOutputClosed) {
		return err
	}
	again := ""
	switch {
	case !a.Sent.calledTool() || a.Options.ReadOnly: // to run it again does nothing again
	case a.keeps:
		again = "mcphud history show last prints a call's result without making it again"
	case a.Options.Journal != "":
		again = "mcphud open " + safe.Quote(a.Options.Journal) + " prints a call's result without making it again"
	default:
		again = "the rest of a call's result is not kept: --journal FILE keeps it of the next one"
	}
	notes := []string{a.Options.limit.Note(&a.Options.selection, again)}
	failed := a.Options.selection.Err(again)
	if err != nil && failed != nil {
		notes = append(notes, a.Sent.Clean(failed.Error()))
	}
	for _, note := range append(notes, a.Options.selection.Note()) {
		if note != "" {
			a.Note("mcphud: " + note)
		}
	}
	return cmp.Or(err, failed)
}
