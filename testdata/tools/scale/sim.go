package main

import (
	"cmp"
	"container/heap"
	"math/rand/v2"
	"slices"
	"time"
)

// clock runs events in the order of their times.
type clock struct {
	now    time.Duration
	events events
	n      int
}

type event struct {
	at time.Duration
	n  int // of two at the same time, which came first
	f  func()
}

type events []event

func (e events) Len() int { return len(e) }
func (e events) Less(i, j int) bool {
	return cmp.Or(cmp.Compare(e[i].at, e[j].at), cmp.Compare(e[i].n, e[j].n)) < 0
}
func (e events) Swap(i, j int) { e[i], e[j] = e[j], e[i] }
func (e *events) Push(x any)   { *e = append(*e, x.(event)) }
func (e *events) Pop() any {
	last := (*e)[len(*e)-1]
	*e = (*e)[:len(*e)-1]
	return last
}

// after calls f when so much time has gone by.
func (c *clock) after(d time.Duration, f func()) {
	c.n++
	heap.Push(&c.events, event{c.now + d, c.n, f})
}

// run runs events until the time is over.
func (c *clock) run(until time.Duration) {
	for len(c.events) > 0 && c.events[0].at <= until {
		e := heap.Pop(&c.events).(event)
		c.now = e.at
		e.f()
	}
	c.now = until
}

// station serves so many at a time, the others in the order of their coming: the cores of a machine, or the slots of an agent.
type station struct {
	name    string
	clock   *clock
	slots   int
	used    int
	waiting []func()
	busy    time.Duration // time that slots were held, in all
}

// take calls f with a slot, which give returns.
func (s *station) take(f func()) {
	if s.used < s.slots {
		s.used++
		f()
		return
	}
	s.waiting = append(s.waiting, f)
}

func (s *station) give() {
	if len(s.waiting) > 0 {
		next := s.waiting[0]
		s.waiting = s.waiting[1:]
		next()
		return
	}
	s.used--
}

// serve holds a slot for d, then calls f.
func (s *station) serve(d time.Duration, f func()) {
	s.take(func() {
		s.clock.after(d, func() {
			s.busy += d
			s.give()
			f()
		})
	})
}

// load is how much of what the station could do it did.
func (s *station) load(d time.Duration) float64 {
	return float64(s.busy) / float64(d) / float64(s.slots)
}

// plant is what is simulated: callers, routers, agents with their slots, and the server of the queue.
type plant struct {
	Costs     Costs
	Machines  int // for agents and routers
	Cores     int // of each machine
	NATSCores int // of the server of the queue; 0: it runs on the first machine, as in the measurement
	Routers   int // 0: callers reach agents themselves
	Agents    int // processes, all of one name
	Slots     int // calls that each runs at a time
	Tool      time.Duration
	Spread    bool // the tool's time is exponentially distributed, not the same each time
	Callers   int  // who call again as soon as they have their answer; 0: calls come by Rate
	Rate      float64
	Tasks     bool // calls are tasks, which cost their records too
}

// outcome is what came of it.
type outcome struct {
	Done       int
	Rate       float64 // a second
	P50, P99   time.Duration
	Loads      map[string]float64 // of machines, slots and the queue's server, the busiest of each
	Bottleneck string             // which of them is
}

// simulate runs the plant for d after a tenth of that to warm up.
func (p plant) simulate(d time.Duration, seed uint64) outcome {
	c := &clock{}
	rnd := rand.New(rand.NewPCG(seed, 1))
	place := func(name string, slots int) *station { return &station{name: name, clock: c, slots: slots} }
	var machines, slots []*station
	for range p.Machines {
		machines = append(machines, place("processors", p.Cores))
	}
	queue := machines[0]
	if p.NATSCores > 0 {
		queue = place("the queue's server", p.NATSCores)
	}
	for range p.Agents {
		slots = append(slots, place("slots", p.Slots))
	}
	cost := p.Costs.call(p.Tasks)
	free := []int{} // agents with a slot, in no order
	for i := range slots {
		for range p.Slots {
			free = append(free, i)
		}
	}
	var backlog []func(agent int)
	dispatch := func(f func(agent int)) { // the queue gives work to whoever has room
		if len(free) == 0 {
			backlog = append(backlog, f)
			return
		}
		i := rnd.IntN(len(free))
		agent := free[i]
		free[i] = free[len(free)-1]
		free = free[:len(free)-1]
		f(agent)
	}
	release := func(agent int) {
		if len(backlog) > 0 {
			next := backlog[0]
			backlog = backlog[1:]
			next(agent)
			return
		}
		free = append(free, agent)
	}
	warm := d / 10
	var times []time.Duration
	done := 0
	tool := func() time.Duration {
		if p.Spread {
			return time.Duration(rnd.ExpFloat64() * float64(p.Tool))
		}
		return p.Tool
	}
	turn := max(0, p.Costs.Turn-cost.Worker) // between two calls in a slot
	on := func(agent int) *station { return machines[agent%len(machines)] }
	call := func(end func()) {
		at, origin := c.now, rnd.IntN(p.Agents)
		through := func(f func()) { f() }
		if p.Routers > 0 {
			through = func(f func()) { machines[rnd.IntN(p.Routers)%len(machines)].serve(p.Costs.Router, f) }
		}
		through(func() {
			on(origin).serve(cost.Caller+cost.Origin, func() {
				queue.serve(cost.Server, func() {
					c.after(cost.Wait, func() {
						dispatch(func(agent int) {
							held := c.now
							on(agent).serve(cost.Worker, func() {
								c.after(tool(), func() {
									c.after(turn, func() {
										slots[agent].busy += c.now - held
										release(agent)
									})
									if c.now > warm {
										done++
										times = append(times, c.now-at)
									}
									end()
								})
							})
						})
					})
				})
			})
		})
	}
	if p.Callers > 0 {
		for range p.Callers {
			var again func()
			again = func() { call(again) }
			c.after(0, again)
		}
	} else {
		var next func()
		next = func() {
			call(func() {})
			c.after(time.Duration(rnd.ExpFloat64()/p.Rate*float64(time.Second)), next)
		}
		c.after(0, next)
	}
	c.run(warm + d)
	o := outcome{Done: done, Rate: float64(done) / d.Seconds(), Loads: map[string]float64{}}
	if slices.Sort(times); len(times) > 0 {
		o.P50, o.P99 = times[len(times)/2], times[len(times)*99/100]
	}
	for _, s := range slices.Concat(machines, slots, []*station{queue}) {
		o.Loads[s.name] = max(o.Loads[s.name], s.load(warm+d))
		if o.Bottleneck == "" || o.Loads[s.name] > o.Loads[o.Bottleneck] {
			o.Bottleneck = s.name
		}
	}
	return o
}
