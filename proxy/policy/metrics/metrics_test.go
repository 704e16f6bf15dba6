package metrics

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/mcphud/mcphud/proxy/flow"
	"github.com/mcphud/mcphud/session/base/jsonrpc"
	"github.com/mcphud/mcphud/session/test/require/assert"
)

func TestO4_LabelsAreBounded(t *testing.T) {
	m := New(Options{Known: func(agent string) bool { return agent[0] != '-' }})
	h := m.Middleware(func(c *flow.Call) {
		if c.Agent == "denied" {
			c.Refuse(jsonrpc.Errorf(jsonrpc.KindForbidden, "no"))
			return
		}
		c.Status = http.StatusOK
	})
	send := func(agent, method string) {
		c := &flow.Call{Request: flow.Request{R: httptest.NewRequest(http.MethodPost, "/", nil), W: httptest.NewRecorder(), Began: time.Now(), Agent: agent}}
		c.Env.Kind, c.Env.Method = jsonrpc.Request, method
		h(c)
	}
	send("first", "ping")
	send("denied", "ping")
	for i := range 3000 {
		send(fmt.Sprint(i), "ping")
		send(fmt.Sprint("-", i), fmt.Sprint("method/", i))
	}
	if len(m.agents) > maxAgents+2 || len(m.series) > maxAgents+10 {
		t.Errorf("%d agents, %d series", len(m.agents), len(m.series))
	}
	assert.Equalf(t, m.Agent(unknown).Requests.Load(), 3000, "of unknown agents")
	if a := m.Agent("denied"); a.Denied.Load() != 1 || a.Errors.Load() != 1 || a.InFlight.Load() != 0 {
		t.Errorf("%d %d %d", a.Denied.Load(), a.Errors.Load(), a.InFlight.Load())
	}
	if a := m.Agent("first"); a.Requests.Load() != 1 || a.Errors.Load() != 0 {
		t.Errorf("%d %d", a.Requests.Load(), a.Errors.Load())
	}
	assert.NoError(t, m.Close(t.Context()))
}
