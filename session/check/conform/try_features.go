package conform

import (
	"context"
	"errors"
	"fmt"
	"net/http/httptrace"
	"strings"

	"github.com/mcphud/mcphud/session/base/jsonrpc"
	"github.com/mcphud/mcphud/session/check"
	"github.com/mcphud/mcphud/session/offer"
)

// features try the rules of tools, resources, prompts and utilities. What exists is what the subject listed before; what does not is missing.
var features = []trial{
	{"unknown-tool", shared, tryUnknownTool},
	{"unknown-resource", shared, tryUnknownResource},
	{"unknown-prompt", shared, tryUnknownPrompt},
	{"missing-argument", shared, tryMissingArgument},
	{"prompts-rendered", shared, tryPrompts},
	{"resources-read", shared, tryResources},
	{"tools-answer", shared, tryTools},
	{"completion", shared, tryCompletion},
	{"completion-refused", shared, tryCompletionRefused},
	{"log-level-set", shared, tryLevelSet},
	{"log-level-invalid", shared, tryLevelInvalid},
	{"subscribe", shared, trySubscribe},
	{"cancel-survived", shared, tryCancel},
	{"progress", shared, tryProgress},
}

// missing is a name that no tool, prompt or resource has.
const missing = "mcphud-does-not-exist"

// tryUnknownTool: an unknown name is an error of the protocol, and no result with isError (2025-11-25/server/tools#error-handling): that a model reads
// as a fault of the tool.
func tryUnknownTool(p *probe) error {
	if err := p.require("tools"); err != nil {
		return err
	}
	a, err := p.call("tools/call", `{"name":"`+missing+`","arguments":{}}`)
	if err != nil {
		return err
	}
	return expectError(a, "tools/call of an unknown tool", -32602)
}

// tryUnknownResource takes -32602 in the earlier revisions as well, which name -32002: it refuses no less. In the modern era the old code is an error,
// since clients go by the new one.
func tryUnknownResource(p *probe) error {
	if err := p.require("resources"); err != nil {
		return err
	}
	a, err := p.call("resources/read", `{"uri":"mcphud://`+missing+`"}`)
	if err != nil {
		return err
	}
	if a.code() == -32601 && p.sub.Nothing(offer.Resources, offer.Templates) {
		return skip("resources/read is not implemented, and nothing is listed that could be read")
	}
	what := "resources/read of an unknown URI"
	if p.conn.isModern() {
		if err := expectError(a, what, -32602); err != nil {
			return violatedAs(check.Error, "%v", err)
		}
		return nil
	}
	return expectError(a, what, -32002, -32602)
}

// tryUnknownPrompt leaves a server alone that lists no prompt and does not have the method: what it declares in vain is for declared-lists.
func tryUnknownPrompt(p *probe) error {
	if err := p.require("prompts"); err != nil {
		return err
	}
	a, err := p.call("prompts/get", `{"name":"`+missing+`"}`)
	if err != nil {
		return err
	}
	if a.code() == -32601 && p.sub.Nothing(offer.Prompts) {
		return skip("prompts/get is not implemented, and nothing is listed that could be got")
	}
	return expectError(a, "prompts/get of an unknown prompt", -32602)
}

// requiredPrompt is the first prompt with an argument that has to be given; ok is false where none has.
func (p *probe) requiredPrompt() (prompt offer.Item, ok bool) {
	for _, it := range p.sub.Prompts {
		for _, arg := range it.Args {
			if arg.Required {
				return it, true
			}
		}
	}
	return offer.Item{}, false
}

// tryMissingArgument is the second way to ask for a prompt that cannot be given: the name is known, so that a server that only looks it up serves it.
func tryMissingArgument(p *probe) error {
	if err := p.require("prompts"); err != nil {
		return err
	}
	it, ok := p.requiredPrompt()
	if !ok {
		return skip("no prompt has a required argument")
	}
	a, err := p.call("prompts/get", `{"name":`+string(jsonrpc.Quote(it.Name))+`,"arguments":{}}`)
	if err != nil {
		return err
	}
	return expectError(a, "prompts/get of "+it.Name+" without its arguments", -32602)
}

// maxTried is how many items of one kind are tried: those after them are as a rule made by the same code, and each costs the server.
const maxTried = 20

// tryPrompts gets each prompt. One with arguments may refuse the values, which are made up; one without has no reason to.
func tryPrompts(p *probe) error {
	if err := p.require("prompts"); err != nil {
		return err
	}
	tried, failed := 0, error(nil)
	for _, it := range p.sub.Prompts {
		if it.Name == "" || tried == maxTried {
			continue
		}
		tried++
		args := make([]string, 0, len(it.Args))
		for _, arg := range it.Args {
			if arg.Required {
				args = append(args, string(jsonrpc.Quote(arg.Name))+`:"1"`)
			}
		}
		a, err := p.call("prompts/get", `{"name":`+string(jsonrpc.Quote(it.Name))+`,"arguments":{`+strings.Join(args, ",")+`}}`)
		if err != nil {
			return fmt.Errorf("prompt %s: %w", it.Name, err)
		}
		if c := a.code(); a.result() == nil && len(args) == 0 && (a.frame == nil || c == -32601 || c == -32602) {
			return newViolation("prompts/get of %s: %s", it.Name, a.summary())
		} else if c == internal {
			failed = inconclusiveSkip("prompts/get of %s: %s, which does not say why", it.Name, a.summary())
		}
	}
	if tried == 0 {
		return skip("there are no prompts")
	}
	return failed
}

// tryResources reads each resource. One that wants a capability of the client (-32021) is not at fault.
func tryResources(p *probe) error {
	if err := p.require("resources"); err != nil {
		return err
	}
	tried, failed := 0, error(nil)
	for _, it := range p.sub.Resources {
		if it.URI == "" || tried == maxTried {
			continue
		}
		tried++
		a, err := p.call("resources/read", `{"uri":`+string(jsonrpc.Quote(it.URI))+`}`)
		if err != nil {
			return fmt.Errorf("resource %s: %w", it.URI, err)
		}
		if a.code() == internal {
			failed = inconclusiveSkip("resources/read of %s: %s, which does not say why", it.URI, a.summary())
		} else if a.result() == nil && a.code() != -32021 {
			return newViolation("resources/read of %s: %s", it.URI, a.summary())
		}
	}
	if tried == 0 {
		return skip("there are no resources")
	}
	return failed
}

// tryTools calls each tool that may be called. Any response will do, also an error: the arguments are made up. A result without content is
// right for a task, and for one that waits for input.
func tryTools(p *probe) error {
	if _, _, err := p.tool(nil); err != nil {
		return err
	}
	tried := 0
	for _, it := range p.sub.Tools {
		if it.Barred != nil || !p.sub.May(it) || tried == maxTried {
			continue
		}
		tried++
		a, err := p.call("tools/call", `{"name":`+string(jsonrpc.Quote(it.Name))+`,"arguments":`+argumentsOf(it)+`}`)
		if err != nil {
			var silent *silence
			if errors.As(err, &silent) && p.conn.lostErr() == nil { // slow is not wrong; the answer must not be taken for another's
				p.unusable = true
				if p.conn, err = p.openConn(); err != nil {
					return err
				}
				continue
			}
			return fmt.Errorf("tool %s: %w", it.Name, err)
		}
		if a.frame == nil {
			return newViolation("tool %s: %s", it.Name, a.summary())
		}
		if r := a.result(); r != nil && jsonrpc.Get(r, "content") == nil && jsonrpc.GetString(r, "resultType") != "input_required" && jsonrpc.Get(r, "task") == nil && jsonrpc.GetString(r, "resultType") != "task" {
			return newViolation("the result of tool %s has no content", it.Name)
		}
	}
	return nil
}

// completionParams is the reference and argument of something that can be completed, as JSON: the first argument of a prompt, or else the first
// variable of a template, without its operator and modifier (RFC 6570). It is "" where there is neither.
func (p *probe) completionParams() string {
	for _, it := range p.sub.Prompts {
		if len(it.Args) > 0 {
			return `{"ref":{"type":"ref/prompt","name":` + string(jsonrpc.Quote(it.Name)) + `},"argument":{"name":` + string(jsonrpc.Quote(it.Args[0].Name)) + `,"value":""}}`
		}
	}
	for _, it := range p.sub.Templates {
		if _, rest, ok := strings.Cut(it.URI, "{"); ok {
			name, _, _ := strings.Cut(strings.TrimLeft(rest, "+#./;?&"), "}")
			name, _, _ = strings.Cut(strings.TrimSuffix(name, "*"), ",")
			return `{"ref":{"type":"ref/resource","uri":` + string(jsonrpc.Quote(it.URI)) + `},"argument":{"name":` + string(jsonrpc.Quote(name)) + `,"value":""}}`
		}
	}
	return ""
}

// tryCompletion completes the empty text, for which every value is a completion: no values at all are right, too. At most 100 may come
// (2025-11-25/server/utilities/completion#requesting-completions).
func tryCompletion(p *probe) error {
	if err := p.require("completions"); err != nil {
		return err
	}
	params := p.completionParams()
	if params == "" {
		return skip("no prompt and no template has an argument")
	}
	a, err := p.call("completion/complete", params)
	if err != nil {
		return err
	}
	if err := expectResult(a, "completion/complete"); err != nil {
		return err
	}
	n := 0
	values := jsonrpc.Get(a.result(), "completion", "values")
	if len(values) == 0 || values[0] != '[' {
		return newViolation("the result has no completion.values")
	}
	_ = jsonrpc.Elements(values, func([]byte) bool { n++; return true }) // it is an array
	if n > 100 {
		return newViolation("%d values, and at most 100 are allowed", n)
	}
	return nil
}

// tryCompletionRefused asks for a prompt and not for a template: an unknown URI may be one that a template of the server matches.
func tryCompletionRefused(p *probe) error {
	if err := p.require("completions"); err != nil {
		return err
	}
	a, err := p.call("completion/complete", `{"ref":{"type":"ref/prompt","name":"`+missing+`"},"argument":{"name":"a","value":""}}`)
	if err != nil {
		return err
	}
	return expectError(a, "completion/complete for an unknown prompt", -32602)
}

// tryLevelSet sets each level, the quietest of use last: the session's own connection may share it.
func tryLevelSet(p *probe) error {
	if err := p.require("logging"); err != nil {
		return err
	}
	for _, level := range []string{"debug", "info", "notice", "warning", "critical", "alert", "emergency", "error"} {
		a, err := p.call("logging/setLevel", `{"level":"`+level+`"}`)
		if err != nil {
			return err
		}
		if err := expectResult(a, "logging/setLevel "+level); err != nil {
			return err
		}
	}
	return nil
}

// tryLevelInvalid makes up a word that is a level nowhere: others of syslog and of libraries, such as warn, a server may know.
func tryLevelInvalid(p *probe) error {
	if err := p.require("logging"); err != nil {
		return err
	}
	a, err := p.call("logging/setLevel", `{"level":"mcphud"}`)
	if err != nil {
		return err
	}
	return expectError(a, "logging/setLevel \"mcphud\"", -32602)
}

// trySubscribe ends the subscription at once: the connection is shared, and updates would come between the answers of later trials.
func trySubscribe(p *probe) error {
	if err := p.require("resources", "subscribe"); err != nil {
		return err
	}
	if len(p.sub.Resources) == 0 {
		return skip("there are no resources")
	}
	params := `{"uri":` + string(jsonrpc.Quote(p.sub.Resources[0].URI)) + `}`
	for _, m := range []string{"resources/subscribe", "resources/unsubscribe"} {
		a, err := p.call(m, params)
		if err != nil {
			return err
		}
		if err := expectResult(a, m); err != nil {
			return err
		}
	}
	return nil
}

// tryCancel cancels a list, which changes nothing. Whether it is answered is up to the server, which has to go on.
func tryCancel(p *probe) error {
	c, err := p.openConn()
	if err != nil {
		return err
	}
	p.conn = c
	frame := c.request(p.firstListOr("ping"), nil)
	env, _ := jsonrpc.Scan(frame)
	cancel := string(jsonrpc.NewNotification("notifications/cancelled", fmt.Appendf(nil, `{"requestId":%s,"reason":"mcphud tries it"}`, env.ID)))
	if p.http == nil {
		if err := c.pipe.write(p.ctx, frame, env); err != nil {
			return err
		}
		p.record(string(frame), answer{}, nil)
		if _, err := c.deliver(p.ctx, []byte(cancel)); err != nil {
			return newViolation("after a cancellation: %v", err)
		}
		return nil
	}
	ctx, stop := context.WithCancel(p.ctx)
	defer stop()
	if c.isModern() { // there the end of the stream is what cancels
		ctx = httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{WroteRequest: func(httptrace.WroteRequestInfo) { stop() }})
	}
	done := make(chan error, 1) // the goroutine is over before the trial is, which closes the connection
	go func() {
		_, err := c.exchange(ctx, frame)
		done <- err
	}()
	if !c.isModern() {
		a, err := p.exchange(cancel)
		if err != nil || a.status/100 == 5 {
			<-done
		}
		if err != nil {
			return newViolation("a cancellation: %v", err)
		}
		if a.status/100 == 5 {
			return newViolation("a cancellation: %s", a.summary())
		}
	}
	<-done // whatever it was
	a, err := p.exchange(string(c.harmlessRequest()))
	if err != nil {
		return newViolation("after a cancellation: %v", err)
	}
	return expectResult(a, "a request after a cancellation")
}

// tryProgress calls a tool with a token, which may be text or a number. Progress is up to the server; what comes has the token, and grows. The call
// is made without one first: what fails by itself says nothing of tokens.
func tryProgress(p *probe) error {
	name, args, err := p.tool(nil)
	if err != nil {
		return err
	}
	if err := p.goodRequest("tools/call", callParams(name, args, "")); err != nil {
		return err
	}
	c := p.conn
	for i, token := range []string{`"mcphud-token"`, `4711`} {
		frame := c.request("tools/call", []byte(`{"name":`+string(jsonrpc.Quote(name))+`,"arguments":`+args+`,"_meta":{"progressToken":`+token+`}}`))
		a, err := p.exchange(string(frame))
		if err != nil {
			return fmt.Errorf("tool %s with a progress token: %w", name, err)
		}
		if a.frame == nil {
			return newViolation("tool %s with progress token %d: %s", name, i+1, a.summary())
		}
		last := -1.0
		for _, o := range a.others {
			env, _ := jsonrpc.Scan(o)
			if env.Method != "notifications/progress" {
				continue
			}
			if got := string(jsonrpc.Get(env.Params, "progressToken")); !jsonrpc.SameID([]byte(got), []byte(token)) {
				return newViolation("progress for token %s, which is %s", got, token)
			}
			var now float64
			if _, err := fmt.Sscan(string(jsonrpc.Get(env.Params, "progress")), &now); err != nil || now <= last {
				return newViolation("progress %v after %v", now, last)
			}
			last = now
		}
	}
	return nil
}
