package task

import (
	"context"
	"encoding/json"
	"errors"
	"math"
	"time"
)

// Table keeps tasks: those of one agent, or of all replicas of one. Of several ends of a task the first counts. An agent whose
// table is shared writes its tasks down as they change, and shows no end that the table does not have.
type Table interface {
	// open makes the table ready for a replica, which hears of what others do.
	open(ctx context.Context, replica string, l listener) error
	// close says that the replica is gone.
	close()
	isShared() bool
	// now is the time that all replicas go by, whatever their own clocks say.
	now() time.Time
	// count brings what usageByTenant tells up to date.
	count(ctx context.Context) error
	// usageByTenant is what there is of each tenant, as of the last count; without I/O. The map is the caller's.
	usageByTenant() map[string]usage
	// insert keeps a new task.
	insert(ctx context.Context, r *record) error
	// update keeps how far a task is; errOver if it is over.
	update(ctx context.Context, r *record) error
	// settle ends a task, and returns how it ended: like r, unless it had already, or nil if it is not there any more.
	settle(ctx context.Context, r *record) (end *record, won bool, err error)
	// get finds a task that did not expire; nil if there is none.
	get(ctx context.Context, id string) (*record, error)
	// list is at most n tasks of an owner (without authentication: of its session) with a place below before, the newest first,
	// without what is big; 0 is no bound. It also returns the place of the last one.
	list(ctx context.Context, o owner, before int64, n int) (out []*record, last int64, err error)
	// evict removes the task of a tenant that ended first, if that was by a time or that is zero; false if there is none.
	evict(ctx context.Context, tenant string, by time.Time) (bool, error)
	// expire removes tasks whose time is over, and tells when the next one's is, zero for none.
	expire(ctx context.Context) (first time.Time, err error)

	// What follows is asked of shared tables only.

	// heartbeat shows that the replica is alive, and finds its own unfinished tasks, and those of replicas that were not for so long; 0 is for
	// ever.
	heartbeat(ctx context.Context, gone time.Duration) (unfinished []*record, err error)
	// fetchAnswers gets the answers that others handed over for tasks of this replica, where they are not pushed to it.
	fetchAnswers(ctx context.Context) error
	// answer hands answers to the replica that has the task.
	answer(ctx context.Context, r *record, answers map[string]json.RawMessage) error
	// wait returns a task when it is over, or nil when it is gone.
	wait(ctx context.Context, id string) (*record, error)
}

// listener is a service, as its table sees it.
type listener interface {
	// handleEnd says in which state a task is over that may run here; "" if it is gone.
	handleEnd(id string, s state)
	// handleAnswers brings answers to questions of a task that may run here.
	handleAnswers(id string, answers map[string]json.RawMessage)
}

// statementTimeout bounds one statement: a store that hangs must not hang its tasks.
const statementTimeout = 10 * time.Second

// milliOrMax returns a time in milliseconds since 1970, and the largest number for the zero time.
func milliOrMax(by time.Time) int64 {
	if by.IsZero() {
		return math.MaxInt64
	}
	return by.UnixMilli()
}

// errOver refuses a change of a task that is over, or gone.
var errOver = errors.New("the task is over")

// statement is a context for one statement.
func statement() (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.Background(), statementTimeout)
}
