package session

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/mcphud/mcphud/session/base/failure"
	"github.com/mcphud/mcphud/session/base/jsonrpc"
	"github.com/mcphud/mcphud/session/base/text"
	"github.com/mcphud/mcphud/session/wire/rpc"
)

// ParseMeta makes an object for Options.Meta and SetMeta of words: KEY=VALUE is a string, KEY:=JSON any value. Keys are taken as they
// are, dots and slashes included. Nil for no words.
func ParseMeta(words []string) (meta json.RawMessage, err error) {
	for _, w := range words {
		key, value, ok := strings.Cut(w, "=")
		raw := jsonrpc.Quote(value)
		if k, typed := strings.CutSuffix(key, ":"); typed {
			key, raw = k, []byte(value)
			ok = ok && jsonrpc.Valid(raw) == nil
		}
		if !ok || key == "" {
			return nil, &failure.Error{Kind: failure.Usage, Message: "not metadata: " + text.Clip(w, 100), Next: "write KEY=VALUE, or KEY:=JSON"}
		}
		if meta == nil {
			meta = json.RawMessage("{}")
		}
		if meta, err = jsonrpc.Update(meta, jsonrpc.Set(raw, key)); err != nil {
			return nil, err
		}
	}
	return meta, CheckMeta(meta)
}

// MetaWords are the words of which ParseMeta makes meta, one a member.
func MetaWords(meta json.RawMessage) (words []string) {
	_ = jsonrpc.Members(meta, func(key string, value []byte) bool {
		if s, ok := jsonrpc.String(value); ok {
			words = append(words, key+"="+s)
		} else {
			words = append(words, key+":="+string(value))
		}
		return true
	})
	return words
}

// CheckMeta refuses what cannot go with every request.
func CheckMeta(meta json.RawMessage) error {
	all, err := members(meta, "the metadata")
	if err != nil {
		return err
	}
	if slices.ContainsFunc(all, func(m rpc.Member) bool { return m.Name == "progressToken" }) {
		return &failure.Error{Kind: failure.Usage, Message: "progressToken cannot be set: it is another one with each request", Next: "leave it out"}
	}
	return nil
}

// SetMeta adds the members of an object to params._meta of every request from now on, but for those that the request has itself; nil adds none.
// Health checks and the handshake go without. What was listed is asked for again: a server may list something else for another tenant.
func (s *Session) SetMeta(meta json.RawMessage) error {
	if err := CheckMeta(meta); err != nil {
		return err
	}
	s.meta.Store(&meta)
	s.Invalidate()
	if c := s.current(); c != nil {
		c.wake()
	}
	return nil
}

// Meta is what SetMeta or Options.Meta set.
func (s *Session) Meta() json.RawMessage { return *s.meta.Load() }

// withMeta are own members, and those of every request.
func (s *Session) withMeta(own []rpc.Member) []rpc.Member {
	all, err := members(s.Meta(), "the metadata")
	if err != nil { // it was checked
		return own
	}
	r := rpc.Request{Meta: slices.Clip(own)}
	for _, m := range all {
		r.SetMeta(m.Name, m.Value)
	}
	return r.Meta
}
