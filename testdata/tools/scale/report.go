package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/mcphud/mcphud/session/base/text"
)

// What is extrapolated to, and on what.
const (
	fleet   = 1_000
	clients = 100_000
	hourly  = 1_000_000 // an hour
	cores   = 8         // of a machine
	memory  = 32_000_000_000
	// kept is how many tasks of one agent name are kept, and mostSessions how many sessions a router that keeps them.
	kept         = 1_000
	mostSessions = 10_000
)

// report is the tables of the manual, in Markdown.
func report(c Costs) string {
	var b strings.Builder
	units(&b, c)
	bounds(&b, c)
	simulated(&b, c)
	return b.String()
}

// units says what one of each costs.
func units(b *strings.Builder, c Costs) {
	b.WriteString("| one of these | costs |\n|---|---|\n")
	row := func(what, format string, args ...any) {
		fmt.Fprintf(b, "| %s | %s |\n", what, fmt.Sprintf(format, args...))
	}
	row("call, at the agent, without a queue", "%s of a processor", text.Duration(c.Agent))
	row("call, at the router", "%s of a processor", text.Duration(c.Router))
	row("call through the queue", "%s at both replicas together and %s at NATS, %.1f messages; answered %s later", text.Duration(c.QueueAgents), text.Duration(c.QueueServer), c.CallMessages, text.Duration(c.Hop))
	row("task, through the queue", "%s and %s, %.1f messages; %s are kept", text.Duration(c.QueueAgents+c.TaskAgents), text.Duration(c.QueueServer+c.TaskServer), c.TaskMessages, text.Bytes(c.TaskStored))
	row("idle agent", "%s of memory; on a queue %s of a processor each second", text.Bytes(c.IdleAgent), text.Duration(c.IdleQueueCPU))
	row("session", "%s at the router and %s at the agent", text.Bytes(c.SessionRoute), text.Bytes(c.SessionAgent))
	row("session that holds an event stream", "%s and %s more", text.Bytes(c.StreamRoute), text.Bytes(c.StreamAgent))
	for _, tool := range slices.Sorted(maps.Keys(c.Statements)) {
		row("call of `"+tool+"`, at PostgreSQL", "%.1f statements", c.Statements[tool])
	}
	b.WriteString("\n")
}

// share is how much of so many there is, in percent.
func share(d time.Duration, of int) string {
	return fmt.Sprintf("%.2g %%", 100*d.Seconds()/float64(of))
}

// bounds says what many of them need, and what gives way first.
func bounds(b *strings.Builder, c Costs) {
	b.WriteString("| for | it takes | and gives way first |\n|---|---|---|\n")
	row := func(what, takes, first string) { fmt.Fprintf(b, "| %s | %s | %s |\n", what, takes, first) }
	own := fleet * c.IdleAgent
	row("1,000 agents", fmt.Sprintf("%s of memory, and %.1f processors while nobody calls", text.Bytes(own), fleet*c.IdleQueueCPU.Seconds()),
		fmt.Sprintf("memory: a machine of %s has room for %d idle agents", text.Bytes(memory), memory/c.IdleAgent))
	routers := clients / mostSessions
	row("100,000 sessions", fmt.Sprintf("%s at routers and %s at agents; with event streams %s and %s",
		text.Bytes(clients*c.SessionRoute), text.Bytes(clients*c.SessionAgent), text.Bytes(clients*(c.SessionRoute+c.StreamRoute)), text.Bytes(clients*(c.SessionAgent+c.StreamAgent))),
		fmt.Sprintf("the bound of %d sessions of a router: %d routers, or `--session-key`, with which they keep none", mostSessions, routers))
	rate := float64(hourly) / 3600
	busy := func(d time.Duration) time.Duration { return time.Duration(rate * float64(d)) }
	server := c.QueueServer + c.TaskServer
	row("1e6 tasks an hour", fmt.Sprintf("%.0f a second: %s of a processor at routers, %s at agents, %s at NATS; %s at NATS where all are kept for an hour",
		rate, share(busy(c.Router), 1), share(busy(c.QueueAgents+c.TaskAgents), 1), share(busy(server), 1), text.Bytes(hourly*c.TaskStored)),
		fmt.Sprintf("the %d tasks that are kept of one agent name: with one name an end is kept for %.1f s, with 1,000 for an hour. Then NATS, at %.0f tasks a second and processor", kept, kept/rate, 1/server.Seconds()))
	b.WriteString("\n")
}

// simulated says where calls wait, in plants that nobody has here.
func simulated(b *strings.Builder, c Costs) {
	b.WriteString("| simulated | a second | median, p99 | busiest |\n|---|---|---|---|\n")
	row := func(what string, p plant, d time.Duration) {
		p.Costs = c
		o := p.simulate(d, 1)
		fmt.Fprintf(b, "| %s | %.0f | %s, %s | %s, %.0f %% |\n", what, o.Rate, text.Duration(o.P50), text.Duration(o.P99), o.Bottleneck, 100*o.Loads[o.Bottleneck])
	}
	large := plant{Machines: 125, Cores: cores, NATSCores: cores, Routers: 10, Agents: fleet, Slots: 1, Tool: time.Second, Spread: true, Tasks: true}
	for _, rate := range []float64{float64(hourly) / 3600, 900, 1100} {
		p := large
		p.Rate = rate
		row(fmt.Sprintf("tasks of 1 s, %.1f million an hour, 1,000 agents with one slot on 125 machines", rate*3600/1e6), p, 60*time.Second)
	}
	short := large
	short.Slots, short.Tool = 16, 5*time.Millisecond
	most := cores / (c.QueueServer + c.TaskServer).Seconds()
	for _, part := range []float64{0.5, 0.9, 1.1} {
		p := short
		p.Rate = part * most
		row(fmt.Sprintf("tasks of 5 ms, %.0f million an hour, the same with 16 slots each", p.Rate*3600/1e6), p, 2*time.Second)
	}
}
