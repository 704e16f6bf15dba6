package session

import (
	"sync"
	"sync/atomic"
	"testing"

	"github.com/mcphud/mcphud/session/test/require"
)

// TestTasksHaveOneFollower: of those who follow a task at once one begins, and the others get the same; who comes after it was removed begins again.
func TestTasksHaveOneFollower(t *testing.T) {
	var part taskState
	var began atomic.Int32
	var all sync.Map
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			f, made := part.add("a")
			if made {
				began.Add(1)
			}
			all.Store(f, true)
		})
	}
	wg.Wait()
	n := 0
	all.Range(func(any, any) bool { n++; return true })
	if began.Load() != 1 || n != 1 || part.countFollowers() != 1 {
		t.Errorf("%d began, %d followers, %d counted", began.Load(), n, part.countFollowers())
	}
	old := part.follower("a")
	part.remove("a")
	if part.follower("a") != nil || part.countFollowers() != 0 {
		t.Error("it is followed still")
	}
	if f, made := part.add("a"); !made || f == old {
		t.Error("nobody begins again")
	}
}

// TestQuestionsWakeFollowers: each question that comes or goes wakes those who wait for a task, and one waits until the last is answered.
func TestQuestionsWakeFollowers(t *testing.T) {
	var part taskState
	f, _ := part.add("a")
	changed := make(chan struct{}, 1)
	stop := f.watch(changed)
	for i, n := range []int{1, 1, -1, -1} {
		part.ask(n)
		select {
		case <-changed:
		default:
			t.Errorf("step %d woke nobody", i)
		}
		if want := i < 3; part.hasQuestion() != want {
			t.Errorf("after step %d a question waits: %v", i, part.hasQuestion())
		}
	}
	stop()
	if part.ask(1); len(changed) != 0 {
		t.Error("who stopped is woken")
	}
}

// TestClosedSessionFollowsNothing: there is nobody left to end a goroutine that would begin then. What is followed already has its follower.
func TestClosedSessionFollowsNothing(t *testing.T) {
	s := inMemory(t, Options{})
	f, _ := s.tasks.add("a")
	require.NoError(t, s.close())
	if s.follow("a") != f {
		t.Error("another follower for what is followed")
	}
	if s.follow("b") != nil || s.tasks.countFollowers() != 1 {
		t.Error("a closed session follows another task")
	}
}
