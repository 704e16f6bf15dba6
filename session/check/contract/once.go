package contract

import (
	"encoding/binary"
	"hash/fnv"

	"github.com/mcphud/mcphud/session/wire/journal"
)

// maxOnce is how many ways to know a call again are kept, mostly one for a call, and one more for one with a trace; of what is recorded beyond them
// each record counts.
const maxOnce = 500_000

// between is how many seconds may lie between two records of a call without a trace, where a full minute lies between them; in one minute all are.
const between = 10

// sight is one record of a call: at is the same for all records of that call at one place, call at all places.
type sight struct{ at, call uint64 }

// sightsOf are the ways to know a call again. What a client sends is recorded by it, and again by each router, agent and tap on the way:
// all of these records have the id of its trace. Where there is none they have the same bytes and id, at about the same time; two clients
// whose journals are two files may send the same at the same time as well, so that only other hops are other places then.
func sightsOf(e *journal.Entry, file int, params []byte, c *Recorded) []sight {
	hash := func(parts ...string) uint64 {
		h := fnv.New64a()
		for _, p := range parts { // the length first: no two lists of parts are the same bytes
			_, _ = h.Write(binary.AppendUvarint(nil, uint64(len(p)))) // a hash takes everything
			_, _ = h.Write([]byte(p))
		}
		return h.Sum64()
	}
	number := func(n uint64) string { return string(binary.AppendUvarint(nil, n)) }
	place := e.Hop + " " + number(e.Conn>>32) // the upper half says which process, where a tap joined several
	var out []sight
	add := func(minute int64) {
		frame := hash(e.Method, e.ID, string(params), number(uint64(minute)))
		out = append(out, sight{hash(number(frame), place), frame})
	}
	at := e.Time.Unix()
	if add(at / 60); at%60 >= 60-between { // another hop may have recorded it in the next minute: both for all calls cost a tenth of the time of reading
		add(at/60 + 1)
	}
	if e.Trace != "" {
		trace := hash(e.Trace, e.Method, c.Name, string(c.Arguments))
		out = append(out, sight{hash(number(trace), place, number(uint64(file))), trace})
	}
	return out
}

// Once tells the calls of a recording from further records of them. The zero value has seen none. at counts records by sight.at, and of has the
// most of them that one place has by sight.call: so many calls were made.
type Once struct{ at, of map[uint64]int }

// Again reports whether a record is of a call that was seen before. A call that was made several times, with the same arguments in the
// same trace, has as many records at each place.
func (o *Once) Again(c *Recorded) bool {
	if o.at == nil {
		o.at, o.of = map[uint64]int{}, map[uint64]int{}
	}
	again := false
	for _, s := range c.sights {
		again = again || o.at[s.at] < o.of[s.call]
	}
	for _, s := range c.sights {
		if _, known := o.of[s.call]; !known && len(o.of) >= maxOnce {
			continue
		}
		o.at[s.at]++
		o.of[s.call] = max(o.of[s.call], o.at[s.at])
	}
	return again
}
