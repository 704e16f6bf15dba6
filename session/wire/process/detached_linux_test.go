package process

import (
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// pidFrom is the number on the next line of a child's output.
func pidFrom(t *testing.T, line string, err error) int {
	t.Helper()
	pid, bad := strconv.Atoi(strings.TrimSpace(line))
	if err != nil || bad != nil {
		t.Fatalf("%q, %v", line, err)
	}
	return pid
}

func ended(t *testing.T, pid int) {
	t.Helper()
	for end := time.Now().Add(30 * time.Second); ; time.Sleep(time.Millisecond) {
		p, there := processOf(pid)
		if !there || p.dead {
			return
		}
		if time.Now().After(end) {
			t.Fatalf("process %d still runs", pid)
		}
	}
}

// What left the child's group goes with it, and what that started as well; also where the child ends by itself.
func TestDetachedEnd(t *testing.T) {
	if _, err := Lookup("setsid", []string{"PATH=/usr/bin:/bin"}, ""); err != nil {
		t.Skip("setsid is not on this machine")
	}
	// Each says its number in a session of its own: before it has one, it belongs to the group anyway.
	const text = `setsid sh -c 'sleep 1000 & echo $!; echo $$; wait' & sleep 1000`
	for name, end := range map[string]func(*Process){
		"killed": func(p *Process) { p.Signal(Kill) },
		"asked":  func(p *Process) { p.Signal(Term); <-p.Exited(); p.Signal(Kill) },
		"noted":  func(p *Process) { p.Note(); _ = unix.Kill(p.PID(), unix.SIGKILL); <-p.Exited(); p.Signal(Kill) },
	} {
		t.Run(name, func(t *testing.T) {
			p, out := start(t, text)
			line, err := out.ReadString('\n')
			inner := pidFrom(t, line, err)
			line, err = out.ReadString('\n')
			outer := pidFrom(t, line, err)
			p.Note()
			if n := p.Others(); n < 2 {
				t.Errorf("%d processes beside it", n)
			}
			end(p)
			<-p.Exited()
			ended(t, inner)
			ended(t, outer)
			p.Reap()
		})
	}
}

// A process of somebody else is never ended, whatever number it has.
func TestDetachedAreOurs(t *testing.T) {
	other, out := start(t, "echo $$; sleep 1000")
	line, err := out.ReadString('\n')
	pid := pidFrom(t, line, err)
	p, _ := start(t, "sleep 1000")
	p.Note()
	p.Signal(Kill)
	<-p.Exited()
	p.Reap()
	if q, there := processOf(pid); !there || q.dead {
		t.Error("another child was ended")
	}
	other.Signal(Kill)
	<-other.Exited()
	other.Reap()
}
