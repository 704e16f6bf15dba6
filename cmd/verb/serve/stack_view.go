package serve

import (
	"cmp"

	"github.com/mcphud/mcphud/proxy/stack"
	"github.com/mcphud/mcphud/tui"
	stackview "github.com/mcphud/mcphud/views/stack"
)

// stackView adapts a stack to the Stack stackview.
type stackView struct {
	*stack.Stack
	servers map[string][]string // by process, its names in the list of servers
}

var healths = map[stack.State]tui.Health{
	stack.Stopped: tui.Stopped, stack.Waiting: tui.Changing, stack.Starting: tui.Changing, stack.Stopping: tui.Changing,
	stack.Ready: tui.Healthy, stack.Failed: tui.Unhealthy, stack.Crashing: tui.Unhealthy,
}

// Processes implements [views.Stack].
func (v stackView) Processes() []stackview.Process {
	all := v.Stack.Processes()
	out := make([]stackview.Process, len(all))
	for i, s := range all {
		out[i] = stackview.Process{
			Name: s.Name, Kind: string(s.Kind), State: string(s.State), Health: healths[s.State], PID: s.PID, Port: s.Port, URL: s.URL,
			RetryAt: s.RetryAt, Restarts: s.Restarts, Err: cmp.Or(s.Err, s.Trouble),
			Known: s.Known, Requests: s.Requests, Running: s.Running, Queued: s.Queued, Servers: v.servers[s.Name],
		}
		if s.PID != 0 {
			out[i].Started = s.Started
		}
	}
	return out
}

// Log implements [views.Stack].
func (v stackView) Log(name string, after uint64) []stackview.ProcessLine {
	lines := v.Stack.Log(name, after)
	out := make([]stackview.ProcessLine, len(lines))
	for i, l := range lines {
		out[i] = stackview.ProcessLine{Seq: l.Seq, Time: l.Time, Note: l.Stream == stack.Note, Text: l.Text}
	}
	return out
}
