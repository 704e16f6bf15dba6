package agentlet

import (
	"encoding/json"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/mcphud/mcphud/session/test/require"
)

func streaming(t *testing.T, r *rig, version string, args map[string]any) reply {
	t.Helper()
	return r.post(t, "", version, "tools/call", map[string]any{"name": "ask_agent_stream", "arguments": args, "_meta": map[string]any{"progressToken": "p"}})
}

func TestAskAgentStream(t *testing.T) {
	const want = "Grüße, \"Welt\" 😀 \n Ende."
	f := fakeModel(t, events(`{"tags": [`, `"answer"`, `], "nested":{"answer":"no"}, "ans`, `wer" `, `: "Gr\u00`, `fc`, "\u00df"[:1], "\u00df"[1:], `e, \"We`, `lt\`, `" \ud8`, `3d\ude0`, `0 \n `, `Ende."`, `,"confidence":0.5}`))
	r := serve(t, "", Options{Model: f.model()})
	for _, version := range []string{"", modern} {
		got := streaming(t, r, version, map[string]any{"agent_uri": "researcher", "prompt": "x"})
		// The two halves of ß are broken by JSON on their way here; what counts is that the pieces add up to the answer.
		if len(got.progress) < 4 || strings.Join(got.progress, "") != got.answer() || got.Result.StructuredContent.Status != "success" {
			t.Errorf("%q add up to %q: %s", got.progress, strings.Join(got.progress, ""), got.raw)
		}
		if !strings.HasPrefix(got.answer(), "Grü") || !strings.HasSuffix(got.answer(), want[len(want)-20:]) {
			t.Errorf("%q", got.answer())
		}
	}
	if q := f.requests(); !q[0].body.Stream {
		t.Error("the model was not asked to stream")
	}
	quiet := r.call(t, "", "ask_agent_stream", asking("researcher", "x"))
	if len(quiet.progress) != 0 || quiet.answer() == "" {
		t.Errorf("without a token: %q %s", quiet.progress, quiet.raw)
	}
}

func TestAskAgentStreamOtherwise(t *testing.T) {
	for name, c := range map[string]struct {
		turns []string
		want  string
		fails bool
	}{
		"in one event":          {[]string{`{"answer":"All at once.","confidence":1,"tags":[]}`}, "All at once.", false},
		"repaired, same words":  {[]string{`{"answer":"Same."}`, `{"answer":"Same.","confidence":1,"tags":[]}`}, "Same.", false},
		"repaired, other words": {[]string{`{"answer":"Before."}`, `{"answer":"After.","confidence":1,"tags":[]}`}, "Before.", false},
		"repaired, longer":      {[]string{`{"answer":"Bef`, `{"answer":"Before.","confidence":1,"tags":[]}`}, "Before.", false},
		"words, then repaired":  {[]string{`It is so.`, `{"answer":"So.","confidence":1,"tags":[]}`}, "So.", false},
		"never":                 {[]string{`No.`, `No.`}, "", true},
	} {
		t.Run(name, func(t *testing.T) {
			f := fakeModel(t, events(c.turns[0]))
			for _, s := range c.turns[1:] {
				f.turns = append(f.turns, replyText(s))
			}
			r := serve(t, "", Options{Model: f.model()})
			got := streaming(t, r, "", map[string]any{"agent_uri": "researcher", "prompt": "x"})
			if got.answer() != c.want || got.Result.IsError != c.fails || strings.Join(got.progress, "") != c.want || !c.fails && len(got.progress) < 2 {
				t.Errorf("%q: %s", got.progress, got.raw)
			}
		})
	}
}

func TestAskAgentStreamWithoutWords(t *testing.T) {
	f := fakeModel(t, replyText(`{"total": 12, "currency": "<&>"}`))
	r := serve(t, "", Options{Model: f.model()})
	made := r.call(t, "", "create_agent", map[string]any{
		"tenant_id": "default", "user_id": "ada", "agent_name": "sum", "description": "Adds.",
		"output_schema": map[string]any{"type": "object", "required": []string{"total"}, "properties": map[string]any{"total": map[string]any{"type": "integer"}}},
	})
	if made.Error != nil {
		t.Fatal(made.raw)
	}
	got := streaming(t, r, "", map[string]any{"agent_uri": "sum", "prompt": "x"})
	if len(got.progress) < 2 || !strings.Contains(got.Result.Content[0].Text, `"response":`+strings.Join(got.progress, "")) {
		t.Errorf("%q: %s", got.progress, got.raw)
	}
}

func TestAnswerTextAtAnyCut(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		var b strings.Builder
		for range rng.IntN(30) {
			b.WriteString([]string{"a", " ", "\"", "\\", "\n", "é", "漢", "😀", "}", "{", ",", ":", "\u0001"}[rng.IntN(13)])
		}
		want := b.String()
		var in []byte
		switch rng.IntN(3) {
		case 0:
			in, _ = json.Marshal(map[string]any{"x": map[string]any{"answer": "no"}, "a": []any{"answer", 1, nil}, "answer": want, "z": true})
		case 1:
			in = []byte("Sure:\n```json\n{\"a\\\"nswer\":1,\"answer\" : ")
			s, _ := json.Marshal(want)
			in = append(append(in, s...), "}\n```"...)
		default:
			in = []byte(`{"answer":"`)
			for _, r := range want {
				s, _ := json.Marshal(string(r))
				if r > 0xFFFF {
					s = []byte(`"\ud83d\ude00"`)
				}
				in = append(in, s[1:len(s)-1]...)
			}
			in = append(in, `"}`...)
		}
		var got strings.Builder
		a := answerText{emit: func(s string) error { got.WriteString(s); return nil }}
		for rest := string(in); rest != ""; {
			n := 1 + rng.IntN(min(7, len(rest)))
			require.NoError(t, a.write(rest[:n]))
			rest = rest[n:]
		}
		if got.String() != want {
			t.Fatalf("%s\ngives %q, want %q", in, got.String(), want)
		}
	}
}

func FuzzAnswerText(f *testing.F) {
	f.Add(`{"answer":"a\ud83d`, 3)
	f.Add(`]]]]{"answer`, 1)
	f.Fuzz(func(t *testing.T, s string, n int) {
		a := answerText{emit: func(string) error { return nil }}
		n = max(1, n%16)
		for ; len(s) > n; s = s[n:] {
			_ = a.write(s[:n])
		}
		_ = a.write(s)
		if len(a.key) > maxKey {
			t.Errorf("a key of %d bytes is kept", len(a.key))
		}
	})
}
