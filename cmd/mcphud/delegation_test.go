package main

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/mcphud/mcphud/session/base/failure"
	"github.com/mcphud/mcphud/session/test/require"
	"github.com/mcphud/mcphud/session/test/require/assert"
)

func TestV4_R15_AgentCallsAgent(t *testing.T) {
	t.Parallel()
	tm := teamOf(t, nil, "a", "b")
	direct := tm.agents["b"].call("add", `{"a":9007199254740993,"b":1}`)
	got := tm.ask("a", "b", "add", `{"a":9007199254740993,"b":1}`)
	if got.text(t) != direct.text(t) || string(got.Result.StructuredContent) != string(direct.Result.StructuredContent) || !strings.Contains(string(got.Result.StructuredContent), "9007199254740994") {
		t.Errorf("%+v, directly %+v", got, direct)
	}
	// Every kind of content as it is, and what the other tool says is wrong.
	raw := func(body string) (out struct{ Result map[string]json.RawMessage }) {
		require.NoError(t, json.Unmarshal([]byte(body), &out))
		return out
	}
	d := raw(tm.agents["b"].post(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"contents","arguments":{}}}`).body)
	r := raw(tm.router.via("a", callOfAgent("b", "contents", "{}")).body)
	var one, two any
	if json.Unmarshal(d.Result["content"], &one) != nil || json.Unmarshal(r.Result["content"], &two) != nil || !equal(one, two) {
		t.Errorf("%s\n%s", d.Result["content"], r.Result["content"])
	}
	assert.Equal(t, tm.ask("a", "b", "fail", `{"message":"as asked"}`).failure(t), "as asked")
	// In the other era, too: the rest of the way stays as it is.
	modern := `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"call_agent","arguments":` + delegated("b", "add", `{"a":1,"b":2}`) +
		`,"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}`
	m := tm.router.via("a", modern, "MCP-Protocol-Version", "2026-07-28", "Mcp-Method", "tools/call", "Mcp-Name", "call_agent", "Accept", "application/json, text/event-stream")
	if !strings.Contains(m.body, `"sum":3`) || !strings.Contains(m.body, `"resultType":"complete"`) {
		t.Errorf("%+v", m)
	}
	tm.idle()
}

func equal(a, b any) bool {
	x, err1 := json.Marshal(a)
	y, err2 := json.Marshal(b)
	return err1 == nil && err2 == nil && string(x) == string(y)
}

func TestV4_R16_AgentReadsAResource(t *testing.T) {
	t.Parallel()
	tm := teamOf(t, nil, "b")
	c := tm.client("")
	text, err := c.ReadResource(t.Context(), "b", "status://queue")
	if err != nil || !strings.Contains(text, `"concurrency":1`) {
		t.Errorf("%q %v", text, err)
	}
	tools, err := c.ListTools(t.Context(), "b")
	if err != nil || len(tools) < 10 {
		t.Errorf("%v %v", tools, err)
	}
	if all, err := c.ListResources(t.Context(), "b"); err != nil || len(all) == 0 {
		t.Errorf("%v %v", all, err)
	}
	if _, err := c.ReadResource(t.Context(), "b", "nothing://here"); failure.KindOf(err) != failure.RpcError {
		t.Error(err)
	}
	if names, err := c.Agents(t.Context()); err != nil || strings.Join(names, " ") != "b" {
		t.Errorf("%v %v", names, err)
	}
}

func TestV4_AgentRunsAnAsyncTask(t *testing.T) {
	t.Parallel()
	tm := teamOf(t, nil, "a", "b")
	id := tm.agents["a"].async("call_agent", delegated("b", "echo", `{"message":"from afar"}`))
	require.Eventually(t, "the task to be over", func() bool {
		got, err := tm.router.send(http.MethodGet, tm.router.url+"/mcps/a/task?taskId="+id, "")
		return err == nil && strings.Contains(got.body, `"status":"completed"`) && strings.Contains(got.body, "from afar")
	})
	// One that is cancelled ends what it waits for.
	id = tm.agents["a"].async("call_agent", delegated("b", "sleep", `{"seconds":50}`))
	require.Eventually(t, "the other agent to work", func() bool { return tm.agents["b"].queue().Running == 1 })
	if got := tm.router.via("a", `{"jsonrpc":"2.0","id":1,"method":"tasks/cancel","params":{"taskId":"`+id+`"}}`); got.status != 200 || got.rpc(t).Error != nil {
		t.Errorf("%+v", got)
	}
	tm.idle()
}

func TestV4_Delegation(t *testing.T) {
	t.Parallel()
	tm := teamOf(t, nil, "a", "b", "c")
	t.Run("simple", func(t *testing.T) {
		assert.Equal(t, tm.ask("a", "b", "echo", `{"message":"one"}`).text(t), "one")
	})
	t.Run("chain", func(t *testing.T) {
		assert.Equal(t, tm.ask("a", "b", "call_agent", delegated("c", "echo", `{"message":"two"}`)).text(t), "two")
	})
	// Each agent runs one call at a time, so that they would wait for each other for ever if a call that waits kept its slot.
	t.Run("back", func(t *testing.T) {
		assert.Equal(t, tm.ask("a", "b", "call_agent", delegated("a", "echo", `{"message":"home"}`)).text(t), "home")
		assert.Equal(t, tm.ask("a", "a", "echo", `{"message":"self"}`).text(t), "self")
	})
	t.Run("parallel", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error, 2)
		for _, other := range []string{"b", "c"} {
			go func() {
				_, err := tm.client("").CallTool(ctx, "a", "call_agent", json.RawMessage(delegated(other, "sleep", `{"seconds":50}`)))
				done <- err
			}()
		}
		require.Eventually(t, "both to work", func() bool { return tm.agents["b"].queue().Running == 1 && tm.agents["c"].queue().Running == 1 })
		assert.Equal(t, tm.agents["a"].call("echo", `{"message":"free"}`).text(t), "free")
		// Whoever asked leaves, and nobody works for it any more.
		cancel()
		for range 2 {
			if err := <-done; failure.KindOf(err) != failure.Interrupted {
				t.Error(err)
			}
		}
		tm.idle()
	})
}

// A routing loop ends with an error that names it, and no agent blocks another.
func TestV4_R15_CirclesEnd(t *testing.T) {
	t.Parallel()
	tm := teamOf(t, nil, "a", "b")
	args := `{"message":"never"}`
	tool := "echo"
	for i := range 12 {
		args, tool = delegated([]string{"a", "b"}[i%2], tool, args), "call_agent"
	}
	var in struct {
		Agent, Tool string
		Args        json.RawMessage
	}
	require.NoError(t, json.Unmarshal([]byte(args), &in))
	got := tm.ask("a", in.Agent, in.Tool, string(in.Args))
	text := got.failure(t)
	if !strings.Contains(text, "too many proxy hops") || !strings.Contains(text, "in a loop") || !strings.Contains(string(got.Result.StructuredContent), `"status":508`) {
		t.Errorf("%s %s", text, got.Result.StructuredContent)
	}
	tm.idle()
}

func TestV4_CommunicationFailures(t *testing.T) {
	t.Parallel()
	tm := teamOf(t, nil, "a", "b")
	began := time.Now()
	fails := func(got rpcAnswer, says ...string) {
		t.Helper()
		text := got.failure(t)
		for _, s := range says {
			assert.Contains(t, text, s)
		}
	}
	fails(tm.ask("a", "ghost", "echo", `{}`), "Agent 'ghost' not found (code -32601)", "lists the agents")
	fails(tm.ask("a", "b", "nope", `{}`), "Tool 'nope' not found (code -32602)")
	fails(tm.ask("a", "../b", "echo", `{}`), "not a valid agent name")
	if e := tm.ask("a", "", "echo", `{}`).Error; e == nil || e.Code != -32602 {
		t.Errorf("%+v", e)
	}
	tm.agents["b"].signal(syscall.SIGKILL)
	tm.agents["b"].exit()
	fails(tm.ask("a", "b", "echo", `{"message":"x"}`), "Failed to reach agent", "code -32603", "check that the agent is running")
	tm.router.signal(syscall.SIGKILL)
	tm.router.exit()
	fails(tm.agents["a"].call("call_agent", delegated("b", "echo", `{"message":"x"}`)), "no router listens at 127.0.0.1:", "start one with mcphud router")
	if took := time.Since(began); took > 25*time.Second { // less than any timeout that could have ended them
		t.Errorf("that took %v", took)
	}
	tm.idle()
}

func TestV4_TaskTimeout(t *testing.T) {
	t.Parallel()
	tm := teamOf(t, nil, "a")
	tm.start("b", nil, "--timeout", "200ms")
	got := tm.ask("a", "b", "sleep", `{"seconds":50,"steps":1}`)
	if text := got.failure(t); !strings.Contains(text, "timed out") || !strings.Contains(text, "code -32003") || !strings.Contains(string(got.Result.StructuredContent), `"kind":"timeout"`) {
		t.Errorf("%s %s", text, got.Result.StructuredContent)
	}
	tm.idle()
}

func TestV4_RecoveryAndScale(t *testing.T) {
	t.Parallel()
	tm := teamOf(t, nil, "a", "b")
	works := func(other string) {
		t.Helper()
		assert.Equal(t, tm.ask("a", other, "echo", `{"message":"hello"}`).text(t), "hello")
	}
	works("b")
	old := tm.agents["b"]
	old.signal(syscall.SIGKILL)
	old.exit()
	tm.ask("a", "b", "echo", `{"message":"x"}`).failure(t)
	tm.start("b", nil) // forgot all sessions
	works("b")

	tm.ask("a", "c", "echo", `{"message":"x"}`).failure(t)
	tm.start("c", nil)
	works("c")
	tm.route("c", nil)
	tm.ask("a", "c", "echo", `{"message":"x"}`).failure(t)
	works("b")
}
