package main

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"time"
)

// Costs are what one unit of each thing costs, as TestBudgetCosts measures them. Times are of processors unless said otherwise.
type Costs struct {
	Router       time.Duration // a call through a router, at the router
	Agent        time.Duration // a call at an agent without a queue
	Caller       time.Duration // a call, at whoever makes it in the measurement
	QueueAgents  time.Duration // a call through the queue, at the replica that took it and the one that ran it together
	QueueServer  time.Duration // the same at the queue's server
	TaskAgents   time.Duration // a call that is a task, beyond another one through the queue
	TaskServer   time.Duration
	Hop          time.Duration // how much later, on the clock, a call through the queue is answered; the median of one caller
	Turn         time.Duration // on the clock, how long a slot is empty between two calls that wait
	IdleAgent    int64         // bytes of memory that are an idle agent's own
	IdleAgentCPU time.Duration // in a second in which nobody calls it
	IdleQueueCPU time.Duration // the same of one that takes work from a queue
	SessionRoute int64         // bytes of a session at the router
	SessionAgent int64         // and at the agent
	StreamRoute  int64         // bytes of an event stream that a session holds, at the router
	StreamAgent  int64         // and at the agent
	TaskStored   int64         // bytes at the queue's server of a task that is kept
	TaskMessages float64       // messages that the queue's server gets for a task
	CallMessages float64       // and for a call

	// Statements are those that PostgreSQL gets for a call of a tool, by its name.
	Statements map[string]float64

	// Rates are how many calls of 5 ms came back a second, of so many replicas with one slot each and 16 callers: what the
	// simulation has to say as well.
	Rates map[int]float64
}

//go:embed costs.json
var costsFile []byte

// measured are the costs that were committed.
func measured() (c Costs, err error) {
	if err := json.Unmarshal(costsFile, &c); err != nil {
		return c, fmt.Errorf("costs.json: %w", err)
	}
	return c, nil
}

// parts is what a call through the queue costs where.
type parts struct {
	Caller, Origin, Worker, Server time.Duration // of processors
	Wait                           time.Duration // of nothing but distance
}

// call is what a call through the queue costs, or one that is a task.
func (c Costs) call(task bool) parts {
	agents, server := c.QueueAgents, c.QueueServer
	if task {
		agents, server = agents+c.TaskAgents, server+c.TaskServer
	}
	return parts{c.Caller, agents / 2, agents - agents/2, server, max(0, c.Hop-c.QueueAgents-c.QueueServer)}
}
