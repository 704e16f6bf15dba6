package call

import (
	"context"
	"strings"

	"github.com/mcphud/mcphud/cmd/cli"
	"github.com/mcphud/mcphud/cmd/cli/output"
	"github.com/mcphud/mcphud/cmd/cli/runner"
	"github.com/mcphud/mcphud/session/base/failure"
	"github.com/mcphud/mcphud/session/base/jsonrpc"
	"github.com/mcphud/mcphud/session/base/mask"
	"github.com/mcphud/mcphud/session/base/text"
	"github.com/mcphud/mcphud/session/client/toolset"
)

// missingServer is a server whose tools, or some of them, a list of all lacks, as JSON.
type missingServer struct {
	Server string `json:"server"`
	Error  string `json:"error"`
}

// toolsOfAll prints the tools of every server in one list, each as its server sent it but for the name.
func toolsOfAll(ctx context.Context, f *cli.Fleet, spelling string) error {
	seen, first := f.Connect(ctx)
	if ctx.Err() != nil {
		return first
	}
	rename := toolset.FullName
	if spelling == "colon" {
		rename = toolset.ColonName
	}
	raw := []byte(`{"tools":[`)
	rows, brief := [][]string{}, []string{}
	missing := []missingServer{}
	for _, s := range f.Set.Servers {
		if got := seen[s.Name]; got.Err != nil {
			why := strings.TrimPrefix(mask.Text(got.Err.Error()), s.Name+": ")
			if got.Stopped(first) {
				why = cli.NotTried
			}
			missing = append(missing, missingServer{s.Name, why})
			continue
		}
		if st, _ := f.Status(s.Name); len(st.Clashes) > 0 {
			missing = append(missing, missingServer{s.Name, "other servers have tools of these full names: " + text.Clip(strings.Join(st.Clashes, ", "), 300)})
		}
		for _, t := range f.Registry().ListByServer(s.Name) {
			if f.ReadOnly && !t.Item.ReadOnly() {
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
			full := t.Item
			full.Name = name
			brief = append(brief, briefTool(full))
			rows = append(rows, []string{name, runner.Hints(t.Item), markMalformed(t.Item, text.FirstLine(runner.Describe(t.Item)))})
		}
	}
	raw = append(raw, ']')
	if len(missing) > 0 {
		list, err := output.Marshal(missing)
		if err != nil {
			return err
		}
		raw = append(append(append(raw, `,"_meta":{"mcphud/missing":`...), list...), '}')
	}
	raw = append(raw, '}')
	if err := f.Out.Print(output.Answer{Result: raw, Frames: [][]byte{raw}, Text: func(t *output.Text) {
		switch {
		case len(rows) == 0:
			t.Block("none")
		case f.Out.Format == output.FormatBrief:
			t.Block(strings.Join(brief, "\n"))
		default:
			t.Table(f.Out.Width, output.DropEmptyColumn(rows, 1))
		}
		for _, m := range missing {
			t.Note(f.Out.Width, "missing: "+m.Server+": "+m.Error)
		}
	}}); err != nil {
		return err
	}
	return first
}
