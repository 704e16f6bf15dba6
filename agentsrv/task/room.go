package task

import (
	"cmp"
	"time"

	"github.com/mcphud/mcphud/session/base/jsonrpc"
)

// usage is what tasks take up.
type usage struct {
	tasks int
	bytes int64 // of results and logs
	open  int   // unfinished tasks that a shared table has
}

// add is the sum of both; what is taken away is negative.
func (u usage) add(v usage) usage {
	return usage{u.tasks + v.tasks, u.bytes + v.bytes, u.open + v.open}
}

// minShare is how many unfinished tasks a tenant may have however few tasks are kept.
const minShare = 16

// reserve makes room for one more task of a tenant. When there is none left, finished tasks of the tenant that has most
// give way, those first that ended first: to those of a tenant that has fewer, and once they ended Options.GracePeriod ago also to those of the
// same tenant. One that has just ended waits to be asked for. Unfinished tasks never give way; no tenant may have more than a quarter of all.
func (s *Service) reserve(tenant string) error {
	for {
		if err := s.recount(); err != nil {
			s.o.Logger.Error("cannot count the tasks that are kept", "err", err)
			return errNotSaved(err)
		}
		s.mu.Lock()
		if s.closed {
			s.mu.Unlock()
			return errInterrupted()
		}
		used, total := s.usage()
		from, by := s.largestTenant(tenant, used, total)
		open, share := used[tenant].open+s.countOwn(tenant), max(s.o.MaxTasks/4, minShare)
		if from == "" && !s.isFull(total) && open < share {
			add(s.unsavedUsage, tenant, usage{tasks: 1})
			s.mu.Unlock()
			return nil
		}
		if open >= share { // room would not help
			from = ""
		}
		refusal := jsonrpc.Errorf(jsonrpc.KindQueueFull, "no room for more tasks: %d are kept; call again later, or without a task", total.tasks).With("tasks", total.tasks)
		if open >= share {
			refusal = jsonrpc.Errorf(jsonrpc.KindQueueFull, "%d tasks of the tenant are not over, and it may have %d; wait for one, or cancel one", open, share).With("tasks", open)
		}
		refusal.RetryAfter = min(max(s.next.Sub(s.table.now()), time.Second), time.Minute)
		s.mu.Unlock()
		if from == "" || !s.evict(from, by) {
			return refusal
		}
	}
}

// recount has a shared table count what other replicas have added.
func (s *Service) recount() error {
	ctx, cancel := statement()
	defer cancel()
	return s.table.count(ctx)
}

// usage is what tasks take up by tenant, and all together; s.mu is held.
func (s *Service) usage() (used map[string]usage, total usage) {
	if used = s.table.usageByTenant(); used == nil {
		used = map[string]usage{}
	}
	for tenant, u := range s.unsavedUsage {
		add(used, tenant, u)
	}
	for _, u := range used {
		total = total.add(u)
	}
	return used, total
}

// add adds to what a tenant uses.
func add(used map[string]usage, tenant string, more usage) {
	u := used[tenant].add(more)
	if used[tenant] = u; u == (usage{}) {
		delete(used, tenant)
	}
}

// unreserve gives the room back.
func (s *Service) unreserve(tenant string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	add(s.unsavedUsage, tenant, usage{tasks: -1})
}

// isFull reports whether there is no room for one more task.
func (s *Service) isFull(total usage) bool {
	return total.tasks >= s.o.MaxTasks || total.bytes >= s.o.MaxBytes
}

// largestTenant returns the tenant that has more than this one of what there is no room for, or else this one itself, "" if there is room, and by
// when those of its tasks ended that give way, zero for all that ended.
func (s *Service) largestTenant(tenant string, used map[string]usage, total usage) (most string, by time.Time) {
	if !s.isFull(total) {
		return "", by
	}
	size := func(u usage) int64 { return int64(u.tasks) }
	if total.tasks < s.o.MaxTasks {
		size = func(u usage) int64 { return u.bytes }
	}
	n := size(used[tenant])
	for name, u := range used {
		if size(u) > n {
			most, n = name, size(u)
		}
	}
	if most == "" {
		return tenant, s.table.now().Add(-s.o.GracePeriod)
	}
	return most, by
}

// countOwn counts the calls of a tenant that this agent took and has not finished, tasks or not yet, but those that a shared table
// counts; s.mu is held.
func (s *Service) countOwn(tenant string) (n int) {
	shared := s.table.isShared()
	for t := range s.runs {
		if t.rec.Owner.Tenant == tenant && (!shared || !t.inserted) {
			n++
		}
	}
	return n
}

// evict removes the task of a tenant that ended first, if that was by a time or that is zero; false if there is none.
func (s *Service) evict(tenant string, by time.Time) bool {
	ctx, cancel := statement()
	defer cancel()
	ok, err := s.table.evict(ctx, tenant, by)
	if err != nil {
		s.o.Logger.Error("cannot remove a finished task to make room", "tenant_id", tenant, "err", err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if ok {
		return true
	}
	var first *task
	for _, t := range s.live {
		if t.rec.Owner.Tenant == tenant && !t.inserted && t.isFinished() && t.rec.Updated.UnixMilli() <= milliOrMax(by) && (first == nil || cmp.Or(t.rec.Updated.Compare(first.rec.Updated), t.rec.Created.Compare(first.rec.Created)) < 0) {
			first = t
		}
	}
	if first == nil {
		return false
	}
	s.drop(first.rec.ID, first)
	return true
}

// isFinished reports that a task has ended, and that the store was asked to keep it: until then it may become the store's.
func (t *task) isFinished() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.persisted && t.rec.State.isTerminal()
}

// drop forgets a task that memory has, and what it used unless the table counts that; s.mu is held.
func (s *Service) drop(id string, t *task) {
	delete(s.live, id)
	t.expired = true
	tasks := -1
	if t.inserted {
		tasks = 0
	}
	add(s.unsavedUsage, t.rec.Owner.Tenant, usage{tasks: tasks, bytes: -t.heldBytes})
}
