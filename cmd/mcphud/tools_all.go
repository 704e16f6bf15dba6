package main

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/spf13/cobra"

	"github.com/mcphud/mcphud/session/base/failure"
	"github.com/mcphud/mcphud/session/base/jsonrpc"
	"github.com/mcphud/mcphud/session/base/mask"
	"github.com/mcphud/mcphud/session/base/text"
	"github.com/mcphud/mcphud/session/client/toolset"
)

// serverOfTool takes the server from a tool's full name, where no flag names one. Where the name can mean tools of several servers of
// the configs, these are asked which of them has it.
func (a *app) serverOfTool(ctx context.Context, cmd *cobra.Command, own []string, dash bool) error {
	o := &a.o
	if dash || len(own) == 0 || cmd.Parent() == nil || cmd.Parent().Name() != "tools" || o.server != "" || o.url != "" || o.agent != "" {
		return nil
	}
	if !toolset.IsFullName(own[0]) {
		return nil
	}
	set, _, err := o.load()
	if err != nil {
		return err
	}
	names := serverNames(set)
	var ref toolset.ToolRef
	if refs := toolset.Candidates(own[0], names); len(refs) > 1 {
		err = a.withFleet(ctx, cmd, func(ctx context.Context, f *fleet) (err error) {
			ref, err = toolset.ResolveName(own[0], names, f.ask(ctx, refs))
			return err
		})
	} else {
		ref, err = toolset.ResolveName(own[0], names, nil)
	}
	if err != nil {
		if len(toolset.Candidates(own[0], names)) == 0 {
			return &failure.Error{
				Kind: failure.InvalidToolName, Message: fmt.Sprintf("%q names no server of the configs", own[0]),
				Next: didYouMean(strings.Split(strings.ReplaceAll(own[0], ":", "__"), "__")[1], names) + "mcphud servers list shows what was found where",
			}
		}
		return err
	}
	o.server = ref.Server
	return nil
}

// ask connects the servers that a name can mean, as far as they may start, and tells which of them has the tool.
func (f *fleet) ask(ctx context.Context, refs []toolset.ToolRef) func(toolset.ToolRef) (yes, known bool) {
	var names []string
	for _, r := range refs {
		if slices.Contains(f.startable(), r.Server) {
			names = append(names, r.Server)
		}
	}
	var mu sync.Mutex
	asked, have := map[string]bool{}, map[toolset.ToolRef]bool{}
	_ = f.ConnectAll(ctx, names, func(name string, err error) { // one that cannot be asked may have the tool
		mu.Lock()
		defer mu.Unlock()
		asked[name] = err == nil
		for _, t := range f.Registry().ListByServer(name) {
			have[toolset.ToolRef{Server: name, Tool: t.Tool}] = true
		}
	})
	return func(r toolset.ToolRef) (yes, known bool) { return have[r], asked[r.Server] }
}

// missingServer is a server whose tools, or some of them, a list of all lacks, as JSON.
type missingServer struct {
	Server string `json:"server"`
	Error  string `json:"error"`
}

// toolsOfAll prints the tools of every server in one list, each as its server sent it but for the name.
func toolsOfAll(ctx context.Context, f *fleet, spelling string) error {
	seen, first := f.connect(ctx)
	if ctx.Err() != nil {
		return first
	}
	rename := toolset.FullName
	if spelling == "colon" {
		rename = toolset.ColonName
	}
	raw := []byte(`{"tools":[`)
	rows := [][]string{}
	missing := []missingServer{}
	for _, s := range f.set.Servers {
		if got := seen[s.Name]; got.err != nil {
			why := strings.TrimPrefix(mask.Text(got.err.Error()), s.Name+": ")
			if got.stopped(first) {
				why = notTried
			}
			missing = append(missing, missingServer{s.Name, why})
			continue
		}
		if st, _ := f.Status(s.Name); len(st.Clashes) > 0 {
			missing = append(missing, missingServer{s.Name, "other servers have tools of these full names: " + text.Clip(strings.Join(st.Clashes, ", "), 300)})
		}
		for _, t := range f.Registry().ListByServer(s.Name) {
			if f.readOnly && !t.Item.ReadOnly() {
				continue
			}
			name := rename(t.Server, t.Tool)
			it, err := jsonrpc.Update(t.Item.Raw, jsonrpc.Set(jsonrpc.Quote(name), "name"))
			if err != nil {
				return &failure.Error{Kind: failure.Protocol, Server: s.Name, Stage: "tools/list", Message: err.Error(), Err: err}
			}
			if len(rows) > 0 {
				raw = append(raw, ',')
			}
			raw = append(raw, it...)
			rows = append(rows, []string{name, hints(t.Item), markMalformed(t.Item, text.FirstLine(describe(t.Item)))})
		}
	}
	raw = append(raw, ']')
	if len(missing) > 0 {
		list, err := marshal(missing)
		if err != nil {
			return err
		}
		raw = append(append(append(raw, `,"_meta":{"mcphud/missing":`...), list...), '}')
	}
	raw = append(raw, '}')
	if err := f.out.print(answer{result: raw, frames: [][]byte{raw}, text: func(t *textOutput) {
		if len(rows) == 0 {
			t.block("none")
		}
		t.table(f.out.width, dropEmptyColumn(rows, 1))
		for _, m := range missing {
			t.note(f.out.width, "missing: "+m.Server+": "+m.Error)
		}
	}}); err != nil {
		return err
	}
	return first
}
