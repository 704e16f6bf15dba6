package conform

import (
	"fmt"
	"strings"

	"github.com/mcphud/mcphud/session/base/jsonrpc"
	"github.com/mcphud/mcphud/session/check"
)

// messages try the rules of JSON-RPC.
var messages = []trial{
	{"ping", shared, tryPing},
	{"method-not-found", shared, tryUnknownMethod},
	{"invalid-params", shared, tryInvalidParams},
	{"parse-error", shared, tryParseError},
	{"invalid-request", shared, tryInvalidRequest},
	{"other-version", shared, tryOtherVersion},
	{"echo-string", shared, tryStrings},
	{"echo-number", shared, tryNumbers},
	{"echo-large", shared, tryLarge},
	{"null-id", shared, tryNullID},
	{"batch-refused", shared, tryBatchRefused},
	{"batch-served", shared, tryBatchServed},
	{"notification-answered", shared, tryNotifications},
	{"extra-members", shared, tryExtraMembers},
	{"concurrent", shared, tryConcurrent},
}

// tryPing allows _meta in the empty result, as in any (2025-11-25/basic#meta).
func tryPing(p *probe) error {
	a, err := p.call("ping", "")
	if err != nil {
		return err
	}
	if err := expectResult(a, "ping"); err != nil {
		return err
	}
	empty := true
	_ = jsonrpc.Members(a.result(), func(key string, _ []byte) bool { // it is an object, or has no members
		empty = empty && key == "_meta"
		return true
	})
	if !empty {
		return violatedAs(check.Warning, "the result of ping is not empty")
	}
	return nil
}

// nobody is a method that no server has, nor passes on.
const nobody = "mcphud/no-such-method"

// tryUnknownMethod goes easy on another code: that it is an error is what clients go by.
func tryUnknownMethod(p *probe) error {
	a, err := p.call(nobody, "")
	if err != nil {
		return err
	}
	if err := expectError(a, nobody, -32601); err != nil {
		if a.env.Error != nil {
			return violatedAs(check.Warning, "%v", err)
		}
		return err
	}
	if p.http != nil && p.conn.isModern() && a.status != 404 {
		return newViolation("%s: %s, not status 404", nobody, a.summary())
	}
	return nil
}

// tryInvalidParams sends a number for a name, which no schema of the method allows: what a server makes of it cannot be a call.
func tryInvalidParams(p *probe) error {
	method, params := "", ""
	switch {
	case p.declares("tools"):
		method, params = "tools/call", `{"name":5}`
	case p.declares("prompts"):
		method, params = "prompts/get", `{"name":5}`
	case p.declares("resources"):
		method, params = "resources/read", `{"uri":5}`
	default:
		return skip("the server declares nothing that has params")
	}
	a, err := p.call(method, params)
	if err != nil {
		return err
	}
	return expectError(a, method+" "+params, -32602)
}

// tryMalformed sends something that is not a message. A server should say so: over HTTP a status that is not a success does, over pipes the error
// with one of codes. The id of that is not looked at, which nobody can know where the message has none. That the server goes on is seen by deliver.
func (p *probe) tryMalformed(frame, what string, codes ...int64) error {
	a, err := p.exchangeUnchecked(frame)
	if err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	if p.http != nil && a.status/100 == 2 && a.env.Error == nil {
		return newViolation("%s: %s", what, a.summary())
	}
	if p.http == nil && a.frame == nil {
		return newViolation("%s is not answered", what)
	}
	if p.http != nil && a.frame == nil {
		return nil // an error status says enough
	}
	return expectError(a, what, codes...)
}

// tryParseError ends in the middle. Over a pipe the line end makes it a whole message, so that a server need not wait for more.
func tryParseError(p *probe) error {
	return p.tryMalformed(`{"jsonrpc":"2.0","id":1,"method":"ping"`, "a message that is cut off", -32700)
}

// tryInvalidRequest has an id, so that the server can say whose answer its error is.
func tryInvalidRequest(p *probe) error {
	return p.tryMalformed(`{"jsonrpc":"2.0","id":"mcphud-invalid","nothing":true}`, "an object without a method", -32600)
}

// tryOtherVersion is satisfied with silence: who takes it for another protocol need not answer.
func tryOtherVersion(p *probe) error {
	frame := strings.Replace(string(p.conn.harmlessRequest()), `"jsonrpc":"2.0"`, `"jsonrpc":"1.0"`, 1)
	a, err := p.exchangeUnchecked(frame)
	if err != nil {
		return err
	}
	if a.result() != nil {
		return newViolation("a request with jsonrpc \"1.0\": %s", a.summary())
	}
	return nil
}

// withID is a good request with an id, given as JSON.
func (p *probe) withID(id string) string {
	frame := p.conn.harmlessRequest()
	with, err := jsonrpc.Update(frame, jsonrpc.Set([]byte(id), "id"))
	if err != nil { // it is valid
		return string(frame)
	}
	return string(with)
}

// The ids that are tried: what servers that keep them as text or as a float confuse. 2^53-1 is the largest that each JSON library keeps.
// "7" and "0e0" are numbers to who does not look at the quotes.
func tryStrings(p *probe) error { return p.tryIDs(`"a"`, `"7"`, `""`, `"ü ✓ 😀"`, `"0e0"`) }
func tryNumbers(p *probe) error { return p.tryIDs(`0`, `-1`, `4294967296`) }
func tryLarge(p *probe) error   { return p.tryIDs(`9007199254740991`) }

// tryIDs makes requests with ids, given as JSON, each of which has to be that of its answer, in whatever spelling. Other escapes and 1.0 for 1 are
// the same id.
func (p *probe) tryIDs(ids ...string) error {
	for _, id := range ids {
		a, err := p.exchange(p.withID(id))
		if err != nil {
			return fmt.Errorf("id %s: %w", id, err)
		}
		if !jsonrpc.SameID(a.env.ID, []byte(id)) {
			return newViolation("id %s was answered with id %s", id, string(a.env.ID))
		}
	}
	return nil
}

// tryNullID: JSON-RPC allows null, MCP does not (2025-11-25/basic#requests). Silence is right, since a server may take it for a notification.
func tryNullID(p *probe) error {
	a, err := p.exchangeUnchecked(p.withID("null"))
	if err != nil {
		return err
	}
	if a.result() != nil {
		return newViolation("a request with id null: %s", a.summary())
	}
	return nil
}

// tryNotifications sends a request without its id as well: that is a notification by its shape, whatever its method. Over HTTP an error without an id is
// what refuses one (2025-11-25/basic/transports#sending-messages-to-the-server).
func tryNotifications(p *probe) error {
	frames := []string{`{"jsonrpc":"2.0","method":"notifications/mcphud-unknown","params":{"a":1}}`, `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"nobody asked this"}}`}
	if !p.conn.isModern() {
		frames = append(frames, `{"jsonrpc":"2.0","method":"ping"}`)
	}
	if p.http == nil { // what is answered comes with the answer to whatever follows all of them
		frames = []string{strings.Join(frames, "\n")}
	}
	for _, f := range frames {
		a, err := p.exchangeUnchecked(f)
		switch {
		case err != nil:
			return fmt.Errorf("after a notification: %w", err)
		case p.http == nil && a.frame != nil, a.result() != nil, a.env.Error != nil && a.env.ID != nil && string(a.env.ID) != "null":
			return newViolation("a message without an id was answered: %s", a.summary())
		}
	}
	return nil
}

// tryExtraMembers goes easy on params: a schema may close them, but _meta is open to everybody (2025-11-25/basic#meta).
func tryExtraMembers(p *probe) error {
	method := "server/discover"
	if !p.conn.isModern() {
		method = "ping"
	}
	method = p.firstListOr(method)
	a, err := p.call(method, `{"_meta":{"com.example/mcphud":{"a":[1]}}}`)
	if err != nil {
		return err
	}
	if err := expectResult(a, method+" with an unknown member of _meta"); err != nil {
		return err
	}
	if a, err = p.call(method, `{"mcphudUnknown":{"a":[1]}}`); err != nil {
		return err
	}
	if err := expectResult(a, method+" with an unknown member of params"); err != nil {
		return violatedAs(check.Warning, "%v", err)
	}
	return nil
}

// tryConcurrent sends many requests before the first answer can have come. Each has to be answered under its own id; in which order is up to the server.
func tryConcurrent(p *probe) error {
	const many = 20
	if p.http != nil {
		type outcome struct {
			id string
			a  answer
			e  error
		}
		all := make(chan outcome, many)
		for range many {
			frame := p.conn.harmlessRequest()
			env, _ := jsonrpc.Scan(frame)
			go func() {
				a, err := p.conn.exchange(p.ctx, frame)
				all <- outcome{string(env.ID), a, err}
			}()
		}
		var bad error
		for range many {
			o := <-all
			switch {
			case bad != nil:
			case o.e != nil:
				bad = o.e
			case !jsonrpc.SameID(o.a.env.ID, []byte(o.id)):
				bad = newViolation("of %d requests at a time, %s was answered with %s and id %s", many, o.id, o.a.summary(), string(o.a.env.ID))
			}
		}
		return bad
	}
	mark, want := p.conn.pipe.framesSoFar(), map[string]bool{}
	for range many {
		frame := p.conn.harmlessRequest()
		env, _ := jsonrpc.Scan(frame)
		want[string(env.ID)] = true
		if err := p.conn.pipe.write(p.ctx, frame, env); err != nil {
			return err
		}
	}
	isAnswer := func(e jsonrpc.Envelope) bool { return e.Result != nil || e.Error != nil } // a refusal is one, as it is over HTTP
	for len(want) > 0 {
		_, err := p.wait(mark, func(e jsonrpc.Envelope) bool { return want[string(e.ID)] && isAnswer(e) })
		if err != nil {
			return fmt.Errorf("of %d requests at a time, %d were not answered: %w", many, len(want), err)
		}
		_, envs := p.conn.pipe.framesAfter(mark)
		for _, e := range envs {
			if isAnswer(e) {
				delete(want, string(e.ID))
			}
		}
	}
	return nil
}
