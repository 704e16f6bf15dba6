package kit

import (
	"context"
	"errors"
)

type hooksKey struct{}

// Hooks tell how a queued call fares, and change how it is treated. The queue calls them from the goroutine that waits
// for the call; they must return at once. Functions may be nil.
type Hooks struct {
	ID             string     // of the task that the call is, or may become; "" for a call that stays one
	Accepted       func()     // the call is in the queue, or runs
	Started        func()     // it runs, for the first time
	Waiting        func(bool) // it begins, and ends, to wait for a client or another agent
	NoQueueTimeout bool       // it may queue for as long as its context lives: no client waits for its answer
}

// WithHooks sets the hooks of the next call that is queued with the context.
func WithHooks(ctx context.Context, h *Hooks) context.Context {
	return context.WithValue(ctx, hooksKey{}, h)
}

// HooksOf returns what WithHooks set, nil for none.
func HooksOf(ctx context.Context) *Hooks {
	h, _ := ctx.Value(hooksKey{}).(*Hooks)
	return h
}

// ErrLeft is what a queue that several processes share returns, when this one shuts down, for the job of a task that waits for another
// of them, or runs there: how it ends is for those to say.
var ErrLeft = errors.New("the call goes on in another process")

// ErrUnreadable is below the error of what keeps a task if this process cannot read it, whenever it tries: a newer version wrote it.
var ErrUnreadable = errors.New("the task's record cannot be read")
