package main

import (
	"math"
	"testing"
	"time"
)

// What is simulated of few replicas is what was measured of them, from the same costs.
func TestSimulationSaysWhatWasMeasured(t *testing.T) {
	c, err := measured()
	if err != nil {
		t.Fatal(err)
	}
	if len(c.Rates) < 3 {
		t.Fatalf("nothing was measured: %v", c.Rates)
	}
	for n, want := range c.Rates {
		p := plant{Costs: c, Machines: 1, Cores: 2, Agents: n, Slots: 1, Tool: 5 * time.Millisecond, Callers: 16}
		if got := p.simulate(10*time.Second, 1).Rate; math.Abs(got-want) > 0.2*want {
			t.Errorf("%d replicas: %.0f calls a second are simulated, %.0f were measured", n, got, want)
		}
	}
}

// A station of so many slots that calls come to at random is what queueing theory says of it: M/M/1 and M/M/c.
func TestSimulationOfWhatIsKnown(t *testing.T) {
	for _, x := range []struct {
		slots int
		rate  float64
		p50   float64 // in times of the tool
	}{
		{1, 0.5, math.Ln2 / 0.5}, // the time in an M/M/1 is exponential, with the rate that is left
		{1, 0.8, math.Ln2 / 0.2},
		{64, 0.5, math.Ln2}, // nobody waits
	} {
		p := plant{Machines: 1, Cores: 1, Agents: 1, Slots: x.slots, Tool: time.Second, Spread: true, Rate: x.rate * float64(x.slots)}
		o := p.simulate(20_000*time.Second/time.Duration(x.slots), 1)
		if got := o.P50.Seconds(); math.Abs(got-x.p50) > 0.1*x.p50 {
			t.Errorf("%d slots, %.1f of what they can: the median is %.2f, want %.2f", x.slots, x.rate, got, x.p50)
		}
		if load := o.Loads["slots"]; math.Abs(load-x.rate) > 0.05 {
			t.Errorf("%d slots: load %.2f, want %.2f", x.slots, load, x.rate)
		}
	}
}

// The same seed is the same outcome, and what is too much shows as such.
func TestSimulationIsReproducible(t *testing.T) {
	p := plant{Costs: Costs{QueueAgents: time.Millisecond, QueueServer: time.Millisecond}, Machines: 2, Cores: 2, NATSCores: 1, Agents: 8, Slots: 4, Tool: 5 * time.Millisecond, Spread: true, Rate: 1500}
	a, b := p.simulate(5*time.Second, 7), p.simulate(5*time.Second, 7)
	if a.Rate != b.Rate || a.P99 != b.P99 || a.Done == 0 {
		t.Errorf("%+v and %+v", a, b)
	}
	if a.Bottleneck != "the queue's server" || math.Abs(a.Rate-1000) > 50 {
		t.Errorf("1,000 a second are what the queue's server can: %+v", a)
	}
}
