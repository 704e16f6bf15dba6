// Package calls is about calls of servers: those that were made, which the [History] keeps; those that somebody wrote down, in a [File] of a
// project; and a request of either, or of recorded traffic, that is sent once more ([Request]).
//
// All of them are a [Call]: what is asked and of whom, what the answer has to be, and what came. A [Runner] makes it.
package calls

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"time"

	"github.com/mcphud/mcphud/session/base/confine"
	"github.com/mcphud/mcphud/session/config"
	"github.com/mcphud/mcphud/session/traffic/expect"
)

// Verdicts on calls.
const (
	OK        = "ok"
	IsError   = "isError"   // the tool reported an error in its result
	RPCError  = "error"     // the server answered with a JSON-RPC error
	Cancelled = "cancelled" // by the user
	Timeout   = "timeout"
	Failed    = "failed"    // no answer for another reason: the connection ended, say
	Ongoing   = "task"      // it became a task that was left to go on
	Unmet     = "assertion" // it is not what was expected
	Skipped   = "skipped"   // it was not made: it needs what an earlier call did not give, or was left out by an interrupt
)

// The methods of calls.
const (
	ToolsCall     = "tools/call"
	PromptsGet    = "prompts/get"
	ResourcesRead = "resources/read"
)

// Call is one call. Nothing in it is secret: see package mask.
type Call struct {
	ID     int64   `json:"id"` // in the history, 0 elsewhere
	At     Time    `json:"at"`
	Took   float64 `json:"took_ms"`
	Server Server  `json:"server"` // the zero value where none is named
	Method string  `json:"method"` // ToolsCall, PromptsGet or ResourcesRead
	Target string  `json:"target"` // the name, or the URI

	Arguments json.RawMessage `json:"arguments,omitempty"` // nil for none, and where they were too large to keep
	Meta      json.RawMessage `json:"meta,omitempty"`
	Timeout   time.Duration   `json:"timeout,omitempty"` // 0: the usual one
	// Secrets are JSON pointers of what is not here, or hidden: into Arguments below /arguments, into Meta below /meta, and /uri for a
	// resource's URI. Whoever makes the call again has to give them once more.
	Secrets []string `json:"secrets,omitempty"`
	// Given are KEY=VALUE and KEY:=JSON, set on Arguments when the call is made.
	Given []string `json:"-"`

	Verdict string `json:"verdict"`
	Code    *int64 `json:"code,omitempty"`    // of a JSON-RPC error
	Message string `json:"message,omitempty"` // of an error
	Size    int64  `json:"size"`              // of the result as it was sent, in bytes
	Hash    string `json:"hash,omitempty"`    // SHA-256 of the result: as it is kept, or as it was sent where it is not
	Kept    bool   `json:"kept"`              // the result can be read

	// Name is one that somebody gave it, unique in the history; of a file that file's, without .yaml, and of a step FILE/STEP.
	Name   string `json:"name,omitempty"`
	Note   string `json:"note,omitempty"`
	Pinned bool   `json:"pinned,omitempty"` // it does not grow too old

	File string `json:"-"` // that it is in, "" for none
	Line int    `json:"-"` // where it begins there
	// Expect is what the answer has to be, Capture what is taken from it for later calls.
	Expect  expect.Expectations `json:"-"`
	Capture []Capture           `json:"-"`
	// Repeat is how often the call is made, each time with its assertions; 0 is once. Retry makes it again until they hold.
	Repeat int   `json:"-"`
	Retry  Retry `json:"-"`

	prepared bool // by Prepare, which leaves it as it is then
}

// Retry is how long a call is made again while its assertions fail, and how long to wait between. The zero value is not at all.
type Retry struct{ For, Every time.Duration }

// Time is one in milliseconds, in the local zone, as RFC 3339 in JSON.
type Time struct{ time.Time }

// Server is what is known of the server that is called.
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

// Config is the server as one that can be called again; false where only its name is known, which the configuration has, or not all
// of it.
func (s Server) Config() (config.Server, bool) {
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

// IsSet reports whether the server is named or described at all.
func (s Server) IsSet() bool { return s.Name != "" || s.Command != "" || s.URL != "" }
