package cli

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/mcphud/mcphud/cmd/cli/flags"
	"github.com/mcphud/mcphud/cmd/cli/output"
	"github.com/mcphud/mcphud/session/base/failure"
	"github.com/mcphud/mcphud/session/base/jsonrpc"
	"github.com/mcphud/mcphud/session/base/text"
	"github.com/mcphud/mcphud/session/config"
	"github.com/mcphud/mcphud/session/offer/pending"
)

// answerWords are the values of --answer that are words.
var answerWords = []string{pending.Accept, pending.Decline, pending.Cancel}

// Prepared are the answers of --answer; nil where none was given.
func (o *Options) Prepared() (*pending.Script, error) {
	if len(o.Answers) == 0 {
		return nil, nil
	}
	s := &pending.Script{}
	for _, given := range o.Answers {
		raw, name := []byte(given), "--answer"
		if len(given) > 1 && given[0] == '@' {
			var err error
			name = given[1:]
			if raw, err = answerFile(name); err != nil {
				return nil, &failure.Error{Kind: failure.Usage, Message: "--answer " + err.Error(), Err: err, Next: "name a file that can be read after the @"}
			}
		}
		if err := s.Add(raw); err != nil {
			next := output.DidYouMean(given, answerWords) + "give accept, decline, cancel, a JSON object, or @FILE with one or with a list of rules"
			return nil, &failure.Error{Kind: failure.Usage, Message: name + ": " + err.Error(), Err: err, Next: next}
		}
	}
	return s, nil
}

// answerFile reads a file of JSON, or of YAML as JSON.
func answerFile(path string) ([]byte, error) {
	const limit = 64 << 20
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	raw, err := flags.ReadAll(f, limit)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if word := strings.TrimSpace(string(raw)); jsonrpc.Valid(raw) == nil || slices.Contains(answerWords, word) {
		return raw, nil
	}
	tree, err := config.ParseTree(path, raw)
	if err == nil && len(tree.Warnings) > 0 {
		err = tree.Warnings[0]
	}
	return tree.Root.JSON(), err
}

// Questions is the queue of what servers ask. A person that attends it answers what --answer leaves.
func (a *App) Questions(attended bool) *pending.Queue {
	o := pending.Options{Attended: attended, Later: a.Options.Session != ""}
	if a.First != nil {
		o.Rules = append(o.Rules, a.First)
	}
	if a.Options.Script != nil {
		o.Rules = append(o.Rules, a.Options.Script)
	}
	a.asked = pending.New(o)
	return a.asked
}

// unanswered is err, or the error that names what servers asked and nobody answered: that is why a call failed, or what its result
// lacks. Questions that no request of ours caused do not make a command fail that succeeded.
func (a *App) unanswered(err error) error {
	if a.asked == nil {
		return err
	}
	left := a.asked.Unanswered()
	if len(left) == 0 {
		return err
	}
	switch failure.KindOf(err) {
	case failure.ToolError, failure.RpcError, failure.NotFound, failure.NeedsInput:
	case "":
		if err != nil || !slices.ContainsFunc(left, func(e pending.Record) bool { return e.Cause.Method != "" }) {
			return err
		}
	default:
		return err
	}
	first := left[0]
	e := &failure.Error{Kind: failure.NeedsInput, Server: first.Title, Stage: strings.TrimSpace(first.Cause.Method + " " + text.Clip(first.Cause.Target, 100))}
	if was := (*failure.Error)(nil); errors.As(err, &was) {
		e.Server, e.Stage, e.Code, e.Data, e.Method, e.Params = was.Server, was.Stage, was.Code, was.Data, was.Method, was.Params
	}
	e.Message = "the server asks for input (" + text.Clip(first.Method, 100) + ") that nobody gave: " + first.Why
	e.Next = "--answer accept|decline|cancel|JSON|@FILE answers it"
	e.Asked = askedJSON(left)
	a.keepWaiting(e)
	return e
}

// askedPages are the pages that a call wants to be visited first (-32042).
func askedPages(e *failure.Error) json.RawMessage {
	var left []pending.Record
	_ = jsonrpc.Elements(jsonrpc.Get(e.Data, "elicitations"), func(page []byte) bool { // without them the message has to do
		q := pending.Question{Kind: pending.URL, Method: "elicitation/create", Title: e.Server, Params: page}
		left = append(left, pending.Record{Question: q, Why: "nobody was there to answer"})
		return len(left) < 20
	})
	return askedJSON(left)
}

// askedJSON is what was asked as scripts see it. Params beyond a size are left out, and their size is given.
func askedJSON(left []pending.Record) json.RawMessage {
	const most, all = 256 << 10, 1 << 20
	type question struct {
		Kind   pending.Kind    `json:"kind"` // form, url or sampling
		Method string          `json:"method"`
		Server string          `json:"server"`
		Cause  string          `json:"cause,omitempty"` // the request that made the server ask
		Why    string          `json:"why"`             // it was not answered
		Params json.RawMessage `json:"params"`          // as sent
		Size   int             `json:"paramsBytes,omitempty"`
	}
	list, total := []question{}, 0
	for _, e := range left {
		x := question{Kind: e.Kind, Method: e.Method, Server: e.Title, Cause: strings.TrimSpace(e.Cause.Method + " " + e.Cause.Target), Why: e.Why, Params: output.OrNull(e.Params)}
		if total += len(e.Params); len(e.Params) > most || total > all {
			x.Params, x.Size = json.RawMessage("null"), len(e.Params)
		}
		list = append(list, x)
	}
	raw, err := output.Marshal(list)
	if err != nil { // texts, and what was parsed as JSON
		return nil
	}
	return bytes.TrimSpace(raw)
}

// askedText is what was asked for people: a line for each question.
func askedText(asked json.RawMessage) string {
	var lines []string
	_ = jsonrpc.Elements(asked, func(q []byte) bool { // it is a list of ours
		line := jsonrpc.GetString(q, "kind")
		if said := jsonrpc.GetString(q, "params", "message"); said != "" {
			line += ": " + text.Clip(text.FirstLine(said), 300)
		}
		var fields []string
		_ = jsonrpc.Members(jsonrpc.Get(q, "params", "requestedSchema", "properties"), func(name string, _ []byte) bool {
			fields = append(fields, text.Clip(name, 60))
			return len(fields) < 20
		})
		if url := jsonrpc.GetString(q, "params", "url"); url != "" {
			fields = append(fields, text.Clip(url, 300))
		}
		lines = append(lines, line+BracketedList(fields))
		return len(lines) < 20
	})
	return strings.Join(lines, "\n")
}

// BracketedList are names in brackets behind a blank, "" for none.
func BracketedList(names []string) string {
	if len(names) == 0 {
		return ""
	}
	return " (" + strings.Join(names, ", ") + ")"
}
