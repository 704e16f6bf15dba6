package stack

import (
	"strconv"
	"testing"

	"github.com/mcphud/mcphud/session/test/nettest"
)

// What does not speak MCP has an address, and no path at which somebody could look for one.
func TestAServerThatIsOnlyStartedHasAnAddress(t *testing.T) {
	port := strconv.Itoa(nettest.FreePort(t))
	_, p := planned(t, `{"servers": {"nats": {"command": "nats-server", "port": `+port+`, "disabled": true},
		"web": {"command": "web", "port": 1}, "off": {"command": "off", "url": "http://127.0.0.1:2/x", "disabled": true}}}`)
	at := map[string]string{}
	for _, s := range p.Specs {
		at[s.Name] = s.URL
	}
	if at["nats"] != "tcp://127.0.0.1:"+port || at["web"] != "http://127.0.0.1:1/mcp" || at["off"] != "http://127.0.0.1:2/x" {
		t.Errorf("%v", at)
	}
	var notes []string
	s := supervise(t, Options{Event: func(e Event) {
		if e.Status.State == Ready {
			notes = append(notes, e.Note)
		}
	}}, Spec{Name: "f", Kind: Server, Args: []string{"--port", port}, URL: at["nats"]})
	ready(t, s)
	if st := s.statusOf("f"); strconv.Itoa(st.Port) != port {
		t.Errorf("%+v", st)
	}
	s.Close(t.Context())
	if len(notes) != 1 || notes[0] != "at 127.0.0.1:"+port {
		t.Errorf("%q", notes)
	}
}
