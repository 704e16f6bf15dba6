package calls

import (
	"testing"

	"github.com/mcphud/mcphud/session/base/confine"
	"github.com/mcphud/mcphud/session/config"
	"github.com/mcphud/mcphud/session/traffic/history"
)

// A call that was made in a sandbox is made in it again; and a file that cannot say so does not name the server.
func TestX5b_SandboxIsKept(t *testing.T) {
	made := config.OfCommand("serve", "a")
	if c := Of(history.Call{Server: history.ServerOf(made)}, "f.yaml", "f"); len(c.Command) != 2 {
		t.Errorf("%+v", c)
	}
	open := history.ServerOf(made)
	made.Sandbox = &confine.Rules{Read: []string{"/a"}, Network: true}
	kept := history.ServerOf(made)
	if again, ok := kept.Of(); !ok || again.Sandbox == nil || !again.Sandbox.Network || again.Sandbox.Read[0] != "/a" {
		t.Errorf("%+v, %v", again, ok)
	}
	if kept.Identity() != open.Identity() {
		t.Error("it has two histories")
	}
	if c := Of(history.Call{Server: kept}, "f.yaml", "f"); len(c.Command) != 0 || c.URL != "" || c.Server != "" {
		t.Errorf("%+v", c)
	}
}
