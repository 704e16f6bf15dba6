package inbox

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/mcphud/mcphud/session/base/jsonrpc"
	"github.com/mcphud/mcphud/session/offer/pending"
	"github.com/mcphud/mcphud/session/offer/schema"
	"github.com/mcphud/mcphud/tui"
	"github.com/mcphud/mcphud/tui/form"
)

// answerForm is the form for a question, nil where there is nothing to fill in.
func answerForm(q pending.Question, th *tui.Theme) *form.Form {
	var f *form.Form
	switch q.Kind {
	case pending.URL:
		return nil
	case pending.Sampling:
		f = form.New(schema.Parse(samplingSchema(q)), th)
		f.Front("text", "tool_use")
	default:
		fields := q.Schema()
		if fields == nil {
			fields = []byte(`{"type":"object"}`)
		}
		f = form.New(schema.ParseArguments(fields), th)
	}
	fillDefaults(f)
	f.MarkClean()
	return f
}

// fillDefaults puts the schema's defaults into a form, of optional fields too (SEP-1034).
func fillDefaults(f *form.Form) {
	f.Reset()
	if f.Raw() {
		return
	}
	defaults, _ := pending.Defaults(f.Schema().Raw())
	var set []jsonrpc.Change
	_ = jsonrpc.Members(defaults, func(name string, v []byte) bool { // made from the schema just now
		set = append(set, jsonrpc.Set(v, name))
		return true
	})
	value := f.JSON()
	if value == nil {
		value = []byte("{}")
	}
	if out, err := jsonrpc.Update(value, set...); err == nil && len(set) > 0 {
		_ = f.SetJSON(out) // an error keeps the text in the raw editor, where it can be seen
	}
}

// maxOffered is up to how many tools a form offers.
const maxOffered = 200

// samplingSchema describes the answer of a language model as a form: a text, a picture, calls of the offered tools, and what names
// the model.
func samplingSchema(q pending.Question) []byte {
	var calls []json.RawMessage
	_ = jsonrpc.Elements(jsonrpc.Get(q.Params, "tools"), func(t []byte) bool { // none: nothing is offered
		input := json.RawMessage(jsonrpc.Get(t, "inputSchema"))
		if input == nil {
			input = json.RawMessage(`{"type":"object"}`)
		}
		if bytes.Contains(input, []byte(`"$ref"`)) && jsonrpc.Get(input, "$id") == nil { // references are within the tool's own schema
			if own, err := jsonrpc.Update(input, jsonrpc.Set(jsonrpc.Quote(fmt.Sprintf("urn:tool:%d", len(calls))), "$id")); err == nil {
				input = own
			}
		}
		name := jsonrpc.GetString(t, "name")
		branch := fmt.Sprintf(`{"type":"object","title":%s,"description":%s,"required":["name","input"],"properties":{"name":{"const":%s},"input":%s}}`,
			jsonrpc.Quote(name), jsonrpc.Quote(jsonrpc.GetString(t, "description")), jsonrpc.Quote(name), input)
		calls = append(calls, json.RawMessage(branch))
		return len(calls) < maxOffered
	})
	tools := ""
	if calls != nil {
		if b, err := json.Marshal(calls); err == nil {
			tools = `"tool_use":{"type":"array","description":"calls of the tools that the server offers","items":{"oneOf":` + string(b) + `}},`
		}
	}
	return []byte(`{"type":"object","required":["role","model"],"properties":{` +
		`"text":{"type":"string","description":"what the model says"},` + tools +
		`"image":{"type":"string","contentEncoding":"base64","description":"a picture beside the text, from a file"},` +
		`"role":{"type":"string","enum":["assistant","user"],"default":"assistant"},` +
		`"model":{"type":"string","minLength":1,"default":"human","description":"the name of who answered"},` +
		`"stopReason":{"type":"string","default":"endTurn","examples":["endTurn","stopSequence","maxTokens","toolUse"]}}}`)
}

// samplingResult makes the message out of what the form holds.
func samplingResult(value json.RawMessage) (json.RawMessage, error) {
	var v struct {
		Text, Image *string
		Role, Model string
		StopReason  string
		ToolUse     []struct {
			Name  string
			Input json.RawMessage
		} `json:"tool_use"`
	}
	if err := json.Unmarshal(value, &v); err != nil {
		return nil, fmt.Errorf("the answer has not the form of a message: %w", err)
	}
	m := pending.Message{Role: v.Role, Model: v.Model, StopReason: v.StopReason}
	if v.Text != nil && (*v.Text != "" || v.Image == nil && v.ToolUse == nil) {
		m.Content = append(m.Content, pending.Text(*v.Text))
	}
	if v.Image != nil && *v.Image != "" {
		data, err := base64.StdEncoding.DecodeString(*v.Image)
		if err != nil {
			return nil, fmt.Errorf("the image is not base64: %w", err)
		}
		kind := http.DetectContentType(data)
		if !strings.HasPrefix(kind, "image/") {
			return nil, fmt.Errorf("the image is not a known kind of picture: %s", kind)
		}
		m.Content = append(m.Content, pending.Image(kind, *v.Image))
	}
	for _, t := range v.ToolUse {
		input := t.Input
		if input == nil {
			input = json.RawMessage("{}")
		}
		m.Content = append(m.Content, pending.ToolUse("call_"+jsonrpc.UUID(), t.Name, input))
	}
	if len(v.ToolUse) > 0 && (m.StopReason == "" || m.StopReason == "endTurn") {
		m.StopReason = "toolUse"
	}
	if m.Content == nil {
		return nil, errors.New("the answer is empty; type a text")
	}
	return m.Result(), nil
}
