package task

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
	"time"
)

// sweepMax is how many tasks of replicas that are gone one beat looks at.
const sweepMax = 32

// beats is the pulse of a replica.
func (s *Service) beats() {
	tick, often := time.NewTicker(s.o.Gone/10), time.NewTicker(pause)
	defer tick.Stop()
	defer often.Stop()
	for failing := false; ; {
		select {
		case <-s.stop:
			return
		case <-often.C:
			if !failing && s.asks() {
				s.collect()
			}
			continue
		case <-tick.C:
		}
		err := s.beat()
		if err != nil && !failing {
			s.o.Logger.Error("tasks: other replicas cannot see this one; its tasks count as interrupted when that lasts", "err", err)
		}
		failing = err != nil
	}
}

// asks reports that a task here waits for answers, which its client may give to another replica.
func (s *Service) asks() bool {
	s.mu.Lock()
	all := slices.Collect(maps.Values(s.live))
	s.mu.Unlock()
	return slices.ContainsFunc(all, func(t *task) bool {
		t.mu.Lock()
		defer t.mu.Unlock()
		return t.rec.State == asking
	})
}

// collect gets such answers sooner than the next beat would.
func (s *Service) collect() {
	ctx, cancel := context.WithTimeout(context.Background(), s.o.Gone/4) // or it would keep the next beat waiting for too long
	defer cancel()
	if err := s.table.mail(ctx); err != nil {
		s.o.Logger.Debug("tasks: cannot get the answers that other replicas took", "err", err)
	}
}

// beat shows that this replica is alive, ends here what the table has the end of, and settles what nobody works on any more.
func (s *Service) beat() error {
	s.mu.Lock()
	var here []string
	for id, t := range s.live {
		if t.inserted {
			here = append(here, id)
		}
	}
	s.mu.Unlock()
	ctx, cancel := context.WithTimeout(context.Background(), max(s.o.Gone/2, 2*time.Second))
	defer cancel()
	gone := s.o.Gone
	if s.steady.IsZero() || time.Since(s.steady) < gone { // where the table was not there for a while, all look as if they were gone
		gone = 0
	}
	records, err := s.table.beat(ctx, gone)
	if err != nil {
		s.steady = time.Time{}
		return err
	}
	if s.steady.IsZero() {
		s.steady = time.Now()
	}
	unfinished := map[string]bool{}
	looked := 0
	for _, r := range records {
		unfinished[r.ID] = true
		s.mu.Lock()
		_, live := s.live[r.ID]
		s.mu.Unlock()
		if live || looked >= sweepMax {
			continue
		}
		looked++
		if err := s.interrupt(ctx, r); err != nil {
			return err
		}
	}
	for _, id := range here {
		if !unfinished[id] {
			s.handleEnd(id, "")
		}
	}
	return nil
}

// interrupt ends a task whose replica is gone, unless its job is not.
func (s *Service) interrupt(ctx context.Context, r *record) error {
	if s.o.Queued != nil {
		if there, err := s.o.Queued(ctx, r.ID); there || err != nil {
			return err
		}
	}
	r.Updated, r.Inputs = s.table.now(), nil
	s.outcome(r, nil, errInterrupted())
	_, won, err := s.table.settle(ctx, r)
	if won {
		s.o.Logger.Warn("tasks: a replica is gone, and its task is interrupted", "task", r.ID, "tool", r.Tool, "replica", r.Origin)
	}
	return err
}

// here is a task that runs here and that the table has; nil if none. For each that is not nil, s.work has to be told when its
// caller is done.
func (s *Service) here(id string) *task {
	s.mu.Lock()
	defer s.mu.Unlock()
	t := s.live[id]
	if t == nil || !t.inserted || s.closed || t.deciding.Load() {
		return nil
	}
	s.work.Add(1)
	return t
}

// handleEnd implements listener: another replica ended the task, or the table lost it. If whoever ran it said so, its answer is on
// its way, and what it reported before.
func (s *Service) handleEnd(id string, how state) {
	t := s.here(id)
	if t == nil {
		return
	}
	go func() {
		defer s.work.Done()
		ctx, cancel := statement()
		defer cancel()
		if how == completed || how == failed {
			select {
			case <-t.done:
				return
			case <-s.stop:
			case <-time.After(pause):
			}
		}
		if end, err := s.table.get(ctx, id); err != nil || end != nil && !end.State.over() {
			return // the next beat looks again
		}
		_, _ = t.end(ctx, func(r *record) { s.outcome(r, nil, errInterrupted()) }) // or the next beat does it
	}()
}

// handleAnswers implements listener.
func (s *Service) handleAnswers(id string, answers map[string]json.RawMessage) {
	if t := s.here(id); t != nil {
		defer s.work.Done()
		t.answer(answers)
	}
}
