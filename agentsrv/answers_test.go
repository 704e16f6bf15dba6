package agentsrv

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

// What an agent answers without a model is quoted from the built-in texts: on what they are about, and on nothing else.
func TestT2_T3_AnswersFromTheBuiltInTexts(t *testing.T) {
	bothEras(t, func(t *testing.T, c *client) {
		ask := func(question string) (a struct {
			Answer     string
			Confidence float64
			Citations  []struct{ Source string }
		},
		) {
			r := c.call("ask_agent", fmt.Sprintf(`{"agent_uri":"system/researcher","tenant_id":"t","prompt":%q}`, question))
			var out struct {
				Model    string
				Response any
			}
			out.Response = &a
			if err := json.Unmarshal(r.StructuredContent, &out); err != nil || r.IsError || out.Model != "extractive" {
				t.Fatalf("%s: %+v", question, r)
			}
			return a
		}
		for question, words := range map[string]string{
			"How do I cancel a running tool call?":                    "notifications/cancelled",
			"What do the exit codes mean?":                            "130 means interrupted",
			"How do I limit the memory of execute_code?":              "64 MB",
			"What is an elicitation?":                                 "form mode",
			"How does pagination work?":                               "nextCursor",
			"DNS rebinding protection":                                "rebinding",
			"What is the session header, and when does it come?":      "Mcp-Session-Id",
			"How do I start the agent on another port?":               "--port 0",
			"What does the Mcp-Name header do in the modern era?":     "Mcp-Name",
			"What happened to ping in the modern era of the protocol": "ping",
		} {
			if a := ask(question); !strings.Contains(a.Answer, words) || len(a.Citations) == 0 || a.Confidence == 0 || !strings.Contains(a.Answer, a.Citations[0].Source) {
				t.Errorf("%s: %+v", question, a)
			}
		}
		for _, question := range []string{
			"Who won the 1998 world cup?", "best pasta recipe", "how tall is mount everest", "weather tomorrow in Berlin", "why is the sky blue", "What is the capital of France?",
		} {
			if a := ask(question); len(a.Citations) != 0 || a.Confidence != 0 || !strings.Contains(a.Answer, "has no passage on this") {
				t.Errorf("%s: %+v", question, a)
			}
		}
	})
}
