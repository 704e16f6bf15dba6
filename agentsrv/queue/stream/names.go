package stream

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"
	"time"

	"github.com/mcphud/mcphud/session/serve/natsconn"
)

// version is that of what replicas say to each other. Those with another one do not take each other's calls.
const version = "1"

// names are those of one agent's queue at the server.
type names struct {
	stream  string // the work-queue stream
	begun   string // the bucket of calls that must not begin again
	objects string // the object store of what is too large for a message
	work    string // .GROUP.TENANT.JOB: a call that waits or runs
	to      string // .REPLICA.CALL.FROM: something about a call
	run     string // .JOB: to whoever runs a task
	hint    string // something waits
	alive   string // heartbeats
}

func newNames(agent string) names {
	a := natsconn.Name(agent)
	return names{
		stream: "mcphud_queue_" + a, begun: "mcphud_begun_" + a, objects: "mcphud_calls_" + a,
		work: "mcphud.queue." + a, to: "mcphud.to." + a, run: "mcphud.run." + a, hint: "mcphud.hint." + a, alive: "mcphud.alive." + a,
	}
}

// group is what replicas have in common that share their calls: what they say to each other, and their tools.
func group(offer string) string {
	sum := sha256.Sum256([]byte(offer))
	return version + "-" + hex.EncodeToString(sum[:6])
}

// line is where the calls of one tenant stand in one group.
type line struct{ group, tenant string } // the tenant's as a name

func (l line) String() string { return l.group + "." + l.tenant }

func lineOf(s string) (line, bool) {
	group, tenant, ok := strings.Cut(s, ".")
	return line{group, tenant}, ok && group != "" && tenant != "" && !strings.ContainsAny(tenant, ".*> ")
}

// lineOf is the line of a call's subject.
func (n names) lineOf(subject string) (line, bool) {
	rest, ok := strings.CutPrefix(subject, n.work+".")
	end := strings.LastIndexByte(rest, '.')
	if !ok || end < 0 {
		return line{}, false
	}
	return lineOf(rest[:end])
}

// consumer is the name of a line's consumer, filter what it gets.
func (l line) consumer() string { return l.group + "_" + l.tenant }

func (n names) filter(l line) string { return n.work + "." + l.String() + ".*" }

// ring has the lines in which something may wait, in the order of their turns.
type ring struct {
	order []line
	state map[line]*place
}

// place is a line's in the ring.
type place struct {
	changed int       // grows when something was added
	fresh   bool      // others have not been told
	tries   int       // how many times to look again, since the consumer may not know yet what the stream has
	due     time.Time // not before that
}

// lookAgain are the pauses before something is looked for again that was just added.
var lookAgain = [...]time.Duration{10 * time.Millisecond, 3 * time.Millisecond, time.Millisecond, 300 * time.Microsecond}

// how is why something is looked for in a line.
type how int

const (
	found  how = iota // it was there before
	hinted            // another replica put it there, just now
	mine              // this one did, and nobody else knows
)

// add notes that something waits.
func (r *ring) add(l line, h how) {
	if r.state == nil {
		r.state = map[line]*place{}
	}
	p := r.state[l]
	if p == nil {
		p = &place{}
		r.state[l] = p
		r.order = append(r.order, l)
	}
	p.changed++
	if h != found {
		p.tries = len(lookAgain)
	}
	p.fresh = p.fresh || h == mine
	p.due = time.Time{}
}

// next is whose turn it is; it is the last one after that.
func (r *ring) next() (l line, changed int, ok bool) {
	for i, l := range r.order {
		if p := r.state[l]; p.due.IsZero() || !time.Now().Before(p.due) {
			r.order = append(append(r.order[:i:i], r.order[i+1:]...), l)
			return l, p.changed, true
		}
	}
	return l, 0, false
}

// drop removes a line in which nothing waits, unless something was added since. It is looked at again after a while, if that is not 0.
func (r *ring) drop(l line, changed int) time.Duration {
	p := r.state[l]
	if p == nil || p.changed != changed {
		return 0
	}
	if p.tries > 0 {
		p.tries--
		p.due = time.Now().Add(lookAgain[p.tries])
		return lookAgain[p.tries]
	}
	delete(r.state, l)
	if i := slices.Index(r.order, l); i >= 0 {
		r.order = slices.Delete(r.order, i, i+1)
	}
	return 0
}

// news are the lines that others have to be told of.
func (r *ring) news() (all []line) {
	for _, l := range r.order {
		if p := r.state[l]; p.fresh {
			p.fresh = false
			all = append(all, l)
		}
	}
	return all
}
