package agentlet

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/mcphud/mcphud/agentsrv/kit"
)

// accept takes a model's text for an answer: JSON that is valid against the agent's schema, within a code fence or not.
// The error is for the model, which gets to try again.
func (a *Agent) accept(text string) (json.RawMessage, error) {
	raw := []byte(stripCodeFence(text))
	if len(raw) == 0 {
		return nil, errors.New("the answer is empty")
	}
	var b bytes.Buffer
	if err := json.Compact(&b, raw); err != nil {
		return nil, fmt.Errorf("the answer is not JSON: %w", err)
	}
	if raw = b.Bytes(); raw[0] != '{' {
		return nil, errors.New("the answer is not a JSON object")
	}
	if err := a.check(raw); err != nil {
		return nil, fmt.Errorf("the answer does not fit the schema: %w", err)
	}
	return raw, nil
}

// wrap makes an answer of words, for schemas that words alone can fit.
func (a *Agent) wrap(text string) (json.RawMessage, bool) {
	text = strings.TrimSpace(text)
	if text == "" || !utf8.ValidString(text) {
		return nil, false
	}
	for _, v := range []map[string]any{
		{"answer": text, "confidence": nil, "tags": []any{}},
		{"answer": text, "tags": []any{}},
		{"answer": text},
	} {
		if raw, err := kit.Marshal(v); err == nil && a.check(raw) == nil {
			return raw, true
		}
	}
	return nil, false
}

// stripCodeFence drops a Markdown code fence around a text: models like to add one.
func stripCodeFence(s string) string {
	s = strings.TrimSpace(s)
	if !strings.HasPrefix(s, "```") || !strings.HasSuffix(s, "```") || len(s) < 6 {
		return s
	}
	s = strings.TrimSuffix(s[3:], "```")
	if i := strings.IndexByte(s, '\n'); i >= 0 {
		s = s[i+1:]
	}
	return strings.TrimSpace(s)
}

// repair is the message to a model whose answer cannot be used.
func repair(why error) string {
	return "Your answer cannot be used: " + why.Error() + "\nAnswer again, with nothing but one JSON object that is valid against the schema."
}
