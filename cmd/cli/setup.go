package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/charmbracelet/x/term"
	"github.com/muesli/cancelreader"

	"github.com/mcphud/mcphud/cmd/cli/output"
	"github.com/mcphud/mcphud/session/base/failure"
	"github.com/mcphud/mcphud/session/config"
	"github.com/mcphud/mcphud/session/config/setup"
	"github.com/mcphud/mcphud/tui/safe"
)

// Given are the values of --set.
func (o *Options) Given() (map[string]string, error) {
	given := map[string]string{}
	for _, pair := range o.set {
		if !setup.Pair(given, pair) {
			name, _, _ := strings.Cut(pair, "=") // without what may be a secret
			return nil, failure.UsageError(fmt.Sprintf("--set %q is not KEY=VALUE", name), "give it as --set KEY=VALUE")
		}
	}
	return given, nil
}

// Fill asks on a terminal for what a server needs and is not given yet, secrets without echo, and names what else could be given.
// Elsewhere what is required and missing is an error that names it.
func (a *App) Fill(ctx context.Context, title string, in []setup.Input, given map[string]string) (setup.Values, error) {
	values, err := setup.Read(in, given)
	var missing *setup.Missing
	switch {
	case err != nil && !errors.As(err, &missing):
		return nil, &failure.Error{Kind: failure.Usage, Server: title, Message: err.Error(), Err: err, Next: "give other values with --set KEY=VALUE"}
	case !output.Terminal(a.In) || !output.Terminal(a.Err):
		if missing != nil {
			return nil, needed(title, missing)
		}
		return values, nil
	}
	if missing != nil {
		fmt.Fprintln(a.Err, safe.Line(title, 100)+" asks for:")
		for _, i := range missing.Inputs {
			if err := a.ask(ctx, i, given); err != nil {
				return nil, err
			}
		}
	}
	a.mayGive(in, given)
	values, err = setup.Read(in, given)
	if errors.As(err, &missing) {
		return nil, needed(title, missing)
	}
	return values, err
}

// Filled is a server with what its entry asks for: by --set, by the keychain, or asked for on a terminal.
func (a *App) Filled(ctx context.Context, s config.Server) (config.Server, error) {
	if len(s.Inputs) == 0 {
		return s, nil
	}
	given, err := a.Options.Given()
	if err != nil {
		return s, err
	}
	in, scope := s.Inputs, s.InputScope()
	a.Recall(ctx, scope, in, given)
	known := maps.Clone(given)
	values, err := a.Fill(ctx, s.Name, in, given)
	if err != nil {
		return s, err
	}
	if err := a.Remember(ctx, scope, in, known, given); err != nil {
		return s, err
	}
	s = s.Fill(values)
	if s.Problem != nil {
		return s, &failure.Error{Kind: failure.Usage, Server: s.Name, Message: s.Problem.Error(), Err: s.Problem, Next: "give other values"}
	}
	return s, nil
}

// Recall adds the secrets that the keychain has for a scope to what is given for its inputs.
func (a *App) Recall(ctx context.Context, scope string, in []setup.Input, given map[string]string) {
	if !slices.ContainsFunc(in, func(i setup.Input) bool { return i.Secret && given[i.Name] == "" }) {
		return
	}
	kept, err := KeptInputs()
	var known map[string]string
	if err == nil {
		known, err = kept.Recall(ctx, scope)
	}
	if err != nil {
		a.Note("mcphud: " + safe.Line(err.Error(), 300))
	}
	for _, i := range in {
		if i.Secret && given[i.Name] == "" && known[i.Name] != "" {
			given[i.Name] = known[i.Name]
		}
	}
}

// Remember asks whether the secrets that were typed just now are to be kept in the keychain; before is what was known without.
func (a *App) Remember(ctx context.Context, scope string, in []setup.Input, before, given map[string]string) error {
	fresh := map[string]string{}
	var names []string
	for _, i := range in {
		if i.Secret && given[i.Name] != before[i.Name] && !i.Declares(given[i.Name]) {
			fresh[i.Name] = given[i.Name]
			names = append(names, safe.Line(i.Name, 60))
		}
	}
	if len(fresh) == 0 || !output.Terminal(a.In) || !output.Terminal(a.Err) {
		return nil
	}
	fmt.Fprintf(a.Err, "Keep %s in the keychain, for the next time? [y/N] ", strings.Join(names, ", "))
	line, err := ReadLine(ctx, a.In)
	if err != nil || !strings.EqualFold(line, "y") && !strings.EqualFold(line, "yes") {
		return err
	}
	kept, err := KeptInputs()
	if err == nil {
		err = kept.Keep(ctx, scope, in, fresh)
	}
	if err != nil {
		a.Note("mcphud: " + safe.Line(err.Error(), 300)) // what was asked for goes on without
	}
	return nil
}

// mayGive names inputs that nobody has to give.
func (a *App) mayGive(in []setup.Input, given map[string]string) {
	const most = 8
	var names []string
	more := ""
	for _, i := range in {
		switch {
		case i.Required || i.Fixed != "" || given[i.Name] != "":
		case len(names) == most:
			more = " …"
		default:
			names = append(names, safe.Line(i.Name, 60))
		}
	}
	if names != nil {
		a.Note("mcphud: optional, given by --set KEY=VALUE: " + strings.Join(names, ", ") + more)
	}
}

func needed(title string, missing *setup.Missing) error {
	first := missing.Inputs[0].Name
	return &failure.Error{
		Kind: failure.NeedsInput, Server: title, Message: missing.Error(), Err: missing,
		Next: "give --set " + safe.Line(first, 60) + "=VALUE, or run it on a terminal, which asks",
	}
}

// ask asks for one input until the answer is one.
func (a *App) ask(ctx context.Context, i setup.Input, given map[string]string) error {
	label := "  " + safe.Line(i.Name, 60)
	var about []string
	if i.Required {
		about = append(about, "required")
	}
	if i.Repeated {
		about = append(about, "several: an empty line ends")
	}
	if len(i.Choices) > 0 {
		about = append(about, "one of "+strings.Join(i.Choices, " | "))
	}
	if i.Description != "" {
		about = append(about, i.Description)
	}
	if about != nil {
		label += " (" + safe.Line(strings.Join(about, "; "), 300) + ")"
	}
	if i.Default != "" {
		label += " [" + safe.Line(i.Default, 60) + "]"
	}
	for {
		line, err := a.answerOf(ctx, label, i.Secret)
		switch {
		case err != nil:
			return err
		case line == "":
			return nil // a default, or nothing; what is missing is said at the end
		}
		mine := map[string]string{i.Name: line}
		if _, err := setup.Read([]setup.Input{i}, mine); err != nil {
			a.Note("  " + err.Error())
			continue
		}
		setup.Pair(given, i.Name+"="+line)
		if !i.Repeated {
			return nil
		}
	}
}

// answerOf reads one line, which the terminal does not show where it is a secret.
func (a *App) answerOf(ctx context.Context, label string, secret bool) (string, error) {
	if secret {
		return SecretOf(ctx, a.In, "", func() { fmt.Fprint(a.Err, label+HiddenPrompt) }, func() { fmt.Fprintln(a.Err) })
	}
	fmt.Fprint(a.Err, label+": ")
	return ReadLine(ctx, a.In)
}

// HiddenPrompt ends the question for a value that is not shown.
const HiddenPrompt = " (secret, not shown): "

// SecretOf reads a line from a terminal that does not show it. prompt is called once it does not, end once it does again.
func SecretOf(ctx context.Context, in *os.File, server string, prompt, end func()) (string, error) {
	fd := in.Fd()
	before, err := term.MakeRaw(fd)
	if err != nil {
		return "", fmt.Errorf("cannot ask for a secret: %w", err)
	}
	defer func() {
		_ = term.Restore(fd, before)
		end()
	}()
	prompt()
	ctx, stop := context.WithTimeout(ctx, 10*time.Minute)
	defer stop()
	r, err := cancelreader.NewReader(in)
	if err != nil {
		return "", fmt.Errorf("cannot read a secret: %w", err)
	}
	defer r.Close()
	defer context.AfterFunc(ctx, func() { r.Cancel() })()
	line, err := typedLine(r)
	if errors.Is(err, ErrInterrupted) { // the key makes no signal in raw mode
		if me, bad := os.FindProcess(os.Getpid()); bad == nil && me.Signal(os.Interrupt) == nil {
			<-ctx.Done()
		}
	}
	switch {
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		return "", &failure.Error{Kind: failure.NeedsInput, Server: server, Message: "nobody typed the secret"}
	case ctx.Err() != nil:
		return "", ctx.Err()
	}
	return line, err
}

// typedLine is a line of a terminal in raw mode, as the keys of a terminal edit it. The end of the input ends it.
func typedLine(r io.Reader) (string, error) {
	const most = 64 << 10
	var line []byte
	for b := []byte{0}; len(line) < most; {
		if n, err := r.Read(b); n == 0 {
			if err == nil || errors.Is(err, io.EOF) {
				break
			}
			return "", fmt.Errorf("cannot read a secret: %w", err)
		}
		switch b[0] {
		case '\r', '\n', 'd' & 0x1f:
			return string(line), nil
		case 'c' & 0x1f:
			return "", ErrInterrupted
		case 'u' & 0x1f:
			line = line[:0]
		case '\b', 0x7f:
			_, size := utf8.DecodeLastRune(line)
			line = line[:len(line)-size]
		default:
			line = append(line, b[0])
		}
	}
	return string(line), nil
}
