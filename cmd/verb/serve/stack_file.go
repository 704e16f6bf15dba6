package serve

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
	"strconv"
	"strings"

	"github.com/mcphud/mcphud/cmd/cli"
	"github.com/mcphud/mcphud/cmd/cli/output"
	"github.com/mcphud/mcphud/cmd/verb/serve/options"
	"github.com/mcphud/mcphud/proxy/stack"
	"github.com/mcphud/mcphud/session/base/failure"
	"github.com/mcphud/mcphud/session/base/text"
	"github.com/mcphud/mcphud/session/config"
	"github.com/mcphud/mcphud/session/wire/process"
	"github.com/mcphud/mcphud/tui/safe"
)

// StackFile loads the stack file of that name; without a name that of the working folder, or the built-in stack. found says that
// the file was not named.
func StackFile(name string) (f *stack.File, found bool, err error) {
	source := stack.Source{Lookup: os.LookupEnv, Agent: options.AgentChecker()}
	if name == "" {
		if _, err := os.Stat(stack.FileName); err != nil {
			if !errors.Is(err, fs.ErrNotExist) {
				return nil, false, failure.UsageError("cannot read "+stack.FileName+": "+err.Error(), "name another file")
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

// stackTrust asks whether to start a stack file that was found in the working folder, or that can run foreign code, unless
// its present content is trusted.
func (a *app) stackTrust(ctx context.Context, f *stack.File, found, yes bool) error {
	if f.Path == "" || !found && !f.Foreign() {
		return nil
	}
	trust := a.Options.Trust()
	entry := config.Server{
		Name: "stack", Transport: "stack", Args: []string{f.Digest}, Source: config.Source{File: f.Path, Project: true},
	}
	if trust.Trusted(entry) {
		return nil
	}
	if !yes {
		_, _ = fmt.Fprintf(a.Err, "%s would start and contact exactly this:\n", safe.Line(f.Path, 0))
		for _, l := range f.Describe() {
			_, _ = fmt.Fprintf(a.Err, "  %s\n", safe.Text(strings.ReplaceAll(l, "\n", " "))) // untruncated: any part of it may run code
			if len(l) > longestLine {
				return failure.UsageError(fmt.Sprintf("%s has an entry of %s, too long to be reviewed on a screen", f.Path, text.Bytes(len(l))),
					"read the file, and give --trust to accept it")
			}
		}
		if !output.Terminal(a.In) || !output.Terminal(a.Err) {
			return failure.UsageError(f.Path+" is not trusted with its present content", "review what it would start, and give --trust to accept it")
		}
		_, _ = fmt.Fprint(a.Err, "Start it, now and until it changes? [y/N] ")
		if answer, err := a.answer(ctx); err != nil {
			return err
		} else if answer = strings.ToLower(strings.TrimSpace(answer)); answer != "y" && answer != "yes" {
			return failure.UsageError("nothing was started", "")
		}
	}
	if trust == nil {
		return nil // there is no folder to save it in
	}
	if err := trust.Trust(entry); err != nil && !yes {
		return failure.UsageError(err.Error(), "")
	}
	return nil
}

// longestLine is how many bytes an entry may have in a question: a longer one fills the screen and pushes its beginning out
// of view.
const longestLine = 4 << 10

// answer reads a line from the terminal.
func (a *app) answer(ctx context.Context) (string, error) {
	line := make(chan string, 1)
	go func() { // ends with the process if nobody answers
		input, _ := bufio.NewReader(a.In).ReadString('\n') // an error answers no
		line <- input
	}()
	select {
	case input := <-line:
		return input, nil
	case <-ctx.Done():
		return "", context.Cause(ctx)
	}
}

// StackDir is the prefix of the name of a stack's folder, before the supervisor's pid.
const StackDir = "mcphud-stack-"

// Sweep removes the folders of stacks whose supervisor was killed, since they hold secrets.
func Sweep(base string) {
	if base == "" {
		base = os.TempDir()
	}
	left, _ := filepath.Glob(filepath.Join(base, StackDir+"*")) // the pattern is well-formed but for odd folders
	for _, dir := range left {
		digits, _, _ := strings.Cut(strings.TrimPrefix(filepath.Base(dir), StackDir), "-")
		if pid, err := strconv.Atoi(digits); err == nil && pid > 0 && !process.Alive(pid) {
			_ = os.RemoveAll(dir) // fails for another user's
		}
	}
}

// stackPlace creates the private folder of a stack, which remove removes, and the one for its agents' data.
func stackPlace(f *stack.File) (at stack.Place, remove func(), err error) {
	base := os.Getenv("XDG_RUNTIME_DIR")
	if info, err := os.Stat(base); base == "" || err != nil || !info.IsDir() {
		base = "" // the system's folder for temporary files
	}
	Sweep(base)
	at.Dir, err = os.MkdirTemp(base, fmt.Sprintf("%s%d-", StackDir, os.Getpid())) // mode 0700
	if err != nil {
		return at, nil, &failure.Error{Kind: failure.Usage, Message: "cannot create a folder for the stack: " + err.Error(), Err: err, Next: "set TMPDIR to a writable folder"}
	}
	remove = func() { _ = os.RemoveAll(at.Dir) }
	if f.Path == "" {
		return at, remove, nil
	}
	sum := sha256.Sum256([]byte(f.Path))
	if at.State = cli.StateFile(filepath.Join("stacks", hex.EncodeToString(sum[:8]))); at.State != "" {
		if err := os.MkdirAll(at.State, 0o700); err != nil {
			remove()
			return at, nil, &failure.Error{Kind: failure.Usage, Message: "cannot create a folder for the agents' data: " + err.Error(), Err: err, Next: "set XDG_STATE_HOME to a writable folder"}
		}
	}
	return at, remove, nil
}
