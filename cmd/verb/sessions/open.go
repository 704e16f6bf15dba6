package sessions

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"time"

	"github.com/spf13/cobra"

	"github.com/mcphud/mcphud/cmd/cli"
	"github.com/mcphud/mcphud/cmd/cli/output"
	"github.com/mcphud/mcphud/session/base/failure"
	"github.com/mcphud/mcphud/session/config"
	"github.com/mcphud/mcphud/session/serve/kept"
	"github.com/mcphud/mcphud/session/wire/process"
)

// opening is what session open was told.
type opening struct {
	idle, wait time.Duration
	detached   bool
}

// ready is the one line that a keeper writes to its stdout: how it went.
type ready struct {
	Status *kept.Status `json:"status,omitempty"`
	Error  *reason      `json:"error,omitempty"`
}

// reason is an error of the keeper's, for the process that started it.
type reason struct {
	Kind                                              failure.Kind
	Server, Stage, Message, Reason, Detail, Next, URL string
	Remedy                                            failure.Remedy
	Object                                            string
	Code                                              *int64
	Status                                            int
}

func (a *app) openSession(ctx context.Context, cmd *cobra.Command, args []string, o *opening) error {
	if hidden := cli.HiddenFlag(cmd); hidden != "" {
		return failure.UsageError("--"+hidden+" is for the commands that use the session", "see mcphud session open --help")
	}
	if err := a.Options.Check(cmd); err != nil {
		return err
	}
	own, command, dash, err := a.OwnArgs(cmd, args, nil)
	if err != nil {
		return err
	}
	name := own[0]
	switch {
	case !config.ValidName(name):
		return failure.UsageError(fmt.Sprintf("%q is not a name for a session", name), "a name has "+config.NameRule)
	case o.idle < time.Second || o.wait < time.Second:
		return failure.UsageError("--idle and --park must be at least 1s", "give them as 30m or 1h")
	case a.Options.Session != "":
		return failure.UsageError("--session names a session that is open already", "name a server")
	}
	server, err := a.Options.Target(cmd, command, dash)
	if err != nil {
		return err
	}
	if server, err = a.Filled(ctx, server); err != nil {
		return err
	}
	if server.Unverified() {
		a.Note("mcphud: " + cli.Unverified(server))
	}
	s := spec{Server: server, Shown: shown(server), Settings: a.Options.Settings, Idle: o.idle, Wait: o.wait}
	s.Login = a.LoginCommand(server, nil)
	s.Server.Name, s.Server.Unnamed, s.Server.Source = name, false, config.Source{} // what had to be trusted is
	if s.Server.Command != "" && s.Server.Cwd == "" {
		if s.Server.Cwd, err = os.Getwd(); err != nil {
			return err
		}
	}
	if !o.detached && (output.Terminal(a.In) || output.Terminal(a.Out) || output.Terminal(a.Err)) {
		s.Terminal = process.Leader()
	}
	st, err := a.startKeeper(ctx, s)
	if err != nil {
		return err
	}
	raw, err := json.Marshal(st)
	if err != nil {
		return err
	}
	p := a.Printer()
	return p.Print(output.Answer{Result: raw, Text: func(t *output.Text) {
		until := "until mcphud session close " + name + ", or " + o.idle.String() + " without a request"
		if st.Terminal > 0 {
			until += ", or the end of this terminal"
		}
		t.Note(p.Width, "session "+name+" is open: "+st.Server)
		t.Note(p.Width, "It is kept "+until+". mcphud tools list --session "+name+" uses it.")
	}})
}

// startKeeper starts the process that keeps a session, and waits until its server answered, or did not.
func (a *app) startKeeper(ctx context.Context, s spec) (kept.Status, error) {
	text, err := json.Marshal(s)
	if err != nil {
		return kept.Status{}, err
	}
	program, err := os.Executable()
	if err != nil {
		return kept.Status{}, err
	}
	c := exec.Command(program, "session", "keep")
	process.Detach(c)
	in, err := c.StdinPipe()
	if err != nil {
		return kept.Status{}, err
	}
	out, err := c.StdoutPipe()
	if err != nil {
		return kept.Status{}, err
	}
	if err := c.Start(); err != nil {
		return kept.Status{}, &failure.Error{Kind: failure.SpawnFailed, Message: "cannot start the process that keeps the session: " + err.Error(), Err: err}
	}
	// Its input stays open until it is ready: a keeper whose opener gave up ends.
	defer func() { _ = in.Close() }()
	_, _ = in.Write(append(text, '\n')) // where it is gone already, its line says so
	line := make(chan []byte, 1)
	go func() {
		b, _ := bufio.NewReader(io.LimitReader(out, maxWaiting)).ReadBytes('\n') // what it lacks is said below
		line <- b
	}()
	var said ready
	select {
	case <-ctx.Done():
		_ = in.Close()
		<-line
		return kept.Status{}, context.Cause(ctx)
	case b := <-line:
		err = json.Unmarshal(b, &said)
	}
	switch {
	case said.Error != nil:
		r := said.Error
		_ = c.Wait() // it ends by itself
		return kept.Status{}, &failure.Error{
			Kind: r.Kind, Server: r.Server, Stage: r.Stage, Message: r.Message, Reason: r.Reason, Detail: r.Detail, Next: r.Next, URL: r.URL, Remedy: r.Remedy, Object: r.Object,
			Code: r.Code, Status: r.Status,
		}
	case err != nil || said.Status == nil:
		_ = c.Wait()
		return kept.Status{}, &failure.Error{Kind: failure.SpawnFailed, Message: "the process that keeps the session ended before it was ready", Err: err}
	}
	if _, err := in.Write([]byte("\n")); err != nil { // it is on its own from here on
		return kept.Status{}, err
	}
	return *said.Status, c.Process.Release()
}

// keep is the process of a session: it reads what to keep, says how that went, and ends with the session.
func (a *app) keep(ctx context.Context) error {
	in := bufio.NewReader(a.In)
	text, err := in.ReadBytes('\n')
	var s spec
	if err == nil {
		err = json.Unmarshal(text, &s)
	}
	if err != nil {
		return failure.UsageError("session keep is run by session open", "mcphud session open NAME -- COMMAND")
	}
	work, cancel := context.WithCancel(ctx)
	defer cancel()
	agreed := make(chan bool, 1)
	go func() {
		_, err := in.ReadByte()
		if err != nil {
			cancel() // who wanted it is gone
		}
		agreed <- err == nil
	}()
	k, err := a.openKeeper(work, s)
	if err != nil {
		e := cli.Explain(ctx, err)
		a.report(ready{Error: &reason{e.Kind, e.Server, e.Stage, e.Message, e.Reason, e.Detail, e.Next, e.URL, e.Remedy, e.Object, e.Code, e.Status}})
		return nil
	}
	st := k.status()
	a.report(ready{Status: &st})
	if !<-agreed {
		k.close()
	}
	return k.serve(ctx)
}

// report writes the line that the opener waits for, and lets go of its pipe.
func (a *app) report(r ready) {
	_ = json.NewEncoder(a.Out).Encode(r) // nobody is left to hear that it failed
	_ = a.Out.Close()
}
