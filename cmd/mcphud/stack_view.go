package main

import (
	"cmp"

	"github.com/mcphud/mcphud/proxy/stack"
	"github.com/mcphud/mcphud/tui"
	"github.com/mcphud/mcphud/views"
)

// stackView adapts a stack to the Stack screen.
type stackView struct {
	*stack.Stack
	servers map[string][]string // by process, its names in the list of servers
}

var healths = map[stack.State]tui.Health{
	stack.Stopped: tui.Stopped, stack.Waiting: tui.Changing, stack.Starting: tui.Changing, stack.Stopping: tui.Changing,
	stack.Ready: tui.Healthy, stack.Failed: tui.Unhealthy, stack.Crashing: tui.Unhealthy,
}

// Processes implements [views.Stack].
func (v stackView) Processes() []views.Process {
	all := v.Stack.Processes()
	out := make([]views.Process, len(all))
	for i, s := range all {
		out[i] = views.Process{
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
func (v stackView) Log(name string, after uint64) []views.ProcessLine {
	lines := v.Stack.Log(name, after)
	out := make([]views.ProcessLine, len(lines))
	for i, l := range lines {
		out[i] = views.ProcessLine{Seq: l.Seq, Time: l.Time, Note: l.Stream == stack.Note, Text: l.Text}
	}
	return out
}
