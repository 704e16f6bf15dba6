package agentlet

import (
	"fmt"
	"unicode/utf8"

	"github.com/mcphud/mcphud/agentsrv/kit"
	"github.com/mcphud/mcphud/session/serve/chat"
)

// said is a message of the conversation that a prompt continues. Nothing is kept here between calls, so that the client sends it.
type said struct {
	Role    string `json:"role"` // user or assistant
	Content string `json:"content"`
}

const historyProperty = `"history":{"type":"array","maxItems":100,"items":{"type":"object","properties":{` +
	`"role":{"type":"string","enum":["user","assistant"],"description":"Who said it"},"content":{"type":"string","minLength":1,"maxLength":100000,"description":"What was said"}},"required":["role","content"]},` +
	`"description":"What was said before, oldest first; a model answers the prompt as what follows it, and an answer that is quoted looks at the prompt alone"}`

// checkHistory says what is wrong with the messages before a prompt: a model obeys whoever speaks as the system, so that the schema is not all
// that keeps a client from it; and with the prompt they have no more than the characters of maxPrompt.
func (q *question) checkHistory() error {
	n := utf8.RuneCountInString(q.Prompt)
	for i, m := range q.History {
		if m.Role != "user" && m.Role != "assistant" || m.Content == "" {
			return kit.Invalid(fmt.Sprintf("history/%d", i), "must have the role user or assistant, and content")
		}
		n += utf8.RuneCountInString(m.Content)
	}
	if n > maxPrompt {
		return kit.Invalid("history", fmt.Sprintf("has more than %d characters together with the prompt; leave out the oldest messages", maxPrompt))
	}
	return nil
}

// talk is the conversation as a model gets it: what was said before, and the prompt. Answers stand there in the form that the
// model is told to give, since it does as it sees.
func (q *question) talk() []chat.Message {
	var all []chat.Message
	for _, m := range q.History {
		content := m.Content
		if m.Role == "assistant" {
			if raw, ok := q.agent.wrap(content); ok && q.agent.check([]byte(content)) != nil {
				content = string(raw)
			}
		}
		all = append(all, chat.Says(m.Role, content))
	}
	return append(all, chat.Says("user", q.Prompt))
}
