package agentsrv

import (
	"os"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// killWorkers ends the children of this process, which are those that run JavaScript, until done is closed.
func killWorkers(done <-chan struct{}) {
	for {
		tasks, _ := os.ReadDir("/proc/self/task")
		for _, task := range tasks {
			list, _ := os.ReadFile("/proc/self/task/" + task.Name() + "/children")
			for _, child := range strings.Fields(string(list)) {
				if pid, err := strconv.Atoi(child); err == nil {
					_ = syscall.Kill(pid, syscall.SIGKILL) // it may be gone already
				}
			}
		}
		select {
		case <-done:
			return
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// What a tool reports is a result; where there can be none, because its process is gone, it is an error.
func TestE10_ToolsFailAndInfrastructureFails(t *testing.T) {
	bothEras(t, func(t *testing.T, c *client) {
		if r := c.call("fail", `{"message":"no"}`); !r.IsError {
			t.Errorf("%+v", r)
		}
		done, over := make(chan struct{}), make(chan struct{})
		go func() { defer close(over); killWorkers(done) }()
		m, _ := c.roundTrip("tools/call", `{"name":"execute_code","arguments":{"code":"for(;;){}","timeout":20000}}`)
		close(done)
		<-over
		want := int64(-32000)
		if c.modern {
			want = -31000
		}
		if m.Error == nil || m.Error.Code != want || !strings.Contains(string(m.Error.Data), `"kind":"tool_execution"`) {
			t.Errorf("%s %+v", m.Result, m.Error)
		}
		if r := c.call("execute_code", `{"code":"1+1"}`); r.IsError || !strings.Contains(r.Content[0].Text, `"result":2`) {
			t.Errorf("afterwards: %+v", r)
		}
	})
}
