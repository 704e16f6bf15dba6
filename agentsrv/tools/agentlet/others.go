package agentlet

import (
	"context"
	"errors"
	"maps"
	"sync"

	"github.com/mcphud/mcphud/session/base/store"
)

// notices is what is notified when an agent was made.
const notices = "agents"

// others are the agents that other processes make, where they share the database.
type others struct {
	stop func() // nil before Start
	done sync.WaitGroup
	last int64 // the last number that look has met

	mu  sync.Mutex
	own map[int64]bool // numbers of agents that were made here, and that look has not met
}

// Start reports agents that other processes make, until Close. Where nobody shares the database it starts nothing.
func (r *Registry) Start() {
	if r.o.DB.Dialect() != store.Postgres || r.others.stop != nil {
		return
	}
	ctx, stop := context.WithCancel(context.Background())
	r.others.stop = stop
	known := false
	r.others.done.Go(func() {
		r.o.DB.Watch(ctx, notices, func(ctx context.Context) {
			if err := r.look(ctx, known); err != nil && ctx.Err() == nil {
				r.o.Logger.Warn("cannot see the agents of other processes; trying again", "error", err)
			} else if err == nil {
				known = true
			}
		})
	})
}

func (o *others) close() {
	if o.stop != nil {
		o.stop()
		o.done.Wait()
	}
}

// made notes an agent of this process.
func (o *others) made(seq int64) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.stop == nil {
		return
	}
	if o.own == nil {
		o.own = map[int64]bool{}
	}
	o.own[seq] = true
}

// look finds agents that are new since the last look, and tells of them, unless that is the first.
func (r *Registry) look(ctx context.Context, tell bool) error {
	if err := r.open(ctx); err != nil {
		return err
	}
	o := &r.others
	rows, err := r.o.DB.QueryContext(ctx, `SELECT seq, tenant FROM agents WHERE seq > ? ORDER BY seq`, o.last)
	if err != nil {
		return err
	}
	defer rows.Close()
	tenants := map[string]bool{}
	for rows.Next() {
		var seq int64
		var tenant string
		if err = rows.Scan(&seq, &tenant); err != nil {
			break
		}
		o.last = seq
		if !o.here(seq) {
			tenants[tenant] = tell
		}
	}
	o.forget()
	for tenant, tell := range tenants {
		if tell {
			r.o.Updated(tenant, MyAgents)
			r.o.ListChanged(tenant)
		}
	}
	return errors.Join(err, rows.Err())
}

func (o *others) here(seq int64) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.own[seq]
}

// forget those that look has met.
func (o *others) forget() {
	o.mu.Lock()
	defer o.mu.Unlock()
	maps.DeleteFunc(o.own, func(seq int64, _ bool) bool { return seq <= o.last })
}
