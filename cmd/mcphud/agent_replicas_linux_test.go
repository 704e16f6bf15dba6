package main

import (
	"fmt"
	"strings"
	"syscall"
	"testing"

	"github.com/mcphud/mcphud/session/test/natstest"
	"github.com/mcphud/mcphud/session/test/require"
)

// A replica that is killed takes none of its tasks along: others run them, or say that they are interrupted, which takes them some
// seconds to know.
func TestTasksOutliveTheReplicaThatTookThem(t *testing.T) {
	long(t, "TestTasks")
	t.Parallel()
	url := natstest.Run(t).URL
	flags := []string{"--queue", url, "--rate-limit", "0", "--concurrency", "4", "--ephemeral"}
	a, b := serveAgent(t, flags...), serveAgent(t, flags...)
	var all []string
	for i := range 3 {
		all = append(all, a.async("echo", fmt.Sprintf(`{"message":"%d"}`, i)), a.async("sleep", `{"seconds":0.5}`))
	}
	endless := a.async("sleep", `{"seconds":55}`)
	require.Eventually(t, "the other replica knows of all", func() bool {
		return b.task("/tasks/"+endless).Status != "" && b.task("/tasks/"+all[0]).Status == "completed"
	})
	a.signal(syscall.SIGKILL)
	a.exit()
	b.call("echo", `{"message":"it goes on"}`).text(t)
	id := b.async("echo", `{"message":"and takes tasks"}`)
	ends := map[string]taskState{}
	for _, id := range append(all, id) {
		require.Eventually(t, "every task ends", func() bool {
			st := b.task("/tasks/" + id)
			ends[id] = st
			return st.Status == "completed" || st.Status == "failed" && strings.Contains(string(st.Error), "interrupted")
		})
	}
	if r := b.post(fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"tasks/cancel","params":{"taskId":%q}}`, endless)); r.status != 200 {
		t.Errorf("cancel: %d %s", r.status, r.body)
	}
	require.Eventually(t, "what a gone replica began is cancelled", func() bool { return b.task("/tasks/"+endless).Status == "cancelled" })
	require.Eventually(t, "nothing runs any more", func() bool { return b.queue().Running+b.queue().Queued == 0 })
	for id, st := range ends {
		if again := b.task("/tasks/" + id); again.Status != st.Status || string(again.Result) != string(st.Result) {
			t.Errorf("two ends: %+v and %+v", st, again)
		}
	}
}
