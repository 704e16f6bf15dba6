package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/mcphud/mcphud/cmd/cli"
	"github.com/mcphud/mcphud/session/test/faketest"
	"github.com/mcphud/mcphud/session/test/nettest"
	"github.com/mcphud/mcphud/session/test/require"
	"github.com/mcphud/mcphud/session/test/require/assert"
)

// going starts a call and returns what its answer will be; it waits until the call runs.
func (s *served) going(tool, arguments string) <-chan httpReply {
	s.t.Helper()
	done := make(chan httpReply, 1)
	go func() {
		r, err := s.send(http.MethodPost, s.url, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"`+tool+`","arguments":`+arguments+`}}`)
		if err != nil {
			r.body = err.Error()
		}
		done <- r
	}()
	require.Eventually(s.t, "the call to run", func() bool {
		var q struct{ Running int }
		return json.Unmarshal([]byte(s.get("/queue").body), &q) == nil && q.Running > 0
	})
	return done
}

func TestQ9_SignalsDrain(t *testing.T) {
	t.Parallel()
	for _, sig := range []syscall.Signal{syscall.SIGTERM, syscall.SIGINT} {
		t.Run(sig.String(), func(t *testing.T) {
			t.Parallel()
			s := serveAgent(t)
			answer := s.going("sleep", `{"seconds":4}`)
			s.signal(sig)
			require.Eventually(t, "it to be ready no more, while it drains", func() bool {
				r, err := s.send(http.MethodGet, strings.TrimSuffix(s.url, "/mcp")+"/ready", "")
				return err == nil && r.status == 503
			})
			if r := <-answer; r.status != 200 || !strings.Contains(r.body, "slept") {
				t.Errorf("the running call got %d %s", r.status, r.body)
			}
			if code := s.exit(); code != 0 {
				t.Errorf("exit %d: %s", code, s.log())
			}
		})
	}
}

// A process of a stack, which follows its input, ends with all it started: the test would see a goroutine that is left, and the stack kill it.
func TestQ9_ProcessOfAStackEnds(t *testing.T) {
	t.Parallel()
	cmd := agentCommand(t, t.TempDir(), nil, "--port", "0", "--supervised")
	in, err := cmd.StdinPipe()
	require.NoError(t, err)
	defer in.Close()
	s := launch(t, cmd, readyLine)
	s.signal(syscall.SIGTERM)
	if code := s.exit(); code != 0 {
		t.Errorf("exit %d: %s", code, s.log())
	}
}

func TestQ9_DrainIsBounded(t *testing.T) {
	t.Parallel()
	s := serveAgent(t, "--drain-timeout", "300ms")
	answer := s.going("sleep", `{"seconds":600}`)
	start := time.Now()
	s.signal(syscall.SIGTERM)
	if code := s.exit(); code != 0 {
		t.Errorf("exit %d: %s", code, s.log())
	}
	if took := time.Since(start); took < 300*time.Millisecond || took > 9*time.Second { // without the flag it is 10 s
		t.Errorf("it took %v to leave", took)
	}
	if r := <-answer; strings.Contains(r.body, "slept 10m") {
		t.Errorf("the call is said to have ended well: %s", r.body)
	}
}

func TestASecondSignalEndsTheAgentAtOnce(t *testing.T) {
	t.Parallel()
	s := serveAgent(t, "--drain-timeout", "1h")
	answer := s.going("sleep", `{"seconds":600}`)
	s.signal(syscall.SIGTERM)
	require.Eventually(t, "the drain", func() bool { return strings.Contains(s.log(), "stopping") })
	start := time.Now()
	s.signal(syscall.SIGTERM)
	if code := s.exit(); code != cli.ExitInterrupted || time.Since(start) > 30*time.Second {
		t.Errorf("exit %d after %v", code, time.Since(start))
	}
	<-answer
}

// A task that was running when the agent died is told to have been interrupted, by the agent that runs next.
func TestQ8_KilledMidTask(t *testing.T) {
	t.Parallel()
	port := strconv.Itoa(nettest.FreePort(t))
	home := t.TempDir()
	s := serveIn(t, home, nil, "--port", port)
	done := s.async("echo", `{"message":"kept"}`)
	require.Eventually(t, "the short task", func() bool { return s.task("/tasks/"+done).Status == "completed" })
	id := s.async("sleep", `{"seconds":600}`)
	require.Eventually(t, "the task to run", func() bool { return s.task("/tasks/"+id).Status == "running" })
	s.signal(syscall.SIGKILL)
	if code := s.exit(); code != -1 {
		t.Fatalf("exit %d", code)
	}
	s = serveIn(t, home, nil, "--port", port)
	for _, path := range []string{"/tasks/" + id, "/getTaskStatus?taskId=" + id} {
		if st := s.task(path); st.Status != "failed" || !strings.Contains(string(st.Error)+st.StatusMessage, "interrupted") {
			t.Errorf("%s: %+v", path, st)
		}
	}
	if st := s.task("/tasks/" + done); st.Status != "completed" {
		t.Errorf("what was completed before is now %+v", st)
	}
	s.call("echo", `{"message":"x"}`).text(t)
}

// An agent that cannot start because another runs on its port must not touch what that one keeps.
func TestQ8_AnAgentThatCannotStartInterruptsNothing(t *testing.T) {
	t.Parallel()
	s := serveAgent(t)
	id := s.async("sleep", `{"seconds":600}`)
	require.Eventually(t, "the task to run", func() bool { return s.task("/tasks/"+id).Status == "running" })
	_, port, _ := strings.Cut(s.addr(), ":")
	store := filepath.Join(s.home, ".state", "mcphud", "agent-0.db")
	if _, err := os.Stat(store); err != nil {
		t.Fatal(err)
	}
	refused(t, nil, "--port", port, "--store", store)
	if st := s.task("/tasks/" + id); st.Status != "running" {
		t.Errorf("%+v", st)
	}
	s.signal(syscall.SIGKILL)
	s.exit()
}

func TestE5_APanicEndsNothingElse(t *testing.T) {
	t.Parallel()
	s := serveAgent(t, "--ephemeral", "--profile", "fault")
	pid := s.cmd.Process.Pid
	for range 3 {
		if a := s.call("panic", `{}`); a.Error == nil || a.Error.Code != -32603 || strings.Contains(fmt.Sprint(a.Error), ".go:") {
			t.Errorf("%+v", a)
		}
	}
	s.call("echo", `{"message":"x"}`).text(t)
	if !s.running() || !faketest.Alive(pid) {
		t.Error("the process is gone")
	}
	assert.Contains(t, s.log(), "goroutine ")
}

// No exit leaves a process behind, also not one that runs a loop without end.
func TestNoWorkerSurvives(t *testing.T) {
	t.Parallel()
	for name, sig := range map[string]syscall.Signal{"drained": syscall.SIGTERM, "killed": syscall.SIGKILL} {
		for _, loop := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, looping %v", name, loop), func(t *testing.T) {
				t.Parallel()
				s := serveAgent(t, "--drain-timeout", "100ms")
				s.call("execute_code", `{"code":"1+1"}`).text(t)
				if loop {
					answer := s.going("execute_code", `{"code":"for(;;){}","timeout":60000}`)
					defer func() { <-answer }()
				}
				workers := childrenOf(t, s.cmd.Process.Pid)
				if len(workers) == 0 {
					t.Fatal("there is no worker process, so that this test shows nothing")
				}
				s.signal(sig)
				s.exit()
				require.Eventually(t, "the workers to be gone", func() bool {
					for _, pid := range workers {
						if faketest.Alive(pid) {
							return false
						}
					}
					return true
				})
			})
		}
	}
}

// What the agent keeps secret is in no process's environment or arguments but its own.
func TestX5_WorkersGetNoSecrets(t *testing.T) {
	t.Parallel()
	const secret = "s3cret-t0ken-value"
	s := serveIn(t, t.TempDir(), []string{"AGENT_TOKEN=" + secret, "AGENT_MODEL_KEY=" + secret + "2", "OTHER_SECRET=" + secret + "3"})
	r := s.post(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"execute_code","arguments":{"code":"1+1"}}}`, "Authorization", "Bearer "+secret)
	r.rpc(t).text(t)
	workers := childrenOf(t, s.cmd.Process.Pid)
	if len(workers) == 0 {
		t.Fatal("there is no worker process, so that this test shows nothing")
	}
	for _, pid := range workers {
		for _, what := range []string{"environ", "cmdline"} {
			b, err := os.ReadFile(fmt.Sprintf("/proc/%d/%s", pid, what))
			if err != nil {
				continue // it is gone already
			}
			if strings.Contains(string(b), secret) {
				t.Errorf("%s of the worker: %q", what, b)
			}
		}
		if files, err := os.ReadDir(fmt.Sprintf("/proc/%d/fd", pid)); err == nil {
			for _, f := range files {
				if to, err := os.Readlink(fmt.Sprintf("/proc/%d/fd/%s", pid, f.Name())); err == nil && (strings.HasPrefix(to, "socket:") || strings.HasSuffix(to, ".db")) {
					t.Errorf("the worker holds %s", to)
				}
			}
		}
	}
}
