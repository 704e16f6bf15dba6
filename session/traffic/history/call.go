// Package history keeps the calls that were made on disk, without their secrets, so that they can be found, compared and made
// again after a restart. It is one SQLite file that several processes use at once.
package history

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"time"

	"github.com/mcphud/mcphud/session"
	"github.com/mcphud/mcphud/session/base/confine"
	"github.com/mcphud/mcphud/session/base/failure"
	"github.com/mcphud/mcphud/session/base/mask"
	"github.com/mcphud/mcphud/session/config"
	"github.com/mcphud/mcphud/session/offer"

	"github.com/mcphud/mcphud/session/base/text"
)

// Verdicts on calls.
const (
	OK        = "ok"
	IsError   = "isError"   // the tool reported an error in its result
	RPCError  = "error"     // the server answered with a JSON-RPC error
	Cancelled = "cancelled" // by the user
	Timeout   = "timeout"
	Failed    = "failed" // no answer for another reason: the connection ended, say
	Ongoing   = "task"   // it became a task that was left to go on
)

// Call is one call that was made. Nothing in it is secret: see package secret.
type Call struct {
	ID     int64   `json:"id"`
	At     Time    `json:"at"`
	Took   float64 `json:"took_ms"`
	Server Server  `json:"server"`
	Method string  `json:"method"` // tools/call, prompts/get or resources/read
	Target string  `json:"target"` // the name, or the URI

	Arguments json.RawMessage `json:"arguments,omitempty"` // nil for none, and where they were too large to keep
	Meta      json.RawMessage `json:"meta,omitempty"`
	Timeout   time.Duration   `json:"timeout,omitempty"` // 0: the usual one
	// Secrets are JSON pointers of what was hidden: into Arguments below /arguments, into Meta below /meta, and /uri for a resource's
	// URI. Whoever makes the call again has to give them once more.
	Secrets []string `json:"secrets,omitempty"`

	Verdict string `json:"verdict"`
	Code    *int64 `json:"code,omitempty"`    // of a JSON-RPC error
	Message string `json:"message,omitempty"` // of an error
	Size    int64  `json:"size"`              // of the result as it was sent, in bytes
	Hash    string `json:"hash,omitempty"`    // SHA-256 of the result: as it is kept, or as it was sent where it is not
	Kept    bool   `json:"kept"`              // the result can be read

	Name   string `json:"name,omitempty"` // that somebody gave it, unique
	Note   string `json:"note,omitempty"`
	Pinned bool   `json:"pinned,omitempty"` // it does not grow too old
}

// Time is one in milliseconds, in the local zone, as RFC 3339 in JSON.
type Time struct{ time.Time }

// Server is what is known of the server that was called.
type Server struct {
	Name      string         `json:"name"`
	Unnamed   bool           `json:"unnamed,omitempty"` // nobody chose the name: it was given by its command or URL
	Title     string         `json:"title,omitempty"`
	Transport string         `json:"transport,omitempty"`
	Command   string         `json:"command,omitempty"` // of an unnamed one
	Args      []string       `json:"args,omitempty"`
	Cwd       string         `json:"cwd,omitempty"`
	Sandbox   *confine.Rules `json:"sandbox,omitempty"`
	URL       string         `json:"url,omitempty"`
	// Partial says that it was called with something that is not kept, since it may be secret: variables, headers, parts of the
	// command or the URL.
	Partial  bool   `json:"partial,omitempty"`
	Info     string `json:"info,omitempty"`     // serverInfo: name and version
	Protocol string `json:"protocol,omitempty"` // version

	identity string
}

// Identity tells servers apart: by the file and name of their entry, or by what an unnamed one runs, and where, if that matters. A
// named one keeps its history when its entry changes.
func Identity(s config.Server) string {
	id := "entry\x00" + s.Source.File + "\x00" + s.Name
	if s.Unnamed {
		where := s
		where.Cwd, where.Sandbox = "", nil
		id = "target\x00" + where.Fingerprint()
		if dir := s.Local(); dir != "" {
			id += "\x00" + dir
		}
	}
	sum := sha256.Sum256([]byte(id))
	return hex.EncodeToString(sum[:16])
}

const (
	maxTarget    = 16 << 10 // bytes of a name or URI that are kept
	maxText      = 2000     // of a message
	maxArguments = 1 << 20  // of arguments and metadata; larger ones are not kept
	maxResult    = 4 << 20  // of a result; of a larger one size and hash are
)

// entry is a call as it is written.
type entry struct {
	Call
	result []byte // masked; nil if there is none, or it is not kept
}

// of makes an entry of a call that is over.
func of(m session.Made) entry {
	e := entry{Call: Call{
		At: Time{m.Started}, Took: float64(m.Took.Microseconds()) / 1000, Server: server(m),
		Method: m.Method, Timeout: m.Timeout, Size: int64(len(m.Reply.Result)),
	}}
	e.Target = text.Clip(m.Target, maxTarget)
	if clean := mask.Text(mask.URL(e.Target)); m.Method == "resources/read" && clean != m.Target {
		e.Target, e.Secrets = clean, append(e.Secrets, "/uri")
	}
	rule := mask.RuleOf(m.Schema)
	keep := func(value json.RawMessage, rule mask.Rule, below string) json.RawMessage {
		if len(value) == 0 || len(value) > maxArguments {
			if len(value) > 0 {
				e.Secrets = append(e.Secrets, below)
			}
			return nil
		}
		clean, places := rule.Hide(value)
		for _, p := range places {
			e.Secrets = append(e.Secrets, below+p)
		}
		return clean
	}
	e.Arguments = keep(m.Arguments, rule, "/arguments")
	e.Meta = keep(m.Meta, mask.Rule{}, "/meta")
	rule = rule.After(m.Arguments)
	e.judge(m, rule)
	if n := len(m.Reply.Result); n > 0 {
		result := []byte(m.Reply.Result)
		if n <= maxResult {
			result, _ = rule.Hide(result)
			e.result, e.Kept = result, true
		}
		sum := sha256.Sum256(result)
		e.Hash = hex.EncodeToString(sum[:])
	}
	return e
}

// judge says how the call went.
func (e *entry) judge(m session.Made, rule mask.Rule) {
	var f *failure.Error
	switch {
	case m.Err == nil && m.Reply.Ongoing:
		e.Verdict = Ongoing
	case m.Err == nil && m.Method == "tools/call" && offer.IsError(m.Reply.Result):
		e.Verdict = IsError
	case m.Err == nil:
		e.Verdict = OK
	case errors.Is(m.Err, context.Canceled) || failure.KindOf(m.Err) == failure.Interrupted:
		e.Verdict = Cancelled
	case failure.KindOf(m.Err) == failure.Timeout:
		e.Verdict = Timeout
	case errors.As(m.Err, &f) && f.Code != nil:
		e.Verdict, e.Code = RPCError, f.Code
	default:
		e.Verdict = Failed
	}
	if m.Err != nil {
		message := m.Err.Error()
		if errors.As(m.Err, &f) {
			message = f.Message
		}
		e.Message = text.Clip(rule.Clean(message), maxText)
	}
}

func server(m session.Made) Server {
	s := ServerOf(m.Server)
	s.Transport, s.Protocol = m.Transport, m.Version
	if m.Title != m.Server.Name {
		s.Title = text.Clip(mask.Text(m.Title), 200)
	}
	var info struct{ Name, Version string }
	if json.Unmarshal(m.Info, &info) == nil {
		s.Info = text.Clip(mask.Text(info.Name+" "+info.Version), 200)
	}
	return s
}

// ServerOf is what is kept of a server, its secrets hidden.
func ServerOf(cfg config.Server) Server {
	s := Server{Name: cfg.Name, Unnamed: cfg.Unnamed, Transport: cfg.Transport, identity: Identity(cfg)}
	if !cfg.Unnamed {
		return s
	}
	clean := cfg.Masked()
	s.Command, s.Args, s.URL = clean.Command, clean.Args, clean.URL
	if cfg.Command != "" {
		s.Cwd, s.Sandbox = cfg.WorkingDir(), cfg.Sandbox.Clone()
	}
	s.Partial = len(cfg.Env)+len(cfg.Headers) > 0 || clean.Fingerprint() != cfg.Fingerprint()
	return s
}

// Of is the server as one that can be called again; false where only its name is known, which the configuration has, or not all
// of it.
func (s Server) Of() (config.Server, bool) {
	switch {
	case !s.Unnamed || s.Partial:
		return config.Server{}, false
	case s.Command != "":
		c := config.OfCommand(s.Command, s.Args...)
		c.Cwd, c.Sandbox = s.Cwd, s.Sandbox.Clone()
		return c, true
	}
	return config.Server{Name: s.Name, Unnamed: true, Transport: cmp.Or(s.Transport, config.Auto), URL: s.URL}, s.URL != ""
}

// Identity is what [Identity] says of the server's configuration.
func (s Server) Identity() string { return s.identity }

// Where is what to call the server.
func (s Server) Where() string { return cmp.Or(s.Title, s.Name) }
