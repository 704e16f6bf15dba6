package agentsrv

import (
	"cmp"
	"fmt"
	"log/slog"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/mark3labs/mcp-go/server"

	"github.com/mcphud/mcphud/agentsrv/tenant"
	"github.com/mcphud/mcphud/session/serve/agentclient"
	"github.com/mcphud/mcphud/session/serve/chat"
	"github.com/mcphud/mcphud/session/serve/natsconn"
	"github.com/mcphud/mcphud/session/serve/telemetry"
)

// Profile is what the agent is there for. Each has its own set of tools beside the basics; all have the queue, tasks and telemetry.
type Profile string

// The profiles.
const (
	// Demo is useful: a knowledge base, agents, sandboxed code, and a tool for each thing to debug. It has limits per tenant.
	Demo Profile = "demo"
	// Everything has every feature of the protocol, under the names that the official conformance suite looks for.
	Everything Profile = "everything"
	// Hostile serves what a client must survive, by name.
	Hostile Profile = "hostile"
	// Fault delays, drops, corrupts and refuses, by percentage and on demand.
	Fault Profile = "fault"
)

// Profiles are all profiles, the default first.
func Profiles() []Profile { return []Profile{Demo, Everything, Hostile, Fault} }

// What the zero Options mean.
const (
	DefaultPort              = 7000
	DefaultConcurrency       = 1
	DefaultQueueCapacity     = 100
	DefaultTimeout           = 30 * time.Second
	MaxTimeout               = 60 * time.Second // what no tool call may run beyond, whatever it asks for or reports
	DefaultDrainTimeout      = 10 * time.Second
	DefaultMaxRequest        = 10 << 20
	DefaultMaxLine           = 1 << 20
	DefaultRateLimit         = 100 // tool calls a minute and tenant, in the demo profile
	DefaultTenantConcurrency = 10  // tool calls at a time and tenant, in the demo profile
)

// Options say what the agent is. The zero value is a complete, usable agent: the demo, in memory, on a free loopback
// port.
type Options struct {
	Name    string  // serverInfo.name, default "mcphud-agent"
	Version string  // serverInfo.version, default "1.0.0"
	Profile Profile // default Demo

	Host string // address to listen on, default 127.0.0.1 (and ::1 where there is one); others need Token or JWKS
	Port int    // 0 picks a free one

	// WebSocket serves clients over WebSockets at the endpoint, too; SSE those of HTTP+SSE (2024-11-05) at /sse and /messages.
	WebSocket, SSE bool

	Token string // bearer token that callers must show, "" for none
	// TokenAnonymous says that Token is of a router which calls for everybody: sessions and tasks belong to whoever knows their
	// ids, as without a token, and stay so when the token is another.
	TokenAnonymous bool
	JWKS           string // file with the keys that sign callers' JWTs, "" for none
	// JWTAudience and JWTIssuer are what aud must contain and iss must be, "" for anything. Without an audience a token that
	// the same identity provider issued for another service is accepted.
	JWTAudience, JWTIssuer string
	// JWTScopes are those that a JWT has to have, all of them. With none it needs none.
	JWTScopes []string

	Tenants []string // the tenants that there are; none means that each well-formed id is one

	// KB are directories whose files are searched: DIR instead of the built-in texts, by all tenants, and TENANT=DIR by that
	// tenant instead, and by no other.
	KB   []string
	Root string // directory that read_file and list_dir see, "" for none
	// Entities are files of JSON lines for lookup_entity, as TENANT=FILE, or FILE for the tenant "default".
	Entities []string
	// Tools are offered beside those of the profile, and like them queued, checked by their input schemas, limited and traced.
	Tools []server.ServerTool
	// Store is a database file, which belongs to one running agent, or the URL of a database; "" keeps everything in memory and writes nothing.
	Store string
	// StoreLater makes Store only when there is something to keep. Where another agent has that file by then, it is one beside it: a
	// second agent goes on, with what it keeps by itself.
	StoreLater bool

	// Queue is NATS with JetStream, through which agents of one Name share their calls; the zero value is a queue in memory.
	Queue natsconn.Options

	Concurrency       int           // tool calls at a time in this process, default 1
	QueueCapacity     int           // tool calls that may wait, in all agents that share the queue; default 100, negative for no limit
	Timeout           time.Duration // of one tool call once it runs and reports no progress, default 30 s, at most MaxTimeout
	DrainTimeout      time.Duration // how long Close lets running calls finish, default 10 s
	MaxRequest        int64         // bytes of the largest request body, default 10 MiB
	MaxLine           int64         // bytes of the longest line of ServeStdio, default MaxRequest if that is given, else 1 MiB
	RateLimit         int           // tool calls a minute and tenant; 0 is the profile's, negative is no limit
	TenantConcurrency int           // tool calls at a time and tenant; 0 is the profile's, negative is no limit

	Batch    bool       // offer the experimental method tools/call_batch
	PageSize int        // items on one page of a list, 0 for all on one
	Model    chat.Model // what ask_agent asks, if anything
	// Embeddings is what search_knowledge_base searches by meaning with; the zero value stands for the vectors of words that the binary has.
	// It needs a Name.
	Embeddings chat.Model
	// FullText has search_knowledge_base search by words alone, where Embeddings is the zero value.
	FullText bool
	// Router is through which call_agent reaches other agents.
	Router agentclient.Options
	OTLP   string         // base URL of an OTLP/HTTP collector, "" for none
	Sink   telemetry.Sink // gets spans beside the collector, nil for nobody

	Logger *slog.Logger // nil discards
}

// complete fills in the defaults, and refuses what cannot be served, so that New opens nothing for nothing. Whether the agent may listen at Host without a token
// is not judged here but by tenant.MustAuth, which knows what counts as one.
func (o *Options) complete() error {
	o.Name = cmp.Or(o.Name, "mcphud-agent")
	o.Version = cmp.Or(o.Version, "1.0.0")
	o.Profile = cmp.Or(o.Profile, Demo)
	o.Host = cmp.Or(o.Host, "127.0.0.1")
	o.Concurrency = cmp.Or(o.Concurrency, DefaultConcurrency)
	o.QueueCapacity = cmp.Or(o.QueueCapacity, DefaultQueueCapacity)
	o.Timeout = cmp.Or(o.Timeout, DefaultTimeout)
	o.DrainTimeout = cmp.Or(o.DrainTimeout, DefaultDrainTimeout)
	o.MaxLine = cmp.Or(o.MaxLine, o.MaxRequest, DefaultMaxLine)
	o.MaxRequest = cmp.Or(o.MaxRequest, DefaultMaxRequest)
	if o.Profile == Demo {
		o.RateLimit = cmp.Or(o.RateLimit, DefaultRateLimit)
		o.TenantConcurrency = cmp.Or(o.TenantConcurrency, DefaultTenantConcurrency)
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	switch {
	case !slices.Contains(Profiles(), o.Profile):
		return fmt.Errorf("agent: unknown profile %q; the profiles are %s", o.Profile, names(Profiles()))
	case o.Port < 0 || o.Port > 65535:
		return fmt.Errorf("agent: port %d is not between 0 and 65535", o.Port)
	case o.Concurrency < 0:
		return fmt.Errorf("agent: concurrency %d is less than 1", o.Concurrency)
	case o.Timeout > MaxTimeout:
		return fmt.Errorf("agent: the timeout %v is more than %v, the limit of a tool call", o.Timeout, MaxTimeout)
	case o.Timeout < 0 || o.DrainTimeout < 0 || o.MaxRequest < 0 || o.MaxLine < 0:
		return fmt.Errorf("agent: a timeout or size is negative")
	case o.Embeddings.URL != "" && o.Embeddings.Name == "":
		return fmt.Errorf("agent: the embeddings at %s need a model; name one that the endpoint has", hostOf(o.Embeddings.URL))
	}
	bases, err := o.bases()
	if err != nil {
		return err
	}
	for _, dir := range bases {
		if err := directory("kb", dir); err != nil {
			return err
		}
	}
	if o.Root != "" {
		if err := directory("root", o.Root); err != nil {
			return err
		}
	}
	// Made only to see whether its options are right, before a database is opened.
	router, err := agentclient.New(o.Router)
	if err != nil {
		return fmt.Errorf("agent: %w", err)
	}
	router.Close()
	return nil
}

// hostOf is the host of a URL, which may hold a secret elsewhere.
func hostOf(address string) string {
	if u, err := url.Parse(address); err == nil {
		return u.Host
	}
	return "the endpoint"
}

// directory is an error unless dir is a directory; what names the option.
func directory(what, dir string) error {
	if info, err := os.Stat(dir); err != nil {
		return fmt.Errorf("agent: %s: %w; name a directory that exists", what, err)
	} else if !info.IsDir() {
		return fmt.Errorf("agent: %s: %s is a file; name the directory that it is in", what, dir)
	}
	return nil
}

// bases are the directories of KB by tenant, that of all others under "".
func (o *Options) bases() (map[string]string, error) {
	dirs := map[string]string{}
	for _, arg := range o.KB {
		id, dir := tenantPath(arg)
		if _, twice := dirs[id]; twice {
			return nil, fmt.Errorf("agent: kb: %s is the second directory for the same tenants; give one for all, and one for each tenant as TENANT=DIR", dir)
		}
		dirs[id] = dir
	}
	return dirs, nil
}

// tenantPath splits TENANT=PATH; where nothing that can name a tenant stands before a "=", all is the path.
func tenantPath(arg string) (id, path string) {
	if id, path, ok := strings.Cut(arg, "="); ok && tenant.ValidID(id) && !strings.ContainsAny(id, `/\`) {
		return id, path
	}
	return "", arg
}

// names lists profiles for a message.
func names(ps []Profile) string {
	var b []string
	for _, p := range ps {
		b = append(b, string(p))
	}
	return strings.Join(b, ", ")
}

// DefaultStore is the database file of an agent on a port: each has its own, below $XDG_STATE_HOME (~/.local/state where
// that is not set).
func DefaultStore(port int) (string, error) {
	base := os.Getenv("XDG_STATE_HOME")
	if !filepath.IsAbs(base) {
		home, err := os.UserHomeDir()
		if err != nil {
			return "", fmt.Errorf("agent: no place for the database: %w; set XDG_STATE_HOME, or keep nothing on disk", err)
		}
		base = filepath.Join(home, ".local", "state")
	}
	return filepath.Join(base, "mcphud", fmt.Sprintf("agent-%d.db", port)), nil
}

// Completed is o with its defaults filled in, or what about it cannot be. It starts nothing.
func (o Options) Completed() (Options, error) {
	err := o.complete()
	return o, err
}
