package agentlet

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/mcphud/mcphud/session/test/require"
)

func passages(_ context.Context, tenant, query string, limit int) ([]Hit, error) {
	switch {
	case tenant != "default" || limit < 1:
		return nil, errors.New("wrong tenant")
	case !strings.Contains(query, "progress"):
		return nil, nil
	}
	return []Hit{
		{Content: "A progress notification carries the token of the request. The token is chosen by the client.", Source: "resource://kb/progress.md", Title: "Progress", Score: 0.91, Base: "general"},
		{Content: "func Progress(ctx) error", Source: "resource://kb/kit.go", Title: "kit.go", Score: 0.4, Base: "codebase"},
	}, nil
}

func TestT2_SystemAgentsQuoteWithoutAModel(t *testing.T) {
	r := serve(t, "", Options{Search: passages, Mentions: func(_ context.Context, _, text string, _ int) ([]Mention, error) {
		if strings.Contains(text, "Beacon") {
			return []Mention{{"system-beacon", "system", "Beacon"}}, nil
		}
		return nil, nil
	}})
	type response struct {
		Answer     string
		Confidence float64
		Tags       []string
		Citations  []citation
		Entities   []Mention
	}
	ask := func(agent, prompt string) (x response, got reply) {
		t.Helper()
		got = r.call(t, "", "ask_agent", asking(agent, prompt))
		s := got.Result.StructuredContent
		if got.Result.IsError || s.Model != "extractive" || s.Status != "success" || json.Unmarshal(s.Response, &x) != nil || x.Tags[0] != "extractive" {
			t.Fatal(got.raw)
		}
		return x, got
	}
	x, once := ask("researcher", "How does progress work?")
	if x.Confidence != 0.91 || len(x.Citations) != 2 || x.Citations[0] != (citation{"resource://kb/progress.md", "Progress", 0.91}) ||
		!strings.Contains(x.Answer, "The token is chosen by the client. [1]") || !strings.Contains(x.Answer, "<resource://kb/progress.md>") {
		t.Errorf("%+v", x)
	}
	if _, twice := ask("researcher", "How does progress work?"); string(once.Result.StructuredContent.Response) != string(twice.Result.StructuredContent.Response) {
		t.Error("asked twice, it gives two answers")
	}
	if x, _ := ask("code-helper", "progress"); x.Citations[0].Title != "kit.go" {
		t.Errorf("code does not come first: %+v", x.Citations)
	}
	if x, _ := ask("researcher", "Nothing of the kind"); x.Confidence != 0 || len(x.Citations) != 0 || !strings.Contains(x.Answer, "has no passage on this") {
		t.Errorf("%+v", x)
	}
	const long = "Trains carry steel to the port. The weather was fine. Steel trains run at night to the port of Portmere. Somebody sang. The port loads steel trains first. Dinner was late."
	if x, _ := ask("summarizer", long); !strings.Contains(x.Answer, "Steel trains run at night") || strings.Contains(x.Answer, "sang") || len(x.Answer) >= len(long) {
		t.Errorf("%+v", x)
	}
	if x, _ := ask("summarizer", "progress"); len(x.Citations) != 2 {
		t.Errorf("%+v", x)
	}
	if x, _ := ask("entity-finder", "Is Beacon down?"); len(x.Entities) != 1 || x.Entities[0].ID != "system-beacon" || x.Confidence != 1 {
		t.Errorf("%+v", x)
	}
	if x, _ := ask("entity-finder", "Nothing"); len(x.Entities) != 0 || x.Confidence != 0 {
		t.Errorf("%+v", x)
	}
	got := streaming(t, r, "", map[string]any{"agent_uri": "researcher", "prompt": "progress"})
	if len(got.progress) < 2 || strings.Join(got.progress, "") != got.answer() || got.Result.StructuredContent.Model != "extractive" {
		t.Errorf("%q: %s", got.progress, got.raw)
	}
}

func TestSystemAgentsAreSound(t *testing.T) {
	files, err := systemFiles.ReadDir("system")
	require.NoError(t, err)
	r, _ := New(Options{}) // its error is a model's
	all := r.systemAgents()
	if len(all) != len(files) {
		t.Errorf("%d of %d files are agents", len(all), len(files))
	}
	for _, a := range all {
		if !validName.MatchString(a.Name) || a.Description == "" || a.Extract == "" {
			t.Errorf("%+v", a)
		}
		if _, err := compileSchema(a.OutputSchema); err != nil || !a.answersInWords() {
			t.Errorf("%s: %v", a.Name, err)
		}
		for value, ok := range map[string]bool{fine: true, `{"answer":"x"}`: false, `{"answer":"x","confidence":2,"tags":[]}`: false, `[]`: false} {
			if _, err := a.accept(value); (err == nil) != ok {
				t.Errorf("%s takes %s: %v", a.Name, value, err)
			}
		}
	}
}
