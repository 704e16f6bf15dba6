package agentlet

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"

	"github.com/mcphud/mcphud/session/serve/chat"
)

// sentRequest is what the fake model was sent.
type sentRequest struct {
	auth string
	body struct {
		Model    string
		Stream   bool
		Messages []struct {
			Role       string
			Content    string
			ToolCallID string `json:"tool_call_id"`
		}
		Tools []struct {
			Function struct {
				Name       string
				Parameters json.RawMessage
			}
		}
	}
}

// last is the content of the last message.
func (r sentRequest) last() string { return r.body.Messages[len(r.body.Messages)-1].Content }

// fake is an OpenAI-compatible endpoint: the n-th request is answered by the n-th of turns, those after by the last.
type fake struct {
	*httptest.Server
	mu    sync.Mutex
	got   []sentRequest
	turns []func(http.ResponseWriter, *http.Request)
}

func fakeModel(t *testing.T, turns ...func(http.ResponseWriter, *http.Request)) *fake {
	t.Helper()
	f := &fake{turns: turns}
	f.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		q := sentRequest{auth: r.Header.Get("Authorization")}
		raw, err := io.ReadAll(r.Body)
		if err == nil {
			err = json.Unmarshal(raw, &q.body)
		}
		if err != nil || r.URL.Path != "/v1/chat/completions" || r.Method != http.MethodPost {
			t.Errorf("%s %s: %v: %s", r.Method, r.URL, err, raw)
		}
		f.mu.Lock()
		n := len(f.got)
		f.got = append(f.got, q)
		f.mu.Unlock()
		f.turns[min(n, len(f.turns)-1)](w, r)
	}))
	t.Cleanup(f.Close)
	return f
}

func (f *fake) model() chat.Model {
	return chat.Model{URL: f.URL + "/v1", Key: "sk-secret", Name: "tiny"}
}

func (f *fake) requests() []sentRequest {
	f.mu.Lock()
	defer f.mu.Unlock()
	return append([]sentRequest{}, f.got...)
}

// text is a turn that says something.
func replyText(content string) func(http.ResponseWriter, *http.Request) {
	return func(w http.ResponseWriter, _ *http.Request) {
		_ = json.NewEncoder(w).Encode(map[string]any{"model": "tiny-7b", "choices": []any{map[string]any{"message": map[string]any{"role": "assistant", "content": content}}}})
	}
}

// calls is a turn that calls tools, each given as name and arguments.
func calls(pairs ...string) func(http.ResponseWriter, *http.Request) {
	return func(w http.ResponseWriter, _ *http.Request) {
		var list []any
		for i := 0; i < len(pairs); i += 2 {
			list = append(list, map[string]any{"id": fmt.Sprint("call", i/2), "type": "function", "function": map[string]any{"name": pairs[i], "arguments": pairs[i+1]}})
		}
		_ = json.NewEncoder(w).Encode(map[string]any{"choices": []any{map[string]any{"message": map[string]any{"role": "assistant", "content": nil, "tool_calls": list}}}})
	}
}

// events is a turn that streams: each piece is the delta of one event, the end is said.
func events(pieces ...string) func(http.ResponseWriter, *http.Request) {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream; charset=utf-8")
		fmt.Fprint(w, ": hello\n\n")
		for _, p := range pieces {
			raw, _ := json.Marshal(p)
			fmt.Fprintf(w, "data: {\"model\":\"tiny-7b\",\"choices\":[{\"delta\":{\"content\":%s}}]}\n\n", raw)
		}
		fmt.Fprint(w, "data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n")
	}
}

// raw is a turn with any body.
func raw(status int, contentType, body string) func(http.ResponseWriter, *http.Request) {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", contentType)
		w.WriteHeader(status)
		fmt.Fprint(w, body)
	}
}
