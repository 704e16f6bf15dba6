package sandbox

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/mcphud/mcphud/session/base/jsonrpc"
	"github.com/mcphud/mcphud/session/test/budget"
	"github.com/mcphud/mcphud/session/test/require"
)

// eventually waits for a condition.
func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(20 * time.Second); !ok(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("never: %s", what)
		}
	}
}

// workers are the pids of all workers whose parent is the given process.
func workers(parent int) (pids []int) {
	all, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, file := range all {
		line, err := os.ReadFile(file)
		if err != nil || !bytes.Contains(line, []byte("\x00"+workerArgument+"\x00")) {
			continue
		}
		pid, _ := strconv.Atoi(strings.Split(file, "/")[2])
		if parent == 0 || parentOf(pid) == parent {
			pids = append(pids, pid)
		}
	}
	return pids
}

func parentOf(pid int) int {
	stat, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	var state string
	var ppid int
	_, _ = fmt.Sscan(string(stat[bytes.LastIndexByte(stat, ')')+1:]), &state, &ppid)
	return ppid
}

// rss is the memory of a process in bytes.
func rss(pid int) int64 {
	raw, _ := os.ReadFile(fmt.Sprintf("/proc/%d/statm", pid))
	var size, resident int64
	_, _ = fmt.Sscan(string(raw), &size, &resident)
	return resident * int64(os.Getpagesize())
}

func files(pid int) int {
	list, _ := os.ReadDir(fmt.Sprintf("/proc/%d/fd", pid))
	return len(list)
}

func TestX5_WorkersSeeNothingOfTheAgents(t *testing.T) {
	t.Setenv("AGENT_TOKEN", "sandbox-test-secret")
	t.Setenv("TMPDIR", t.TempDir()) // the worker's folder is made here, and nothing of others
	s := open(t, Options{})
	do(t, s, "1")
	pid := s.idle[0].cmd.Process.Pid
	env, err := os.ReadFile(fmt.Sprintf("/proc/%d/environ", pid))
	if err != nil || len(env) == 0 {
		t.Fatal(err)
	}
	for v := range strings.SplitSeq(strings.TrimRight(string(env), "\x00"), "\x00") {
		switch name, _, _ := strings.Cut(v, "="); name {
		case workerEnv, "TZ", "GOMAXPROCS":
		default:
			t.Errorf("the worker's environment has %s", v)
		}
	}
	if dir, err := os.Readlink(fmt.Sprintf("/proc/%d/cwd", pid)); err != nil || !strings.HasSuffix(dir, " (deleted)") {
		t.Errorf("its working directory is %s %v", dir, err)
	}
	if left, _ := filepath.Glob(filepath.Join(os.TempDir(), "mcphud-sandbox-*")); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
	if group, err := unix.Getpgid(pid); err != nil || group != pid {
		t.Errorf("its process group is %d %v", group, err)
	}
	limits, _ := os.ReadFile(fmt.Sprintf("/proc/%d/limits", pid))
	for _, want := range []string{"Max file size             0                    0", "Max core file size        0                    0", "Max open files            16"} {
		if !bytes.Contains(limits, []byte(want)) {
			t.Errorf("its limits lack %q:\n%s", want, limits)
		}
	}
	if bytes.Contains(limits, []byte("Max address space         unlimited")) {
		t.Error("its address space is unlimited")
	}
	for fd := range 3 {
		if what, _ := os.Readlink(fmt.Sprintf("/proc/%d/fd/%d", pid, fd)); !strings.HasPrefix(what, "pipe:") {
			t.Errorf("its file %d is %s", fd, what)
		}
	}
}

func TestA12_RunawayCodeIsKilled(t *testing.T) {
	s := open(t, Options{Parallel: 1})
	do(t, s, "1")
	pid := s.idle[0].cmd.Process.Pid
	_, err := s.Run(t.Context(), `for (;;);`, 100*time.Millisecond)
	if f, ok := jsonrpc.AsRequestError(err); !ok || f.Kind != jsonrpc.KindTimeout {
		t.Fatal(err)
	}
	// Reaped before the call returned: nothing is left that could use a processor.
	if unix.Kill(pid, 0) == nil {
		t.Error("the worker is still there")
	}
	spare := 0
	eventually(t, "a spare worker", func() bool {
		s.mu.Lock()
		defer s.mu.Unlock()
		if len(s.idle) == 1 {
			spare = s.idle[0].cmd.Process.Pid
		}
		return spare != 0
	})
	if res := do(t, s, "1 + 1"); string(res.Result) != "2" || s.idle[0].cmd.Process.Pid != spare {
		t.Errorf("%+v by %d, not by %d", res, s.idle[0].cmd.Process.Pid, spare)
	}
}

func TestWorkersThatDieAreReplaced(t *testing.T) {
	s := open(t, Options{Parallel: 1})
	do(t, s, "1")
	pid := s.idle[0].cmd.Process.Pid
	_ = unix.Kill(pid, unix.SIGKILL)
	eventually(t, "the worker is dead", func() bool { return rss(pid) == 0 })
	if res := do(t, s, "1 + 1"); string(res.Result) != "2" {
		t.Errorf("%+v", res)
	}
	// One that dies while it runs has run the code: the call fails, and says so.
	idle := map[int]int64{} // what each used to start
	for _, pid := range workers(os.Getpid()) {
		idle[pid] = ticks(pid)
	}
	done := make(chan error, 1)
	go func() {
		_, err := s.Run(t.Context(), `for (;;);`, time.Minute)
		done <- err
	}()
	busy := 0
	eventually(t, "a worker uses the processor", func() bool {
		for _, pid := range workers(os.Getpid()) {
			if ticks(pid) > idle[pid]+20 {
				busy = pid
			}
		}
		return busy != 0
	})
	_ = unix.Kill(busy, unix.SIGKILL)
	if f, ok := jsonrpc.AsRequestError(<-done); !ok || f.Kind != jsonrpc.KindToolExecution || f.Code(false) != -32000 || !strings.Contains(f.Message, "signal: killed") {
		t.Errorf("%+v", f)
	}
	works(t, s, "a crash")
}

// ticks is the processor time that a process has used, in 1/100 s.
func ticks(pid int) int64 {
	stat, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	f := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
	if len(f) < 13 {
		return 0
	}
	user, _ := strconv.ParseInt(f[11], 10, 64)
	sys, _ := strconv.ParseInt(f[12], 10, 64)
	return user + sys
}

func TestNoWorkerOutlivesAKilledAgent(t *testing.T) {
	if os.Getenv("SANDBOX_TEST_AGENT") != "" {
		s := New(Options{})
		do(t, s, "1")
		go func() { _, _ = s.Run(t.Context(), `for (;;);`, time.Minute) }()
		_, _ = io.Copy(io.Discard, os.Stdin) // for ever
		return
	}
	cmd := exec.Command(os.Args[0], "-test.run=^TestNoWorkerOutlivesAKilledAgent$")
	cmd.Env = append(os.Environ(), "SANDBOX_TEST_AGENT=1")
	in, err := cmd.StdinPipe()
	require.NoError(t, err)
	defer in.Close()
	require.NoError(t, cmd.Start())
	var pids []int
	eventually(t, "a busy worker", func() bool {
		pids = workers(cmd.Process.Pid)
		return len(pids) > 0 && ticks(pids[0]) > 20
	})
	_ = cmd.Process.Kill()
	_ = cmd.Wait()
	for _, pid := range pids {
		eventually(t, fmt.Sprintf("worker %d is gone", pid), func() bool { return rss(pid) == 0 })
	}
}

// A program that forgets WorkerMain would start itself for each worker, and these themselves again.
func TestWorkersStartNoWorkers(t *testing.T) {
	t.Setenv(workerEnv, "1")
	if _, err := open(t, Options{}).Run(t.Context(), "1", time.Second); err == nil {
		t.Error("a worker started a worker")
	}
}

func TestManyCallsLeaveNothing(t *testing.T) {
	slow(t)
	s := open(t, Options{Parallel: 2})
	n := 200
	if budget.All() {
		n = 1000
	} else {
		s.retires = 50 // of callLimit
	}
	one := func(i int) {
		code := fmt.Sprintf(`console.log(%d); const a = []; for (let i = 0; i < 100; i++) a.push({i, s: "x" + i}); a.length`, i)
		if res := do(t, s, code); string(res.Result) != "100" {
			t.Fatalf("%+v", res)
		}
	}
	for i := range s.retires + 100 { // through the whole life of a worker
		one(i)
	}
	s.retires = n / 20
	runtime.GC()
	self := os.Getpid()
	fds, goroutines, mine := files(self), runtime.NumGoroutine(), rss(self)
	var most int64
	for i := range n {
		one(i)
		if i%50 == 0 {
			for _, pid := range workers(self) {
				most = max(most, rss(pid))
				if f := files(pid); f > 16 {
					t.Fatalf("worker %d has %d files", pid, f)
				}
			}
		}
	}
	runtime.GC()
	t.Logf("%d calls: worker RSS at most %d MB, agent RSS %d -> %d MB, files %d -> %d, goroutines %d -> %d",
		n, most>>20, mine>>20, rss(self)>>20, fds, files(self), goroutines, runtime.NumGoroutine())
	if most > 64<<20 || rss(self) > mine+32<<20 {
		t.Error("memory grows")
	}
	eventually(t, "no more files than before", func() bool { return files(self) <= fds+4 }) // one worker more than before: three pipes and the process
	eventually(t, "no more goroutines than before", func() bool { return runtime.NumGoroutine() <= goroutines+1 })
	if len(workers(self)) > s.maxIdle {
		t.Errorf("workers %v", workers(self))
	}
	_ = s.Close()
	if w := workers(self); len(w) != 0 {
		t.Errorf("workers %v after Close", w)
	}
}
