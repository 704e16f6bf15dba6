// Package exectool makes tools of programs: a call starts the program with the arguments as JSON on its standard input, and what it
// writes to its standard output is the result.
package exectool

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"strings"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"github.com/mcphud/mcphud/agentsrv/kit"
	"github.com/mcphud/mcphud/session/base/jsonrpc"
	"github.com/mcphud/mcphud/session/base/text"
	"github.com/mcphud/mcphud/session/wire/process"
)

const (
	// Output is how many bytes a program may write to its standard output.
	Output = 1 << 20

	stderrMax = 4 << 10     // bytes of stderr that are shown
	lateTime  = time.Second // how long processes that left the program's group may keep its output open
)

// Spec is a tool as settings files have it.
type Spec struct {
	Name        string             `json:"name"`
	Title       string             `json:"title"`
	Description string             `json:"description"`
	InputSchema json.RawMessage    `json:"inputSchema"` // of an object; missing allows any arguments
	Annotations mcp.ToolAnnotation `json:"annotations"`
	Command     string             `json:"command"` // looked up in PATH; no shell is involved
	Args        []string           `json:"args"`
	Env         map[string]string  `json:"env"` // beside PATH, HOME and the like
	Dir         string             `json:"cwd"` // "" is that of the agent
}

var names = regexp.MustCompile(`^[A-Za-z0-9_./-]{1,128}$`)

// Parse reads a Spec from JSON, and refuses members that it does not know.
func Parse(raw []byte) (Spec, error) {
	var s Spec
	d := json.NewDecoder(bytes.NewReader(raw))
	d.DisallowUnknownFields()
	if err := d.Decode(&s); err != nil {
		return s, fmt.Errorf("must be an object with name, description, inputSchema, command and args: %w", err)
	}
	switch {
	case !names.MatchString(s.Name):
		return s, fmt.Errorf("name is %.80q; it must have 1 to 128 letters, digits or _ - . /", s.Name)
	case s.Command == "":
		return s, fmt.Errorf("tool %s has no command", s.Name)
	case s.InputSchema != nil && jsonrpc.GetString(s.InputSchema, "type") != "object":
		return s, fmt.Errorf("inputSchema of %s must have type: object", s.Name)
	}
	return s, nil
}

// Tool is the tool. The error says why its command cannot run.
func (s Spec) Tool() (server.ServerTool, error) {
	env := process.Filtered(s.Env)
	path, err := process.Lookup(s.Command, env, s.Dir)
	if err != nil {
		return server.ServerTool{}, fmt.Errorf("tool %s: %s: %w", s.Name, s.Command, err)
	}
	schema := s.InputSchema
	if schema == nil {
		schema = json.RawMessage(`{"type":"object"}`)
	}
	t := mcp.NewToolWithRawSchema(s.Name, s.Description, schema)
	t.Title, t.Annotations = s.Title, s.Annotations
	spec := process.Spec{Path: path, Name: s.Command, Args: s.Args, Env: env, Dir: s.Dir}
	return server.ServerTool{Tool: t, Handler: func(ctx context.Context, r mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		args := kit.RawArguments(r)
		if len(args) == 0 {
			args = json.RawMessage("{}")
		}
		return run(ctx, spec, s.Name, args)
	}}, nil
}

// run starts the program and waits for it and its output, or kills its process group when ctx ends.
func run(ctx context.Context, spec process.Spec, name string, args []byte) (*mcp.CallToolResult, error) {
	p, in, out, errs, err := start(spec)
	if err != nil {
		return mcp.NewToolResultErrorf("%s cannot be started: %v", name, process.Reason(err)), nil
	}
	written := make(chan struct{})
	go func() {
		defer close(written)
		_, _ = in.Write(args) // a program need not read them
		_ = in.Close()
	}()
	stdout, stderr := collect(out, Output, func() { p.Signal(process.Kill) }), collect(errs, stderrMax, nil)
	select {
	case <-p.Exited():
	case <-ctx.Done():
	}
	p.Signal(process.Kill) // the program, and what it forked
	<-p.Exited()
	how := p.Reap()
	late := time.Now().Add(lateTime)
	_, _ = out.SetReadDeadline(late), errs.SetReadDeadline(late)
	_ = in.SetWriteDeadline(late)
	said, wrong := <-stdout, <-stderr
	<-written
	_, _ = out.Close(), errs.Close()
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case said.more:
		return mcp.NewToolResultErrorf("%s was ended: it wrote more than %s", name, text.Bytes(int64(Output))), nil
	case p.ExitCode() != 0:
		return mcp.NewToolResultErrorf("%s %s%s", name, how, wrong.after(": ")), nil
	}
	return result(said.text), nil
}

// result is what a program wrote: structured, too, if it is a JSON object that every reader reads alike.
func result(out []byte) *mcp.CallToolResult {
	out = bytes.TrimRight(out, "\r\n")
	res := mcp.NewToolResultText(strings.ToValidUTF8(string(out), "\ufffd"))
	if object := bytes.TrimSpace(out); bytes.HasPrefix(object, []byte("{")) {
		if _, err := jsonrpc.Canonical(object); err == nil {
			res.RawStructuredContent = object
		}
	}
	return res
}

// start starts the program with pipes, whose ends the caller closes.
func start(spec process.Spec) (p *process.Process, in, out, errs *os.File, err error) {
	var theirs [3]*os.File
	defer func() {
		for _, f := range theirs {
			if f != nil {
				_ = f.Close()
			}
		}
		if err != nil {
			for _, f := range []*os.File{in, out, errs} {
				if f != nil {
					_ = f.Close()
				}
			}
		}
	}()
	if theirs[0], in, err = os.Pipe(); err != nil {
		return
	}
	if out, theirs[1], err = os.Pipe(); err != nil {
		return
	}
	if errs, theirs[2], err = os.Pipe(); err != nil {
		return
	}
	spec.Std = theirs
	p, err = process.Start(spec)
	return
}

// output is the beginning of what a program wrote.
type output struct {
	text []byte
	more bool
}

func (o output) after(prefix string) string {
	if s := strings.TrimSpace(string(o.text)); s != "" {
		return prefix + strings.ToValidUTF8(s, "\ufffd")
	}
	return ""
}

// collect reads r to its end, keeps limit bytes, and calls full once there are more.
func collect(r io.Reader, limit int64, full func()) <-chan output {
	done := make(chan output, 1)
	go func() {
		text, err := io.ReadAll(io.LimitReader(r, limit))
		o := output{text: text}
		if err == nil {
			buf := make([]byte, 32<<10)
			for n := 0; !errors.Is(err, io.EOF) && err == nil; {
				if n, err = r.Read(buf); n > 0 && !o.more {
					if o.more = true; full != nil {
						full()
					}
				}
			}
		}
		done <- o
	}()
	return done
}
