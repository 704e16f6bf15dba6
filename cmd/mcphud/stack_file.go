package main

import (
	"bufio"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"github.com/spf13/pflag"

	"github.com/mcphud/mcphud/proxy/stack"
	"github.com/mcphud/mcphud/session/config"
	"github.com/mcphud/mcphud/session/failure"
	"github.com/mcphud/mcphud/tui/safe"
)

// stackFile is the stack file of that name, else that of the working folder, else the built-in stack. found says that
// nobody named the file.
func (a *app) stackFile(name string) (f *stack.File, found bool, err error) {
	source := stack.Source{Lookup: os.LookupEnv, Agent: agentChecker()}
	if name == "" {
		if _, err := os.Stat(stack.FileName); err != nil {
			if !errors.Is(err, fs.ErrNotExist) {
				return nil, false, usageError("cannot read "+stack.FileName+": "+err.Error(), "name another file")
			}
			return stack.Builtin(), false, nil
		}
		name, found = stack.FileName, true
	}
	f, err = source.Load(name)
	if err != nil {
		next := "correct the file; mcphud up --help shows one"
		if errors.Is(err, fs.ErrNotExist) {
			next = "name a file that exists, or none; mcphud up --help shows what is in one"
		}
		return nil, false, &failure.Error{Kind: failure.Usage, Message: err.Error(), Err: err, Next: next}
	}
	return f, found, nil
}

// agentChecker knows the agent's settings by their keys.
func agentChecker() stack.Checker {
	var s agentSettings
	f := pflag.NewFlagSet("agent", pflag.ContinueOnError)
	s.register(f)
	// What an entry of a stack may have is not quite what agent.yaml may.
	known := slices.DeleteFunc(slices.Clone(agentSources), func(s setting) bool { return s.key == "host" })
	known = append(known, setting{key: "env"}, setting{key: "route"})
	return func(key, value string) (flag, unknown string, err error) {
		for _, setting := range agentSources {
			if setting.key == key && key != "" {
				if err := f.Lookup(setting.flag).Value.Set(value); err != nil {
					return "", "", plain(err)
				}
				return setting.flag, "", nil
			}
		}
		return "", unknownKey(known, key), nil
	}
}

// stackTrust makes sure that the user wants what a stack file would start: one that was found in the working folder, and
// each that runs commands of others, has to be trusted first, as it is now.
func (a *app) stackTrust(ctx context.Context, f *stack.File, found, yes bool) error {
	if f.Path == "" || !found && !f.Foreign() {
		return nil
	}
	trust := a.o.trust()
	entry := config.Server{
		Name: "stack", Transport: "stack", Args: []string{f.Digest}, Source: config.Source{File: f.Path, Project: true},
	}
	if trust.Trusted(entry) {
		return nil
	}
	if !yes {
		_, _ = fmt.Fprintf(a.err, "%s would start and contact exactly this:\n", safe.Line(f.Path, 0))
		for _, l := range f.Describe() {
			_, _ = fmt.Fprintf(a.err, "  %s\n", safe.Text(strings.ReplaceAll(l, "\n", " "))) // whole: the end decides as well
			if len(l) > longestLine {
				return usageError(fmt.Sprintf("%s has an entry of %d bytes, which is too long to be judged on a screen", f.Path, len(l)),
					"read the file, and give --trust if what it starts is what you want")
			}
		}
		if !terminal(a.in) || !terminal(a.err) {
			return usageError("nobody has trusted "+f.Path+" as it is now", "look at what it starts, and give --trust if that is what you want")
		}
		_, _ = fmt.Fprint(a.err, "Start it, now and until it changes? [y/N] ")
		if answer, err := a.answer(ctx); err != nil {
			return err
		} else if answer = strings.ToLower(strings.TrimSpace(answer)); answer != "y" && answer != "yes" {
			return usageError("nothing was started", "")
		}
	}
	if trust == nil {
		return nil // there is nowhere to remember it
	}
	if err := trust.Trust(entry); err != nil && !yes {
		return usageError(err.Error(), "")
	}
	return nil
}

// longestLine is how many bytes of an entry a person can be asked about: more than this fills the screen and pushes the
// beginning out of it.
const longestLine = 4 << 10

// answer reads a line from the terminal.
func (a *app) answer(ctx context.Context) (string, error) {
	line := make(chan string, 1)
	go func() { // ends with the process if nobody answers
		text, _ := bufio.NewReader(a.in).ReadString('\n') // no line is no
		line <- text
	}()
	select {
	case text := <-line:
		return text, nil
	case <-ctx.Done():
		return "", context.Cause(ctx)
	}
}

// stackDir begins the name of a stack's folder; the supervisor's pid follows.
const stackDir = "mcphud-stack-"

// sweep takes away the folders of stacks whose supervisor was killed and could not do it. They hold secrets.
func sweep(base string) {
	if base == "" {
		base = os.TempDir()
	}
	left, _ := filepath.Glob(filepath.Join(base, stackDir+"*")) // the pattern is well-formed but for odd folders
	for _, dir := range left {
		digits, _, _ := strings.Cut(strings.TrimPrefix(filepath.Base(dir), stackDir), "-")
		pid, err := strconv.Atoi(digits)
		if err != nil || pid <= 0 {
			continue
		}
		p, err := os.FindProcess(pid)
		if err == nil && errors.Is(p.Signal(syscall.Signal(0)), os.ErrProcessDone) {
			_ = os.RemoveAll(dir) // another user's stays
		}
	}
}

// stackPlace makes the private folder that a stack's processes share, and says where its agents keep their data. remove
// takes the folder away again.
func stackPlace(f *stack.File) (at stack.Place, remove func(), err error) {
	base := os.Getenv("XDG_RUNTIME_DIR")
	if info, err := os.Stat(base); base == "" || err != nil || !info.IsDir() {
		base = "" // the system's folder for temporary files
	}
	sweep(base)
	at.Dir, err = os.MkdirTemp(base, fmt.Sprintf("%s%d-", stackDir, os.Getpid())) // mode 0700
	if err != nil {
		return at, nil, &failure.Error{Kind: failure.Usage, Message: "cannot make a folder for the stack: " + err.Error(), Err: err, Next: "set TMPDIR to a folder that can be written"}
	}
	remove = func() { _ = os.RemoveAll(at.Dir) }
	if f.Path == "" {
		return at, remove, nil
	}
	sum := sha256.Sum256([]byte(f.Path))
	if at.State = stateFile(filepath.Join("stacks", hex.EncodeToString(sum[:8]))); at.State != "" {
		if err := os.MkdirAll(at.State, 0o700); err != nil {
			remove()
			return at, nil, &failure.Error{Kind: failure.Usage, Message: "cannot make a folder for the agents' data: " + err.Error(), Err: err, Next: "set XDG_STATE_HOME to a folder that can be written"}
		}
	}
	return at, remove, nil
}
