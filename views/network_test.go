package views_test

import (
	"testing"

	"github.com/mcphud/mcphud/agentsrv/tools/basics"
	"github.com/mcphud/mcphud/session/config"
	"github.com/mcphud/mcphud/tui/tuitest"
	"github.com/mcphud/mcphud/views"
)

// That nobody checks who a server is stands in the status line for as long as it is the current one, and in its details.
func TestInsecureIsShown(t *testing.T) {
	for _, c := range []struct {
		url      string
		insecure bool
	}{{"https://mcp.example/mcp", true}, {"https://mcp.example/mcp", false}, {"http://mcp.example/mcp", true}} {
		cfg := config.Server{Name: "remote", Transport: config.HTTP, URL: c.url, Insecure: c.insecure, Proxy: "http://me:hunter2@proxy.example:3128"}
		app := tuitest.Start(t, tuitest.Memory(cfg, basics.NewServer("")), tuitest.Views(views.All(views.Deps{})...), tuitest.Size(80, 24))
		if c.insecure && c.url[4] == 's' {
			app.Status().Has("insecure")
		} else {
			app.Status().HasNot("insecure")
		}
		app.Whole().HasNot("hunter2")
	}
}
