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

// runHeartbeats calls heartbeat until the service closes, ten times in Options.ReplicaTimeout, so that a few lost ones do not make the replica count as
// gone. Answers for a task that waits are fetched in between.
func (s *Service) runHeartbeats() {
	tick, often := time.NewTicker(s.o.ReplicaTimeout/10), time.NewTicker(pause)
	defer tick.Stop()
	defer often.Stop()
	for failing := false; ; {
		select {
		case <-s.stop:
			return
		case <-often.C:
			if !failing && s.hasOpenQuestions() {
				s.fetchAnswers()
			}
			continue
		case <-tick.C:
		}
		err := s.heartbeat()
		if err != nil && !failing {
			s.o.Logger.Error("tasks: other replicas cannot see this one; its tasks count as interrupted when that lasts", "err", err)
		}
		failing = err != nil
	}
}

// hasOpenQuestions reports whether a task of this replica waits for answers, which its client may give to another replica.
func (s *Service) hasOpenQuestions() bool {
	s.mu.Lock()
	all := slices.Collect(maps.Values(s.live))
	s.mu.Unlock()
	return slices.ContainsFunc(all, func(t *task) bool {
		t.mu.Lock()
		defer t.mu.Unlock()
		return t.rec.State == inputRequired
	})
}

// fetchAnswers gets the answers that other replicas were given, sooner than the next heartbeat would.
func (s *Service) fetchAnswers() {
	ctx, cancel := context.WithTimeout(context.Background(), s.o.ReplicaTimeout/4) // or it would keep the next beat waiting for too long
	defer cancel()
	if err := s.table.fetchAnswers(ctx); err != nil {
		s.o.Logger.Debug("tasks: cannot get the answers that other replicas took", "err", err)
	}
}

// heartbeat shows that this replica is alive, ends here what the table has the end of, and settles the tasks of replicas that are gone.
func (s *Service) heartbeat() error {
	s.mu.Lock()
	var here []string
	for id, t := range s.live {
		if t.inserted {
			here = append(here, id)
		}
	}
	s.mu.Unlock()
	ctx, cancel := context.WithTimeout(context.Background(), max(s.o.ReplicaTimeout/2, 2*time.Second))
	defer cancel()
	gone := s.o.ReplicaTimeout
	if s.steady.IsZero() || time.Since(s.steady) < gone { // where the table was not there for a while, all look as if they were gone
		gone = 0
	}
	records, err := s.table.heartbeat(ctx, gone)
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

// localTask returns a task that runs here and that the table has; nil if there is none. For each that is not nil, s.work has to be told when its
// caller is done.
func (s *Service) localTask(id string) *task {
	s.mu.Lock()
	defer s.mu.Unlock()
	t := s.live[id]
	if t == nil || !t.inserted || s.closed || t.settling.Load() {
		return nil
	}
	s.work.Add(1)
	return t
}

// handleEnd implements listener: another replica ended the task, or the table lost it. If whoever ran it said so, its answer is on
// its way, and what it reported before.
func (s *Service) handleEnd(id string, how state) {
	t := s.localTask(id)
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
		if end, err := s.table.get(ctx, id); err != nil || end != nil && !end.State.isTerminal() {
			return // the next beat looks again
		}
		_, _ = t.end(ctx, func(r *record) { s.outcome(r, nil, errInterrupted()) }) // or the next beat does it
	}()
}

// handleAnswers implements listener.
func (s *Service) handleAnswers(id string, answers map[string]json.RawMessage) {
	if t := s.localTask(id); t != nil {
		defer s.work.Done()
		t.answer(answers)
	}
}
