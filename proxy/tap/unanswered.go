package tap

import (
	"time"

	"github.com/mcphud/mcphud/session/base/jsonrpc"
	"github.com/mcphud/mcphud/session/wire/journal"
)

// maxOpen is how many requests of a producer are remembered until they are answered.
const maxOpen = 4096

// request is what an answer names.
type request struct {
	server string
	conn   uint64
	dir    journal.Dir
	id     string
}

// follow remembers which requests wait for their answer.
func (p *joined) follow(e *journal.Entry) {
	k := request{e.Server, e.Conn, e.Dir, jsonrpc.IDKey(e.ID)}
	switch {
	case e.ID == "":
	case e.Kind == journal.Request && len(p.open) < maxOpen:
		if p.open == nil {
			p.open = map[request]string{}
		}
		p.open[k] = e.Method
	case e.Kind == journal.Response || e.Kind == journal.ErrorResponse:
		k.dir = journal.Out
		if e.Dir == journal.Out {
			k.dir = journal.In
		}
		delete(p.open, k)
	case e.Kind == journal.State && e.Status != "":
		delete(p.open, k)
	}
}

// abandon records that nobody answers the requests any more: the producer ended.
func (t *Joiner) abandon(p *joined) {
	for k, method := range p.open {
		e := journal.Entry{
			Time: time.Now(), Server: k.server, Conn: k.conn, Dir: k.dir, Kind: journal.State, ID: k.id, Method: method,
			Status: journal.Failed, Note: "the server ended", Hop: p.label.hop,
		}
		if t.only == nil {
			t.merge.add(item{entry: e, from: p.id})
		}
	}
	p.open = nil
}
