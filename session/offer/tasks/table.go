package tasks

import (
	"slices"
	"sync"
	"time"
)

// Limit is how many tasks of a server are remembered.
const Limit = 200

// Table is the tasks of one server that this program knows of, over all its connections. The zero value is empty. Its methods may be
// called from any goroutine.
type Table struct {
	mu  sync.Mutex
	all []Task // oldest first
}

// Put takes what the server says of a task. What only this program knows, such as the tool, stays; a task that is over stays
// over. It returns the task as it is now, and whether it is new or something changed that users see.
func (t *Table) Put(is Task, now time.Time) (_ Task, changed bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	i := t.find(is.ID)
	if i < 0 {
		is.Since, is.Seen = now, now
		t.all = append(t.all, is)
		t.shrink()
		return is, true
	}
	was := &t.all[i]
	if was.Status.Over() && was.Status != Unknown && !is.Status.Over() {
		is.Status, is.Message = was.Status, was.Message // an older answer came late
	}
	is.Since, is.Seen, is.Progress, is.Waited = was.Since, now, was.Progress, was.Waited
	if is.Tool == "" {
		is.Tool = was.Tool
	}
	if is.Request == 0 {
		is.Conn, is.Request, is.Token, is.Trace = was.Conn, was.Request, was.Token, was.Trace
	}
	changed = is.Status != was.Status || is.Message != was.Message || was.Problem != nil || is.TTL != was.TTL
	*was = is
	return is, changed
}

// Update changes a task that is known; false if it is not.
func (t *Table) Update(id string, change func(*Task)) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	i := t.find(id)
	if i >= 0 {
		change(&t.all[i])
	}
	return i >= 0
}

// Get finds a task by its id.
func (t *Table) Get(id string) (Task, bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if i := t.find(id); i >= 0 {
		return t.all[i], true
	}
	return Task{}, false
}

// ByToken finds the task that a progress token belongs to: its id.
func (t *Table) ByToken(conn uint64, token string) (id string, ok bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for i := range slices.Backward(t.all) {
		if is := &t.all[i]; is.Conn == conn && is.Token == token && token != "" {
			return is.ID, true
		}
	}
	return "", false
}

// All lists the tasks, the newest first.
func (t *Table) All() []Task {
	t.mu.Lock()
	defer t.mu.Unlock()
	all := slices.Clone(t.all)
	slices.Reverse(all)
	return all
}

// Forget removes a task; the server is not told.
func (t *Table) Forget(id string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.all = slices.DeleteFunc(t.all, func(is Task) bool { return is.ID == id })
}

// find is the place of a task, -1 if it is not known; t.mu is held.
func (t *Table) find(id string) int {
	return slices.IndexFunc(t.all, func(is Task) bool { return is.ID == id })
}

// shrink removes the oldest task where there are too many, one that is over if possible; t.mu is held.
func (t *Table) shrink() {
	if len(t.all) <= Limit {
		return
	}
	i := max(slices.IndexFunc(t.all, func(is Task) bool { return is.Status.Over() }), 0)
	t.all = slices.Delete(t.all, i, i+1)
}
