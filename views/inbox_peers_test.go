package views_test

import (
	"context"
	"testing"
	"time"

	"github.com/mcphud/mcphud/agentsrv"
	"github.com/mcphud/mcphud/session/config"
	"github.com/mcphud/mcphud/session/test/peertest"
	"github.com/mcphud/mcphud/session/test/require"
	"github.com/mcphud/mcphud/tui/tuitest"
)

// TestE2EInboxLegacy answers what server-everything asks, over each transport of the legacy era.
func TestE2EInboxLegacy(t *testing.T) {
	for name, server := range map[string]func(*testing.T) config.Server{
		"stdio": func(t *testing.T) config.Server { return peertest.Everything(t) },
		"http":  func(t *testing.T) config.Server { return peertest.EverythingHTTP(t).Server },
		"sse":   func(t *testing.T) config.Server { return peertest.EverythingSSE(t).Server },
	} {
		t.Run(name, func(t *testing.T) {
			app := open(t, server(t), attended(), tuitest.Deadline(20*time.Second))
			form(app, "trigger-elicitation-request").Focused()
			app.Press("ctrl+g").Pane("result").Has("waits for your answer")
			app.Press("i").View("answer").Pane("question").Has("▌ Please provide inputs")
			app.Pane("form").Focused().Has("It was a dark and stormy night.", "Superman", "Tuna")
			app.Type("Ada Lovelace").Press("ctrl+g").View("call")
			shows(app, "result", "User provided the requested information", "Ada Lovelace", "hero-1")

			form(app, "trigger-sampling-request").Focused()
			app.Type("warm?").Press("ctrl+g").Pane("result").Has("waits for your answer")
			app.Press("i").View("answer").Pane("question").Has("warm?")
			app.Pane("form").Focused()
			app.Type("Thirty degrees").Press("ctrl+g").View("call")
			shows(app, "result", "LLM sampling result", "Thirty degrees", "endTurn")

			form(app, "trigger-elicitation-request").Focused()
			app.Press("ctrl+g").Pane("result").Has("waits for your answer")
			app.Press("i").View("answer").Press("f6").View("call")
			shows(app, "result", "declined")
			intact(t, app)
		})
	}
}

// TestInboxModern answers the rounds of the bundled agent: the second has the first beside it.
func TestInboxModern(t *testing.T) {
	a, err := agentsrv.New(agentsrv.Options{Profile: agentsrv.Everything})
	require.NoError(t, err)
	require.NoError(t, a.Start(t.Context()))
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		defer cancel()
		_ = a.Close(ctx) // what the test left behind is not an error of the agent
	})
	app := open(t, config.Server{Name: "agent", Transport: config.HTTP, URL: a.URL()}, attended(), tuitest.Deadline(20*time.Second))
	form(app, "test_input_required_result_multi_round").Focused()
	app.Press("ctrl+g").Pane("result").Has("waits for your answer")
	app.Press("i").View("answer").Pane("question").Has("round 1", "▌ Step 1: What is your name?")
	app.Pane("form").Focused()
	app.Type("Ada").Press("ctrl+g").View("call").Pane("result").Has("waits for your answer")
	app.Press("i").View("answer").Pane("question").Has("round 2", "▌ Step 2: What is your favorite color?")
	app.Press("shift+tab").Pane("question").Focused().Press("]", "]").Pane("question").Has("asked 1: elicitation/create", "Step 1: What is your name?", `"name": "Ada"`)
	app.Press("tab").Pane("form").Focused()
	app.Type("green").Press("ctrl+g").View("call").Pane("result").Has("name=Ada, color=green")

	form(app, "test_input_required_result_multiple_inputs").Focused()
	app.Press("ctrl+g").Status().Has("inbox 2")
	app.Press("i").View("answer").Pane("question").Has("sampling", "Generate a greeting") // in the order in which they were sent
	app.Type("Good morning").Press("ctrl+g").View("call").Status().Has("inbox 1")
	app.Press("i").View("answer").Pane("question").Has("What is your name?")
	app.Pane("form").Focused()
	app.Type("Ada").Press("ctrl+g").View("call").Pane("result").Has("name=Ada, greeting=Good morning, roots=none")
}
