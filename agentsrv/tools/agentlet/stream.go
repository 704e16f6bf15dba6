package agentlet

import (
	"context"
	"encoding/json"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/mark3labs/mcp-go/mcp"

	"github.com/mcphud/mcphud/agentsrv/kit"
)

// maxPiece is how many characters one progress message has at most.
const maxPiece = 512

// stream sends an answer in pieces, as the messages of progress notifications. Its sent is what they add up to.
type stream struct {
	ctx  context.Context
	req  mcp.CallToolRequest
	sent strings.Builder

	mu    sync.Mutex // calls of one turn run at the same time; held while something is sent, for the order
	at    int        // the progress: characters that were sent, and steps
	calls int        // that were numbered
}

// write sends a text. The first one goes in two pieces, so that also a short answer is seen to come in pieces.
func (s *stream) write(text string) error {
	for text != "" {
		n := maxPiece
		if s.sent.Len() == 0 {
			n = min(n, max(1, utf8.RuneCountInString(text)/2))
		}
		piece := cut(text, n)
		s.sent.WriteString(piece)
		if err := s.send(piece); err != nil {
			return err
		}
		text = text[len(piece):]
	}
	return nil
}

func (s *stream) send(piece string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.at += utf8.RuneCountInString(piece)
	return kit.Progress(s.ctx, s.req, float64(s.at), 0, piece)
}

// cut is the beginning of a text, of at most n runes, up to and with the last blank if there is one.
func cut(s string, n int) string {
	end := len(s)
	for i := range s {
		if n == 0 {
			end = i
			break
		}
		n--
	}
	if end == len(s) {
		return s
	}
	if i := strings.LastIndexByte(s[:end], ' '); i > 0 {
		return s[:i+1]
	}
	return s[:end]
}

// finish sends what was not sent yet, and makes sure that the pieces add up to the answer: a model that was asked to
// repair its answer may have changed the words that are with the client already.
func (s *stream) finish(agent *Agent, a *answer) error {
	text := string(a.response)
	var words struct{ Answer *string }
	if json.Unmarshal(a.response, &words) == nil && words.Answer != nil && agent.answersInWords() {
		text = *words.Answer
	}
	sent := s.sent.String()
	if rest, ok := strings.CutPrefix(text, sent); ok {
		return s.write(rest)
	}
	var whole map[string]any
	if err := json.Unmarshal(a.response, &whole); err != nil {
		return err
	}
	whole["answer"] = sent
	raw, err := kit.Marshal(whole)
	if err != nil {
		return err
	}
	if agent.check(raw) != nil {
		return refuse(a.model, "the model's corrected answer differs from what it streamed; ask again, or use ask_agent, which waits for the corrected one")
	}
	a.response = raw
	return nil
}

// answerText picks the text under "answer" out of a JSON object that arrives in pieces, and passes it on as it arrives.
type answerText struct {
	emit func(string) error

	depth      int
	started    bool // the object has begun
	ended      bool // it, or the answer, is complete: whatever follows is not looked at
	expectKey  bool
	inString   bool
	escaped    bool
	collectKey bool
	collect    bool // the string is the answer
	key        []byte
	pending    []byte // of the answer, not decoded yet
}

// maxKey bounds the member names that are kept; "answer" is shorter.
const maxKey = 64

func (a *answerText) write(piece string) error {
	for i := 0; i < len(piece) && !a.ended; i++ {
		a.next(piece[i])
	}
	return a.flush()
}

func (a *answerText) next(c byte) {
	if a.inString {
		a.inText(c)
		return
	}
	switch c {
	case '{', '[':
		if !a.started && c == '[' {
			return
		}
		a.started = true
		a.depth++
		a.expectKey = a.depth == 1
	case '}', ']':
		if a.depth--; a.depth <= 0 && a.started {
			a.ended = true
		}
	case ',':
		a.expectKey = a.depth == 1
	case ':':
		a.expectKey = false
	case '"':
		if !a.started {
			return
		}
		a.inString = true
		a.collectKey = a.depth == 1 && a.expectKey
		a.collect = a.depth == 1 && !a.expectKey && string(a.key) == "answer"
		if a.collectKey {
			a.key = a.key[:0]
		}
	}
}

func (a *answerText) inText(c byte) {
	if c == '"' && !a.escaped {
		a.inString = false
		a.ended = a.collect
		return
	}
	a.escaped = c == '\\' && !a.escaped
	switch {
	case a.collectKey && len(a.key) < maxKey:
		a.key = append(a.key, c)
	case a.collect:
		a.pending = append(a.pending, c)
	}
}

// maxPartial is how many bytes at the end of a text may be half an escape, pair of surrogates or UTF-8 sequence.
const maxPartial = len(`\ud83d\ude0`)

// flush passes on what of the pending text is complete.
func (a *answerText) flush() error {
	for n := len(a.pending); n > 0 && n >= len(a.pending)-maxPartial; n-- {
		text, err := jsontext.AppendUnquote(nil, `"`+string(a.pending[:n])+`"`)
		if err != nil {
			continue
		}
		a.pending = append(a.pending[:0], a.pending[n:]...)
		return a.emit(string(text))
	}
	if len(a.pending) > maxPartial {
		a.ended, a.pending = true, nil // no JSON; what the repaired answer says comes at the end
	}
	return nil
}
