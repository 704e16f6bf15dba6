package stream

import (
	"context"
	"strings"
	"time"

	"github.com/mcphud/mcphud/session/base/jsonrpc"
)

// recoverLost ends or takes over the calls whose replica is gone, at either end.
func (q *Queue) recoverLost() {
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, c := range q.calls {
		c.mu.Lock()
		if w := c.worker; w != "" && w != q.me && !q.replicas.alive(w) {
			if c.job.Repeatable && !c.asked {
				c.worker = "" // it comes again by itself
			} else {
				c.post(mail{kind: lost})
			}
		}
		c.mu.Unlock()
	}
	for _, j := range q.jobs {
		if j.line != nil && j.Task == "" && !q.replicas.alive(j.Origin) {
			j.cancel(jsonrpc.Errorf(jsonrpc.KindCancelled, "the replica that the client was connected to is gone"))
		}
	}
}

// sweep looks whether something waits that this replica has not heard of: because it was not there, or because whoever had it is
// gone.
func (q *Queue) sweep() {
	ctx, cancel := context.WithTimeout(context.Background(), answerIn)
	defer cancel()
	q.resize(ctx)
	s, err := q.look(ctx, "")
	if err != nil {
		q.log.Debug("queue: cannot look into the stream", "err", err)
		return
	}
	free := q.local.Free()
	q.mu.Lock()
	q.seen = seen{time.Now(), s.State.Messages}
	mine := 0
	for _, j := range q.jobs {
		j.mu.Lock()
		if !j.acked {
			mine++
		}
		j.mu.Unlock()
	}
	q.mu.Unlock()
	if free > 0 && s.State.Messages > mine {
		if s, err = q.look(ctx, q.names.work+".>"); err == nil {
			q.find(s.State.Subjects)
			q.clean(s.State.Subjects)
		}
	}
	q.news()
}

// find notes the lines of the subjects there are: those of this group, and of groups of which nobody is left.
func (q *Queue) find(subjects map[string]int) {
	settled := q.knowsReplicas()
	q.mu.Lock()
	for subject := range subjects {
		l, ok := q.names.lineOf(subject)
		if ok && (l.group == q.replicas.me.Group || settled && strings.HasPrefix(l.group, version+"-") && !q.replicas.has(l.group)) {
			q.waiting.add(l, found)
		}
	}
	q.mu.Unlock()
	q.awake()
}

// has reports whether there is a replica of that group.
func (r *replicas) has(group string) bool {
	for _, o := range r.others {
		if o.Group == group {
			return true
		}
	}
	return false
}

// news tells of a status that changed.
func (q *Queue) news() {
	if q.o.Changed == nil {
		return
	}
	s := q.Status()
	s.Shared = nil
	q.mu.Lock()
	changed := s != q.reported
	q.reported = s
	q.mu.Unlock()
	if changed {
		q.o.Changed(s)
	}
}
