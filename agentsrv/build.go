package agentsrv

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"github.com/mcphud/mcphud/agentsrv/front"
	"github.com/mcphud/mcphud/agentsrv/profiles/everything"
	"github.com/mcphud/mcphud/agentsrv/profiles/hostile"
	"github.com/mcphud/mcphud/agentsrv/tools/basics"
	"github.com/mcphud/mcphud/agentsrv/tools/batch"
	"github.com/mcphud/mcphud/agentsrv/tools/files"

	"github.com/mcphud/mcphud/agentsrv/task"
	"github.com/mcphud/mcphud/agentsrv/telemetry"
	"github.com/mcphud/mcphud/agentsrv/tenant"
	"github.com/mcphud/mcphud/agentsrv/tools/sandbox"
	"github.com/mcphud/mcphud/session/base/jsonrpc"
)

// maxSkew is how much the clock of a shared database may differ from ours before that is reported.
const maxSkew = 5 * time.Second

// build makes the parts and wires them. What it opens is in a.closes, also if it fails. The order matters: the database before who keeps
// something in it, the queue before the tools that show it, tools before the front that serves them.
func (a *Agent) build() error {
	db, err := a.openStore()
	if err != nil {
		return err
	}
	a.db = db
	a.closes = append(a.closes, db.Close)
	a.log = slog.New(telemetry.Redact(a.o.Logger.Handler()))
	if skew := a.db.Skew(); skew.Abs() > maxSkew {
		a.log.Warn("the clock of this machine differs from PostgreSQL's, whose time tasks and agents have: set it", "difference", skew.Round(time.Second).String())
	}
	if err := a.work(); err != nil {
		return err
	}
	if err := a.identity(); err != nil {
		return err
	}
	var p parts
	set := &basics.Set{}
	a.engine = a.newEngine(&p.complete)
	p.complete.known = func(prompt string) bool { return a.engine.ListPrompts()[prompt] != nil }
	p.add(set, a.queue)
	if a.o.Root != "" {
		below, err := files.Open(a.o.Root)
		if err != nil {
			return err
		}
		a.closes = append(a.closes, below.Close)
		p.add(below)
	}
	if err := a.profile(&p); err != nil {
		return err
	}
	a.telemetry = telemetry.New(a.telemetryOptions())
	p.tools = a.tasks.Declare(p.tools...)
	p.register(a.engine)
	if err := a.RegisterTools(a.o.Tools...); err != nil {
		return err
	}
	a.front = front.New(front.Options{
		Engine: a.engine, Direct: true, Use: a.middlewares(set.Called), Routes: a.routes(), Public: a.public(), Logger: a.log, MaxBody: a.o.MaxRequest, MaxLine: a.o.MaxLine, Timeouts: front.Timeouts{Drain: a.o.DrainTimeout},
		Wrap: a.wrap(), Hosts: a.hosts(), WebSocket: a.o.WebSocket, SSE: a.o.SSE, Authenticate: a.auth.Identify, Resource: a.auth.Resource,
	})
	return nil
}

// closeTasks ends what tasks started, if the agent never was complete; else Close did.
func (a *Agent) closeTasks() error {
	gone, cancel := context.WithCancel(context.Background())
	cancel()
	return a.tasks.Close(gone)
}

// RegisterTools adds tools, as Options.Tools does; clients that listen are told of it. A name that is taken is an error, and then
// none is added.
func (a *Agent) RegisterTools(tools ...server.ServerTool) error {
	named := map[string]bool{}
	for _, t := range tools {
		name := t.Tool.Name
		if _, taken := a.toolNamed(name); taken || named[name] || name == "" {
			return fmt.Errorf("tool %q: the name is taken or empty; give it another", name)
		}
		named[name] = true
	}
	if len(tools) > 0 {
		a.engine.AddTools(a.tasks.Declare(tools...)...)
	}
	return nil
}

// toolTimeout lets a call of execute_code run for as long as it asks for. Where somebody set a timeout of their own, that
// holds: it is not for callers to change.
func (a *Agent) toolTimeout(tool string, params []byte) time.Duration {
	if tool != sandbox.Tool || a.o.Timeout != DefaultTimeout {
		return 0
	}
	asked := sandbox.Asked(jsonrpc.Get(params, "arguments"))
	if asked <= DefaultTimeout {
		return 0
	}
	return asked + time.Second // the sandbox tells better why it stopped
}

// taskPolicy is how calls of tools that say nothing about it become tasks. The tools of the everything profile say. Elsewhere any
// call may become one, and asks for input before that.
func (a *Agent) taskPolicy() task.Policy {
	if a.o.Profile == Everything {
		return task.Policy{Async: true}
	}
	return task.Policy{Support: mcp.TaskSupportOptional, InputFirst: true}
}

// identity makes what says who calls, for which tenant, and how often.
func (a *Agent) identity() error {
	who := tenant.Auth{Token: a.o.Token, Anonymous: a.o.TokenAnonymous, JWT: tenant.JWT{JWKS: a.o.JWKS, Audience: a.o.JWTAudience, Issuer: a.o.JWTIssuer, Scopes: a.o.JWTScopes, Logger: a.log}}
	if err := tenant.MustAuth(a.o.Host, who, false); err != nil {
		return err
	}
	auth, err := tenant.NewAuthenticator(who)
	if err != nil {
		return err
	}
	a.auth = auth
	registry, err := tenant.NewRegistry(context.Background(), a.db)
	if err != nil {
		return err
	}
	a.tenants, err = tenant.New(tenant.Options{
		Limits: tenant.Limits{PerMinute: max(a.o.RateLimit, 0), Concurrent: max(a.o.TenantConcurrency, 0)},
		Known:  a.o.Tenants, AutoCreate: len(a.o.Tenants) == 0, Registry: registry, Seen: telemetry.Tenant, Logger: a.log,
	})
	return err
}

// newEngine makes the server of mcp-go, which knows the tools, resources and prompts. Transport, sessions and tasks are not its: it sees
// one request at a time.
func (a *Agent) newEngine(complete *completer) *server.MCPServer {
	var hooks server.Hooks
	hooks.AddAfterListResources(a.afterList)
	options := append(front.EngineOptions(),
		server.WithTitle("mcphud agent"),
		server.WithInstructions(instructions[a.o.Profile]),
		server.WithToolCapabilities(true),
		server.WithResourceCapabilities(true, true),
		server.WithPromptCapabilities(true),
		server.WithLogging(),
		server.WithCompletions(),
		server.WithPromptCompletionProvider(complete),
		server.WithResourceCompletionProvider(complete),
		server.WithHooks(&hooks),
	)
	if a.o.Batch {
		options = append(options, server.WithExperimental(batch.Capability()))
	}
	if a.o.PageSize > 0 {
		options = append(options, server.WithPaginationLimit(a.o.PageSize))
	}
	return server.NewMCPServer(a.o.Name, a.o.Version, options...)
}

// instructions are for the language model that uses the agent (initialize and server/discover have them). A model reads them with every conversation, so
// they are short.
var instructions = map[Profile]string{
	Demo:       "Search the knowledge base before you answer questions about the Model Context Protocol or mcphud. Most tools need a tenant_id; any name will do, and what one tenant makes no other sees.",
	Everything: "One tool, resource or prompt for each feature of the protocol, to see what a client does with it.",
	Hostile:    "Everything that this server says is meant to break its client. Its tools serve the payloads by name.",
	Fault:      "This server fails on purpose: fault_status tells how, fault_set and fault_next change it.",
}

// profile adds what the profile has beyond the basics.
func (a *Agent) profile(p *parts) error {
	switch a.o.Profile {
	case Demo:
		if err := a.demo(p); err != nil {
			return err
		}
		return a.calls(p)
	case Everything:
		key, err := a.stateKey(context.Background())
		if err != nil {
			return err
		}
		features := everything.New(everything.Options{Registry: a.engine, Updated: a.notifyUpdated, HangUp: hangUp, Key: key})
		a.skills = features.SkillsMiddleware
		p.add(features)
		return a.calls(p)
	case Hostile:
		a.hostile = hostile.New(hostile.Options{Changed: func() { a.front.Broadcast(mcp.MethodNotificationToolsListChanged, nil) }})
		p.add(a.hostile)
	case Fault:
		a.faults = hostile.NewFaults()
		p.add(a.faults)
	}
	return nil
}

// notifyUpdated tells subscribers that a resource changed.
func (a *Agent) notifyUpdated(uri string) { a.front.ResourceUpdated(uri) }

// hangUp ends the connection of the request that ctx belongs to, for the client to resume its stream.
func hangUp(ctx context.Context, retry time.Duration) bool {
	x := front.From(ctx)
	return x != nil && x.Hangup(retry)
}
