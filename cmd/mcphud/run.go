package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mcphud/mcphud/session/calls"
	"github.com/mcphud/mcphud/session/config"
	"github.com/mcphud/mcphud/session/failure"
	"github.com/mcphud/mcphud/session/history"
	"github.com/mcphud/mcphud/session/offer"
	"github.com/mcphud/mcphud/session/rpc"
	"github.com/mcphud/mcphud/session/text"
	"github.com/mcphud/mcphud/tui/safe"
)

func (a *app) runCommand() *cobra.Command {
	c := &cobra.Command{
		Use: "run CALL… [KEY=VALUE…] [flags] [URL | -- COMMAND ARGS…]", Short: "Make named calls of a project", Annotations: rule("some"),
		Long: "Makes calls that are kept as files. CALL is the name of one in " + calls.Folder + " of this project, a file, or a folder: then all calls in it are made, in the order of their names. " +
			"KEY=VALUE changes an argument. A target on the command line is called instead of the servers that the files name. mcphud help history explains the files.\n\n" +
			"Several calls are all made, also after one failed; the exit code is that of the first that failed. Calls to one server that follow each other share its connection.",
		Example: "  mcphud run search\n  mcphud run search query=other --format json\n  mcphud run .mcphud/calls -- node server.js",
		Args:    cobra.ArbitraryArgs,
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			dir, err := projectCalls()
			if err != nil {
				return nil, cobra.ShellCompDirectiveDefault
			}
			names, _ := calls.Names(dir) // none, no completions
			return names, cobra.ShellCompDirectiveDefault
		},
	}
	c.RunE = a.action(func(ctx context.Context, cmd *cobra.Command, args []string) error {
		own, target, err := a.ownTarget(cmd, args)
		if err != nil {
			return err
		}
		return a.runCalls(ctx, cmd, own, target)
	})
	return c
}

// targetOf is the server of a command, which may have none of its own: what the command line names comes first.
type targetOf func(otherwise func() (config.Server, error)) (config.Server, error)

// ownTarget separates a command's own arguments from the target, which need not be there.
func (a *app) ownTarget(cmd *cobra.Command, args []string) ([]string, targetOf, error) {
	if err := a.o.check(cmd); err != nil {
		return nil, nil, err
	}
	own, command, dash := splitArgs(cmd, args)
	own = a.o.takeURL(cmd, own, dash)
	if err := checkArgs(cmd, own); err != nil {
		return nil, nil, err
	}
	return own, func(otherwise func() (config.Server, error)) (config.Server, error) {
		if dash || a.o.url+a.o.agent+a.o.server != "" {
			return a.o.target(cmd, command, dash)
		}
		s, err := otherwise()
		if err != nil {
			return s, err
		}
		return s, a.o.apply(cmd, &s)
	}, nil
}

// projectCalls is the folder of this project's calls.
func projectCalls() (string, error) {
	wd, err := os.Getwd()
	if err != nil {
		return "", fmt.Errorf("the working folder: %w", err)
	}
	return calls.Dir(wd), nil
}

// findCalls are the calls that a word names.
func (a *app) findCalls(word string) ([]calls.Call, error) {
	dir, err := projectCalls()
	if err != nil {
		return nil, err
	}
	if file, bad := calls.Path(dir, word); bad == nil {
		if _, err := os.Lstat(file); err == nil {
			return a.readCalls(file)
		}
	}
	info, err := os.Stat(word)
	switch {
	case err != nil:
		names, _ := calls.Names(dir) // for the advice only
		return nil, &failure.Error{
			Kind: failure.NotFound, Message: fmt.Sprintf("there is no call %q in %s, and no such file or folder", word, dir),
			Next: didYouMean(word, names) + cmp.Or(strings.Join(names[:min(len(names), 20)], ", "), "mcphud history save makes one"),
		}
	case !info.IsDir():
		return a.readCalls(word)
	}
	if inside, err := os.Stat(filepath.Join(word, calls.Folder)); err == nil && inside.IsDir() {
		word = filepath.Join(word, calls.Folder)
	}
	names, err := calls.Names(word)
	if err != nil {
		return nil, err
	}
	if len(names) == 0 {
		return nil, &failure.Error{Kind: failure.NotFound, Message: "there are no calls in " + word, Next: "a call is a file NAME.yaml; see mcphud help history"}
	}
	var files []string
	for _, n := range names {
		files = append(files, filepath.Join(word, n+".yaml"))
	}
	return a.readCalls(files...)
}

// readCalls reads files, and warns of what is not known in them.
func (a *app) readCalls(files ...string) (all []calls.Call, err error) {
	for _, f := range files {
		c, warnings, err := calls.Read(f)
		if err != nil {
			return nil, &failure.Error{Kind: failure.Usage, Message: err.Error(), Err: err, Next: "correct the file; see mcphud help history"}
		}
		for _, w := range warnings {
			a.note("mcphud: warning: " + w.String())
		}
		all = append(all, c)
	}
	return all, nil
}

// ranCall is the outcome of one of several calls, as JSON.
type ranCall struct {
	Name    string          `json:"name"`
	File    string          `json:"file"`
	Server  string          `json:"server"`
	Method  string          `json:"method"`
	Target  string          `json:"target"`
	Verdict string          `json:"verdict"`
	Took    float64         `json:"took_ms"`
	Result  json.RawMessage `json:"result,omitempty"`
	Error   json.RawMessage `json:"error,omitempty"`
	size    int
}

// runCalls makes the calls that words name.
func (a *app) runCalls(ctx context.Context, cmd *cobra.Command, words []string, target targetOf) error {
	var all []calls.Call
	var given []string
	for _, w := range words {
		if _, err := os.Lstat(w); err != nil && strings.Contains(w, "=") {
			given = append(given, w)
			continue
		}
		found, err := a.findCalls(w)
		if err != nil {
			return err
		}
		all = append(all, found...)
	}
	if len(all) == 0 {
		return usageError("no call was named", "usage: "+cmd.UseLine())
	}
	servers := make([]config.Server, len(all))
	for i, c := range all {
		s, err := target(func() (config.Server, error) { return a.serverOf(ctx, c) })
		if err != nil {
			return err
		}
		servers[i] = s
	}
	if len(all) == 1 {
		k := kept(all[0], given)
		return a.connected(ctx, servers[0], func(ctx context.Context, l *link) error { return a.runOne(ctx, l, k) })
	}
	var ran []ranCall
	var first error
	p := a.printer()
	for i := 0; i < len(all); {
		end := i + 1
		for end < len(all) && sameServer(servers[end], servers[i]) {
			end++
		}
		group, done := all[i:end], 0
		err := a.connected(ctx, servers[i], func(ctx context.Context, l *link) error {
			for _, c := range group[done:] { // after a login those that are left
				k := kept(c, given)
				r, err := k.make(ctx, l)
				if ctx.Err() != nil || failure.RemedyOf(err) == failure.LogIn {
					return cmp.Or(err, ctx.Err())
				}
				done++
				one, err := outcomeOf(ctx, c, l.Title(), r, err)
				first = cmp.Or(first, err)
				ran = append(ran, one)
				l.side.finish()
				if err := p.ran(one); err != nil {
					return err
				}
			}
			return nil
		})
		switch {
		case ctx.Err() != nil || errors.Is(err, errOutputClosed):
			return err
		case err != nil && done == len(group): // after the last call: the journal's file, say
			first = cmp.Or(first, err)
		case err != nil:
			first = cmp.Or(first, err)
			for _, c := range group[done:] {
				one, _ := outcomeOf(ctx, c, servers[i].Name, rpc.Reply{}, err)
				ran = append(ran, one)
				if err := p.ran(one); err != nil {
					return err
				}
			}
		}
		i = end
	}
	return cmp.Or(p.ranAll(ran), first)
}

// kept is a call of a file as one that is made again.
func kept(c calls.Call, given []string) *keptCall {
	return &keptCall{method: c.Method, target: c.Target, args: c.Arguments, meta: c.Meta, timeout: c.Timeout, secrets: c.Secrets, given: slices.Clone(given)}
}

// runOne makes one call and prints what it gave.
func (a *app) runOne(ctx context.Context, l *link, k *keptCall) error {
	r, err := k.make(ctx, l)
	if err != nil {
		return k.named(ctx, l, err)
	}
	return k.print(l, r)
}

func sameServer(a, b config.Server) bool {
	return a.Name == b.Name && a.Source.File == b.Source.File && a.Fingerprint() == b.Fingerprint()
}

// serverOf is the server that a file names or describes.
func (a *app) serverOf(ctx context.Context, c calls.Call) (config.Server, error) {
	if c.Server != "" {
		return a.o.configured(c.Server)
	}
	s, ok := c.Config()
	if !ok {
		return s, usageError("no server was named, and "+c.File+" names none", nameTarget)
	}
	if err := a.trustCall(ctx, s); err != nil {
		return s, err
	}
	s.Source.Project = false // what it runs was trusted, whatever flags add
	return s, nil
}

// trustCall asks whether a server that a file of the project describes may be started, unless that was agreed to before.
func (a *app) trustCall(ctx context.Context, s config.Server) error {
	trust := a.o.trust()
	if trust.Trusted(s) {
		return nil
	}
	refused := &failure.Error{
		Kind: failure.ServerDisabled, Server: s.Name, Message: "not trusted yet: its command or URL comes from a file of this project, " + s.Source.File,
		Next: "run it on a terminal, which shows what it would start and asks, or name a server yourself",
	}
	if !terminal(a.in) || !terminal(a.err) || trust == nil {
		return refused
	}
	var b strings.Builder
	for _, f := range config.Describe(s) {
		fmt.Fprintf(&b, "  %-8s %s\n", f.Label, safe.Text(f.Value))
	}
	fmt.Fprintf(a.err, "A file of this project wants to start or contact a server:\n%sTrust it, until that changes? [y/N] ", b.String())
	line, err := readLine(ctx, a.in)
	if err != nil {
		return err
	}
	if !strings.EqualFold(line, "y") && !strings.EqualFold(line, "yes") {
		return refused
	}
	return trust.Trust(s)
}

// outcomeOf is how a call went, and its error, also that of a tool that failed.
func outcomeOf(ctx context.Context, c calls.Call, server string, r rpc.Reply, err error) (ranCall, error) {
	one := ranCall{Name: c.Name, File: c.File, Server: server, Method: c.Method, Target: c.Target, Verdict: history.OK, Took: ms(r.Took), Result: r.Result, size: len(r.Result)}
	if err == nil && c.Method == "tools/call" && offer.IsError(r.Result) {
		one.Verdict = history.IsError
		return one, toolError(server, "tools/call "+c.Target, r.Result)
	}
	if err == nil {
		return one, nil
	}
	e := explain(ctx, err)
	one.Error, one.Result = e.JSON(), nil
	switch {
	case e.Kind == failure.Timeout:
		one.Verdict = history.Timeout
	case e.Code != nil:
		one.Verdict = history.RPCError
	default:
		one.Verdict = history.Failed
	}
	return one, err
}

// ran prints the outcome of one of several calls, in the formats that print them as they come.
func (p *printer) ran(c ranCall) error {
	switch p.format {
	case formatText:
		return p.print(answer{text: func(t *textOutput) {
			line := fmt.Sprintf("%s  %s  %s  %s", verdictWord(c.Verdict), c.Name, c.Target, c.Server)
			if c.Error != nil {
				var e struct{ Message string }
				if json.Unmarshal(c.Error, &e) == nil {
					line += "  " + text.Clip(text.FirstLine(e.Message), 300)
				}
			} else {
				line += fmt.Sprintf("  %.3gms  %s", c.Took, text.Bytes(c.size))
			}
			t.block(line)
		}})
	case formatJSONL, formatRaw:
		raw, err := marshal(c)
		if err != nil {
			return err
		}
		return p.line(raw)
	}
	return nil
}

// ranAll prints the outcomes of all calls, in the formats that print them together.
func (p *printer) ranAll(all []ranCall) error {
	failed := 0
	for _, c := range all {
		if c.Verdict != history.OK {
			failed++
		}
	}
	switch p.format {
	case formatText:
		return p.print(answer{text: func(t *textOutput) { t.block(fmt.Sprintf("%d calls, %d failed", len(all), failed)) }})
	case formatJSON:
		raw, err := marshal(struct {
			Calls  []ranCall `json:"calls"`
			Failed int       `json:"failed"`
		}{all, failed})
		if err != nil {
			return err
		}
		return p.line(raw)
	}
	return nil
}
