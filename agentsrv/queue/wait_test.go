package queue

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcphud/mcphud/agentsrv/kit"
	"github.com/mcphud/mcphud/session/base/jsonrpc"
	"github.com/mcphud/mcphud/session/test/require/assert"
)

// asking starts a job that waits for answer, outside the queue, and then ends as the job that it returns says.
func asking(t *testing.T, q *Queue, answer chan error) *job {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	x := &job{t, cancel, make(chan struct{}), make(chan error, 1), make(chan error, 1)}
	go func() {
		defer cancel()
		x.result <- do(ctx, q, Job{Tenant: "asking"}, func(ctx context.Context) error {
			err := Wait(ctx, func() error {
				select {
				case err := <-answer:
					return err
				case <-ctx.Done():
					return ctx.Err()
				}
			})
			if err != nil {
				return err
			}
			close(x.started)
			select {
			case err := <-x.finish:
				return err
			case <-ctx.Done():
				return ctx.Err()
			}
		})
	}()
	synctest.Wait()
	return x
}

func TestWaitLendsTheSlotAndComesBackFirst(t *testing.T) {
	bubble(t, func(t *testing.T) {
		q := New(Options{Timeout: 10 * time.Second, QueueTimeout: time.Minute})
		answer := make(chan error, 1)
		x := asking(t, q, answer)
		status(t, q, 0, 0, 1)
		second, third := start(t, q, Job{}, false), start(t, q, Job{}, false)
		status(t, q, 1, 1, 1)
		time.Sleep(9 * time.Second)
		Touch(t.Context()) // outside jobs it does nothing
		answer <- nil
		status(t, q, 2, 1, 0)
		second.end()
		if !x.running() || third.running() {
			t.Error("the job that had begun has to come before those that have not")
		}
		time.Sleep(9 * time.Second)
		if !x.running() {
			t.Fatal()
		}
		at := time.Now()
		phase(t, <-x.result, "running") // the 9 s of waiting do not count, the last 9 do
		if d := time.Since(at); d != time.Second {
			t.Errorf("stopped %v later", d)
		}
		third.end()
		status(t, q, 0, 0, 0)
	})
}

func TestWaitHasItsOwnLimits(t *testing.T) {
	bubble(t, func(t *testing.T) {
		q := New(Options{Timeout: 50 * time.Second, WaitTimeout: 20 * time.Second, QueueTimeout: 5 * time.Second})
		answer := make(chan error, 1)
		at := time.Now()
		x := asking(t, q, answer)
		phase(t, <-x.result, "waiting")
		if d := time.Since(at); d != 20*time.Second {
			t.Errorf("waited %v", d)
		}
		x = asking(t, q, answer)
		other := start(t, q, Job{}, false)
		answer <- nil
		phase(t, <-x.result, "queued")
		if x.running() {
			t.Error("it ran")
		}
		status(t, q, 0, 1, 0)
		other.end()

		x = asking(t, q, answer)
		other = start(t, q, Job{}, false)
		answer <- nil
		synctest.Wait()
		x.cancel()
		failure(t, <-x.result, jsonrpc.KindCancelled)
		other.end()
		status(t, q, 0, 0, 0)

		x = asking(t, q, answer)
		answer <- errBoom
		assert.ErrorIs(t, <-x.result, errBoom)
		status(t, q, 0, 0, 0)
	})
}

func TestWaitingJobsCountAgainstTheCapacity(t *testing.T) {
	bubble(t, func(t *testing.T) {
		q := New(Options{Capacity: 3})
		answer := make(chan error)
		var all []*job
		for range 3 {
			all = append(all, asking(t, q, answer))
		}
		all = append(all, start(t, q, Job{}, false))
		status(t, q, 0, 1, 3)
		failure(t, do(t.Context(), q, Job{}, nil), jsonrpc.KindQueueFull)
		for _, x := range all {
			x.cancel()
			failure(t, <-x.result, jsonrpc.KindCancelled)
		}
		status(t, q, 0, 0, 0)
	})
}

func TestJobsInJobsAndSeveralWaits(t *testing.T) {
	bubble(t, func(t *testing.T) {
		q := New(Options{})
		err := do(t.Context(), q, Job{}, func(ctx context.Context) error {
			status(t, q, 0, 1, 0)
			done := make(chan error)
			for range 3 {
				go func() {
					done <- do(ctx, q, Job{}, func(context.Context) error { time.Sleep(time.Second); return errBoom })
				}()
			}
			synctest.Wait()
			status(t, q, 2, 1, 1)
			for range 3 {
				assert.ErrorIs(t, <-done, errBoom)
			}
			synctest.Wait()
			status(t, q, 0, 1, 0)
			return nil
		})
		assert.NoError(t, err)
		assert.ErrorIs(t, Wait(t.Context(), func() error { return errBoom }), errBoom)
	})
}

func TestAbandonedWhileItWaits(t *testing.T) {
	bubble(t, func(t *testing.T) {
		q := New(Options{Grace: time.Second, Logger: quiet})
		hold := make(chan error)
		ctx, cancel := context.WithCancel(t.Context())
		result := make(chan error, 1)
		go func() {
			result <- do(ctx, q, Job{}, func(ctx context.Context) error {
				return Wait(ctx, func() error { return <-hold })
			})
		}()
		status(t, q, 0, 0, 1)
		cancel()
		failure(t, <-result, jsonrpc.KindCancelled)
		if s := q.Status(); s.Abandoned != 1 || s.Waiting != 0 || s.Running != 0 {
			t.Errorf("%+v", s)
		}
		hold <- nil
		synctest.Wait()
		if s := q.Status(); s.Abandoned != 0 || s.Running != 0 {
			t.Errorf("%+v", s)
		}
	})
}

// A job that pauses has no slot, that time is not its running time, and nobody is told that a client keeps it waiting.
func TestPauseStopsTheClock(t *testing.T) {
	bubble(t, func(t *testing.T) {
		q := New(Options{Timeout: 10 * time.Second, MaxTimeout: 15 * time.Second})
		ctx := kit.WithHooks(t.Context(), &kit.Hooks{Waiting: func(bool) { t.Error("told that it waits for a client") }})
		result := make(chan error, 1)
		go func() {
			result <- do(ctx, q, Job{}, func(ctx context.Context) error {
				if err := Pause(ctx, func() error { time.Sleep(50 * time.Second); return nil }); err != nil {
					return err
				}
				time.Sleep(9 * time.Second)
				return ctx.Err()
			})
		}()
		synctest.Wait()
		status(t, q, 0, 0, 1)
		other := start(t, q, Job{}, false)
		if !other.running() {
			t.Error("the slot of the job that pauses is not lent")
		}
		other.end()
		assert.NoError(t, <-result)
	})
	if err := Pause(t.Context(), func() error { return errors.New("f's own") }); err == nil || err.Error() != "f's own" {
		t.Errorf("outside jobs: %v", err)
	}
}
