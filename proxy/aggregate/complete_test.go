package aggregate_test

import "testing"

// Completions come from the agent that has the prompt or the template, under the agent's own names.
func TestR19_Completions(t *testing.T) {
	agent := func(name string) *script {
		return &script{caps: `{"prompts":{},"resources":{},"completions":{}}`, answer: func(a asked, _ func(string, ...any)) string {
			switch a.Method {
			case "prompts/list":
				return `{"prompts":[{"name":"p"}]}`
			case "resources/list":
				return `{"resources":[]}`
			case "resources/templates/list":
				return `{"resourceTemplates":[{"uriTemplate":"` + name + `://{x}","name":"t"},{"uriTemplate":"same://{x}","name":"s"}]}`
			case "completion/complete":
				return `{"completion":{"values":["` + name + `"],"hasMore":false},"ref":` + a.param("ref") + `,"argument":` + a.param("argument") + `}`
			}
			return ""
		}}
	}
	s := router(t, map[string]string{"a": agent("a").serve(t), "b": agent("b").serve(t)}, nil)
	const argument = `"argument":{"name":"x","value":"v"}`
	for ref, own := range map[string]string{
		`{"type":"ref/prompt","name":"mcp__b__p"}`:         `{"type":"ref/prompt","name":"p"}`,
		`{"type":"ref/resource","uri":"b://{x}"}`:          `{"type":"ref/resource","uri":"b://{x}"}`,
		`{"type":"ref/resource","uri":"mcp:b:same://{x}"}`: `{"type":"ref/resource","uri":"same://{x}"}`,
	} {
		params := `"ref":` + ref + `,` + argument
		for _, got := range []answer{s.ask("", "completion/complete", `{`+params+`}`), s.modernAsk("completion/complete", "", `,`+params, "")} {
			if !all(got.raw, []string{`"values":["b"]`, own, argument}) {
				t.Errorf("%s: %s", ref, got.raw)
			}
		}
	}
	for _, ref := range []string{`{"type":"ref/resource","uri":"same://{x}"}`, `{"type":"ref/prompt","name":"mcp__c__p"}`, `{}`, `7`} {
		if got := s.ask("", "completion/complete", `{"ref":`+ref+`,`+argument+`}`); got.Error == nil || got.Error.Code != -32602 {
			t.Errorf("%s: %s", ref, got.raw)
		}
	}
}
