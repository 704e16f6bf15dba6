package agentlet

import (
	"context"
	"database/sql"

	"github.com/mcphud/mcphud/session/base/store"
)

// notices is what is notified when an agent was made.
const notices = "agents"

// Start reports agents that other processes make, until Close. Where nobody shares the database it starts nothing.
func (r *Registry) Start() {
	if r.o.DB.Dialect() != store.Postgres || r.stop != nil {
		return
	}
	ctx, stop := context.WithCancel(context.Background())
	r.stop = stop
	last := int64(-1) // the last number that was met
	r.watch.Go(func() {
		r.o.DB.Watch(ctx, notices, func(ctx context.Context) {
			if err := r.look(ctx, &last); err != nil && ctx.Err() == nil {
				r.o.Logger.Warn("cannot see the agents of other processes; trying again", "error", err)
			}
		})
	})
}

// look finds agents that others made after the last one, and tells of them, unless that is the first look.
func (r *Registry) look(ctx context.Context, last *int64) error {
	if err := r.open(ctx); err != nil {
		return err
	}
	rows, err := r.o.DB.QueryContext(ctx, `SELECT seq, tenant, origin FROM agents WHERE seq > ? ORDER BY seq`, *last)
	tell, tenants := *last >= 0, map[string]bool{}
	_, err = store.Collect(rows, err, func(rows *sql.Rows) (none struct{}, err error) {
		var tenant, origin string
		if err = rows.Scan(last, &tenant, &origin); err == nil && origin != r.origin {
			tenants[tenant] = tell
		}
		return none, err
	})
	if !tell && err != nil {
		*last = -1 // the next one is the first
	} else {
		*last = max(*last, 0)
	}
	for tenant, tell := range tenants {
		if tell {
			r.o.Updated(tenant, MyAgents)
			r.o.ListChanged(tenant)
		}
	}
	return err
}
