package agentsrv

import (
	"encoding/json"
	"testing"
)

// TestQ6_AsyncInEveryProfile: _meta.async makes a task of a call in either era, and whatever a tool says of tasks in 2025-11-25, unless
// it says that it never runs as one.
func TestQ6_AsyncInEveryProfile(t *testing.T) {
	for _, profile := range []Profile{Demo, Everything} {
		_, cs := serve(t, Options{Profile: profile, RateLimit: -1})
		for era, c := range cs {
			var got struct {
				StructuredContent struct{ TaskID string }
			}
			if err := json.Unmarshal(c.result("tools/call", `{"name":"sleep","arguments":{"seconds":0},"_meta":{"async":true}}`), &got); err != nil || got.StructuredContent.TaskID == "" {
				t.Errorf("%s, %s: %+v, %v", profile, era, got, err)
			}
		}
	}
	_, cs := serve(t, Options{Profile: Everything})
	var got struct {
		StructuredContent struct{ TaskID string }
	}
	if err := json.Unmarshal(cs["legacy"].result("tools/call", `{"name":"greet","arguments":{},"_meta":{"async":true}}`), &got); err != nil || got.StructuredContent.TaskID != "" {
		t.Errorf("a tool that never runs as a task became one: %+v, %v", got, err)
	}
}
