package traffic

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/mcphud/mcphud/cmd/cli"
	"github.com/mcphud/mcphud/cmd/cli/output"
	"github.com/mcphud/mcphud/proxy/tap"
	"github.com/mcphud/mcphud/proxy/tap/running"
	"github.com/mcphud/mcphud/session/base/failure"
	"github.com/mcphud/mcphud/session/base/mask"
	"github.com/mcphud/mcphud/session/base/text"
	"github.com/mcphud/mcphud/session/config"
	"github.com/mcphud/mcphud/session/serve/kept"
	"github.com/mcphud/mcphud/session/wire/journal"
)

func (a *app) psCommand() *cobra.Command {
	return &cobra.Command{
		Use: "ps", Short: "List the MCP servers that run on this machine", Args: cli.NoArgs,
		Long: "ps lists the MCP servers among your processes: who uses each, how long it runs, and the memory of it and of what it started. An orphan is one whose client is gone.\n\n" +
			"A server is what is named like one (a package of @modelcontextprotocol, mcp in its name), what a known client starts by npx, uvx, node, python or docker, what the " +
			"configurations have, what a kept session has, and what runs below mcphud tap. On other systems than Linux only the last are known.",
		Example: "  mcphud ps\n  mcphud ps --format json | jq '.servers[] | select(.orphan)'",
		RunE:    a.Action(func(ctx context.Context, cmd *cobra.Command, _ []string) error { return a.ps(ctx, cmd) }),
	}
}

func (a *app) ps(ctx context.Context, cmd *cobra.Command) error {
	if hidden := cli.HiddenFlag(cmd); hidden != "" {
		return failure.UsageError("--"+hidden+" does not apply to ps, which connects to no server", "see mcphud ps --help")
	}
	servers, err := a.running(ctx)
	if err != nil {
		return err
	}
	for i := range servers {
		servers[i].Argv = mask.Args(servers[i].Argv)
	}
	b, err := json.Marshal(map[string]any{"servers": servers})
	if err != nil {
		return err
	}
	p := a.Printer()
	return p.Print(output.Answer{Result: b, Text: func(t *output.Text) {
		if !running.Supported {
			t.Note(p.Width, "Only servers below mcphud tap are known on this system.")
		}
		if len(servers) == 0 {
			t.Note(p.Width, "No MCP server runs.")
			return
		}
		rows, orphans := [][]string{{"SERVER", "PID", "CLIENT", "AGE", "MEMORY", "COMMAND"}}, 0
		for _, s := range servers {
			client := cmp.Or(s.Client, "–")
			if s.Orphan {
				client = "✗ orphan"
				orphans++
			}
			if s.Tapped {
				client += " · tap"
			}
			memory := "–"
			if s.Memory > 0 {
				memory = text.Bytes(s.Memory)
			}
			rows = append(rows, []string{s.Name, strconv.Itoa(s.PID), client, age(time.Since(s.Started)), memory, strings.Join(s.Argv, " ")})
		}
		t.Table(p.Width, rows)
		if orphans > 0 {
			t.Note(p.Width, fmt.Sprintf("%s: the client is gone; end it with kill PID", text.Count(orphans, "orphan", "orphans")))
		}
	}})
}

// age is how long something runs, without what nobody reads.
func age(d time.Duration) string {
	if d > time.Hour {
		return d.Truncate(time.Minute).String()[:len(d.Truncate(time.Minute).String())-len("0s")]
	}
	return max(d, 0).Truncate(time.Second).String()
}

// running lists servers: of the system's processes, or where those are not known of the producers of tap.
func (a *app) running(ctx context.Context) ([]running.Server, error) {
	if !running.Supported {
		return tappedServers(ctx), nil
	}
	all, err := running.Processes()
	if err != nil {
		return nil, err
	}
	var configured [][]string
	o, err := config.System()
	if err != nil {
		return nil, err
	}
	set, _ := config.Load(o) // what cannot be read is not recognised
	for _, s := range set.Servers {
		if s.Command != "" {
			configured = append(configured, append([]string{s.Command}, s.Args...))
		}
	}
	sessions := map[int]string{} // by the process of the server
	for _, st := range kept.List(ctx) {
		if i := slices.IndexFunc(all, func(p running.Process) bool { return st.Child > 0 && p.PID == st.Child }); i >= 0 {
			sessions[st.Child] = st.Name
			configured = append(configured, all[i].Argv)
		}
	}
	servers := running.Servers(all, configured)
	for i, s := range servers {
		if name, ok := sessions[s.PID]; ok {
			servers[i].Client = "session " + name
		}
	}
	if servers == nil {
		servers = []running.Server{}
	}
	return servers, nil
}

// tappedServers are those that tap can watch.
func tappedServers(ctx context.Context) []running.Server {
	j := journal.New(journal.Options{})
	defer func() { _ = j.Close() }()
	w := tap.Join(ctx, j)
	defer w.Close()
	<-w.Scanned()
	const patience, step = 2 * time.Second, 10 * time.Millisecond
	for end := time.Now().Add(patience); len(w.Producers()) < w.Found() && time.Now().Before(end) && ctx.Err() == nil; {
		time.Sleep(step)
	}
	out := []running.Server{}
	for _, h := range w.Producers() {
		if h.Kind == tap.Wrapped {
			out = append(out, running.Server{Name: h.Name, PID: h.PID, Tapped: true, Started: h.Started, Argv: h.Argv})
		}
	}
	return out
}
