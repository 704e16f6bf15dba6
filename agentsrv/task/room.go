package task

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"github.com/mcphud/mcphud/session/jsonrpc"
)

// usage is what tasks take up.
type usage struct {
	tasks int
	bytes int64 // of results and logs
}

// minShare is how many unfinished tasks a tenant may have however few tasks are kept.
const minShare = 16

// reserve makes room for one more task of a tenant. When there is none left, finished tasks of the tenant that has most
// give way, the oldest first, to those of a tenant that has fewer. Unfinished tasks never give way; no tenant may have
// more than a quarter of all.
func (s *Service) reserve(tenant string) error {
	for {
		s.mu.Lock()
		if s.closed {
			s.mu.Unlock()
			return interrupted()
		}
		from := s.donor(tenant)
		if from == "" && !s.full() && s.unfinished(tenant) < max(s.o.MaxTasks/4, minShare) {
			s.account(tenant, 1, 0)
			s.mu.Unlock()
			return nil
		}
		refusal := jsonrpc.Errorf(jsonrpc.KindQueueFull, "Task queue at capacity").With("tasks", s.total.tasks)
		refusal.RetryAfter = min(max(time.Until(s.next), time.Second), time.Minute)
		s.mu.Unlock()
		if from == "" || !s.evict(from) {
			return refusal
		}
	}
}

// unreserve gives the room back.
func (s *Service) unreserve(tenant string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.account(tenant, -1, 0)
}

// account adds to what a tenant uses; s.mu is held.
func (s *Service) account(tenant string, tasks int, bytes int64) {
	s.total.tasks += tasks
	s.total.bytes += bytes
	u := usage{s.used[tenant].tasks + tasks, s.used[tenant].bytes + bytes}
	if s.used[tenant] = u; u == (usage{}) {
		delete(s.used, tenant)
	}
}

func (s *Service) full() bool { return s.total.tasks >= s.o.MaxTasks || s.total.bytes >= s.o.MaxBytes }

// donor is the tenant that has more than this one of what there is no room for, "" if there is room or nobody has; s.mu is
// held.
func (s *Service) donor(tenant string) (most string) {
	if !s.full() {
		return ""
	}
	size := func(u usage) int64 { return int64(u.tasks) }
	if s.total.tasks < s.o.MaxTasks {
		size = func(u usage) int64 { return u.bytes }
	}
	n := size(s.used[tenant])
	for name, u := range s.used {
		if size(u) > n {
			most, n = name, size(u)
		}
	}
	return most
}

// unfinished is how many calls of a tenant run, tasks or not yet; s.mu is held.
func (s *Service) unfinished(tenant string) (n int) {
	for t := range s.runs {
		if t.rec.Owner.Tenant == tenant {
			n++
		}
	}
	return n
}

// evict removes the oldest finished task of a tenant; false if there is none.
func (s *Service) evict(tenant string) bool {
	size, ok, err := s.table.evict(tenant)
	if err != nil {
		s.o.Logger.Error("cannot remove a finished task to make room", "tenant_id", tenant, "err", err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if ok {
		s.account(tenant, -1, -size)
		return true
	}
	var oldest *task
	for _, t := range s.live {
		if t.rec.Owner.Tenant == tenant && !t.inserted && t.finished() && (oldest == nil || t.rec.Created.Before(oldest.rec.Created)) {
			oldest = t
		}
	}
	if oldest == nil {
		return false
	}
	s.drop(oldest.rec.ID, oldest)
	return true
}

// finished reports that a task has ended, and that the store was asked to keep it: until then it may become the store's.
func (t *task) finished() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.kept && t.rec.State.over()
}

// drop forgets a task that memory has, and what it used unless the table counts that; s.mu is held.
func (s *Service) drop(id string, t *task) {
	delete(s.live, id)
	t.gone = true
	tasks := -1
	if t.inserted {
		tasks = 0
	}
	s.account(t.rec.Owner.Tenant, tasks, -t.held)
}

// evict removes the oldest finished task of a tenant: its bytes, and false if there is none.
func (t table) evict(tenant string) (size int64, ok bool, err error) {
	if t.db == nil {
		return 0, false, nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), statementTimeout)
	defer cancel()
	err = t.db.QueryRowContext(ctx, `DELETE FROM tasks WHERE seq =
		(SELECT seq FROM tasks WHERE tenant = ? AND state IN (?, ?, ?) ORDER BY seq LIMIT 1) RETURNING size`, tenant, completed, failed, cancelled).Scan(&size)
	if errors.Is(err, sql.ErrNoRows) {
		return 0, false, nil
	}
	return size, err == nil, err
}
