package telemetry

import (
	"context"
	"encoding/json"
	"log/slog"
	"strings"
	"testing"

	"github.com/mcphud/mcphud/agentsrv/front"
	"github.com/mcphud/mcphud/agentsrv/kit"
)

// TestO6_WhoRunsACallOfAnotherReplicaLogsIt: the origin of a call may die before it ended.
func TestO6_WhoRunsACallOfAnotherReplicaLogsIt(t *testing.T) {
	var log strings.Builder
	tel := New(Options{Logger: slog.New(slog.NewJSONHandler(&log, nil)), Known: func(tool string) bool { return tool == "echo" }})
	run := tel.Started()(func(context.Context, *front.Exchange) (json.RawMessage, error) {
		return json.RawMessage(`{"isError":true,"content":[]}`), nil
	})
	x := front.Away{
		Method: "tools/call", Params: json.RawMessage(`{"name":"echo","arguments":{"text":"private-text"}}`),
		Caller: kit.Identity{Trace: strings.Repeat("ab", 16)},
	}
	if _, err := run(kit.WithTenant(t.Context(), "acme"), x.Exchange(gone{})); err != nil {
		t.Fatal(err)
	}
	x.Method = "resources/read"
	if _, err := run(t.Context(), x.Exchange(gone{})); err != nil {
		t.Fatal(err)
	}
	got := lines(t, []byte(log.String()))
	if len(got) != 1 || got[0]["msg"] != "MCP tool called for another replica" || got[0]["tool"] != "echo" || got[0]["tenant_id"] != "acme" ||
		got[0]["trace_id"] != strings.Repeat("ab", 16) || got[0]["error"] != "tool_error" || strings.Contains(log.String(), "private-text") {
		t.Errorf("%s", log.String())
	}
}

// gone is a line to a process that is gone.
type gone struct{ front.Line }

func (gone) Send([]byte) error { return nil }
