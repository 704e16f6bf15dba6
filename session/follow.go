package session

import (
	"slices"
	"sync"

	"github.com/mcphud/mcphud/session/offer/tasks"
	"github.com/mcphud/mcphud/session/wire/rpc"
)

// taskState is the tasks of a session and what waits for a person: who follows which task, and how many questions are open. It knows of no
// connection: a task outlives the one over which it began, and carries its number.
type taskState struct {
	table tasks.Table // what is known of each; locks for itself, never while mu is held

	mu        sync.Mutex
	followers map[string]*follower // by task; nil before the first. One is added by whoever follows first, and removed before its done is closed
	questions int                  // that wait for an answer, of tasks and of calls; never negative
}

// follower is who follows a task, nil if nobody does.
func (t *taskState) follower(id string) *follower {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.followers[id]
}

// add is the follower of a task; made is true for one who did not follow it before, and has to begin.
func (t *taskState) add(id string) (f *follower, made bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if f := t.followers[id]; f != nil {
		return f, false
	}
	if t.followers == nil {
		t.followers = map[string]*follower{}
	}
	f = &follower{wake: make(chan struct{}, 1), done: make(chan struct{})}
	t.followers[id] = f
	return f, true
}

// remove takes the follower of a task away; its done is closed after that.
func (t *taskState) remove(id string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.followers, id)
}

// countFollowers is how many tasks are followed.
func (t *taskState) countFollowers() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return len(t.followers)
}

// ask counts the questions that wait, and wakes those who wait for tasks: their time stands still meanwhile.
func (t *taskState) ask(n int) {
	t.mu.Lock()
	t.questions += n
	all := make([]*follower, 0, len(t.followers))
	for _, f := range t.followers {
		all = append(all, f)
	}
	t.mu.Unlock()
	for _, f := range all {
		f.notifyWatchers()
	}
}

// hasQuestion is whether a question waits.
func (t *taskState) hasQuestion() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.questions > 0
}

// follower asks for the status of one task until it is over.
//
// There is one for each task, however many wait for it: they watch, and none of them asks the server itself.
type follower struct {
	wake chan struct{} // cap 1: ask now
	done chan struct{} // closed when it is not followed any more

	// Set before done is closed.
	last rpc.Reply // the answer with the outcome, if there was one
	err  error     // why the task is not followed though it is not over

	mu       sync.Mutex        // guards watchers; taken while no other lock is held
	watchers []chan<- struct{} // of capacity 1; whoever added one takes it away
}

// watch wakes c, of capacity 1, with every change until stop is called.
func (f *follower) watch(c chan<- struct{}) (stop func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.watchers = append(f.watchers, c)
	return func() {
		f.mu.Lock()
		defer f.mu.Unlock()
		f.watchers = slices.DeleteFunc(f.watchers, func(w chan<- struct{}) bool { return w == c })
	}
}

// notifyWatchers wakes all who watch; none of them waits here.
func (f *follower) notifyWatchers() {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, c := range f.watchers {
		select {
		case c <- struct{}{}:
		default:
		}
	}
}

// follow starts following a task that is known; nil once the session is closed.
func (s *Session) follow(id string) *follower {
	if f := s.tasks.follower(id); f != nil {
		return f
	}
	if !s.link.enter() {
		return nil
	}
	defer s.wg.Done()
	f, made := s.tasks.add(id)
	if !made {
		return f
	}
	s.wg.Go(func() {
		f.last, f.err = s.observe(s.ctx, f, id)
		if f.err != nil {
			s.tasks.table.Update(id, func(t *tasks.Task) { t.Problem = f.err })
		}
		s.tasks.remove(id)
		close(f.done)
		s.notifyChange()
	})
	return f
}

// wakeTask makes whoever follows a task ask now.
func (s *Session) wakeTask(id string) {
	f := s.tasks.follower(id)
	if f == nil {
		return
	}
	notify(f.wake)
	f.notifyWatchers()
}

// taskChanged tells who waits for a task, and who shows it, that something about it is new.
func (s *Session) taskChanged(id string) {
	if f := s.tasks.follower(id); f != nil {
		f.notifyWatchers()
	}
	s.notifyChange()
}
