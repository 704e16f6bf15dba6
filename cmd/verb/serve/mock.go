package serve

import (
	"context"
	"errors"
	"fmt"
	"math"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/mcphud/mcphud/agentsrv/front"
	"github.com/mcphud/mcphud/agentsrv/profiles/mock"
	"github.com/mcphud/mcphud/cmd/cli"
	"github.com/mcphud/mcphud/cmd/cli/flags"
	"github.com/mcphud/mcphud/cmd/cli/output"
	"github.com/mcphud/mcphud/session/base/failure"
	"github.com/mcphud/mcphud/session/base/listen"
	"github.com/mcphud/mcphud/session/serve/fault"
	"github.com/mcphud/mcphud/session/wire/journal"
	"github.com/mcphud/mcphud/tui/safe"
)

// mockSettings are the flags of mock.
type mockSettings struct {
	port          int
	stdio, strict bool
	server        string
	protocol      string
	only          *cli.FilterFlag
	speed         speed
	fault         faults
}

func (a *app) mockCommand() *cobra.Command {
	s := mockSettings{speed: 1, protocol: cli.Protocols[0]}
	c := &cobra.Command{
		Use: "mock FILE", Annotations: cli.Rule("one"), Short: "Serve a file of recorded traffic as an MCP server",
		Long: "mock answers as the recorded server did: over HTTP on a free port of this machine, or over stdin and stdout with --stdio, in every revision of the protocol whatever it was recorded in. " +
			"It prints `listening on URL` on stderr when it is ready. A request with arguments that are not recorded gets the nearest recorded answer, " +
			"else an example of the tool's output schema; _meta and stderr say so.\n\n" +
			"mcphud help mock has the details.",
		Example: "  mcphud mock session.jsonl\n  mcphud mock session.jsonl --port 7100 --speed max\n  mcphud mock session.jsonl --server everything --strict\n" +
			"  mcphud -- mcphud mock session.jsonl --stdio",
		Args: cobra.ArbitraryArgs,
		RunE: a.Action(func(ctx context.Context, cmd *cobra.Command, args []string) error { return a.mock(ctx, cmd, args, &s) }),
	}
	f := c.Flags()
	f.Var(&flags.Number{Value: &s.port, Least: 0, Most: 65535}, "port", "listen on this `PORT`; 0 picks a free one")
	f.BoolVar(&s.stdio, "stdio", false, "serve stdin and stdout instead of HTTP")
	f.StringVar(&s.server, "server", "", "serve the recorded server of this `NAME`, where the file has several")
	s.only = cli.AddFilter(f)
	f.Lookup("filter").Usage = "serve only the calls that match this `EXPR`, such as tool:search (see mcphud help traffic)"
	f.Var(&s.speed, "speed", "answer `N` times as fast as it was recorded, or without pauses: max")
	f.BoolVar(&s.strict, "strict", false, "refuse what is not recorded")
	f.Var(&flags.Choice{Value: &s.protocol, Allowed: cli.Protocols}, "protocol", "speak only protocol `VERSION`: auto for all, or one of "+strings.Join(cli.Protocols[1:], ", "))
	f.Var(&s.fault, "fault", "inject faults over HTTP: `KEY=VALUE`, several with commas between, of delay_ms, delay_percent, drop_percent, error_percent, partial_percent and seed")
	_ = c.RegisterFlagCompletionFunc("protocol", cobra.FixedCompletions(cli.Protocols, cobra.ShellCompDirectiveNoFileComp))
	return c
}

func (a *app) mock(ctx context.Context, cmd *cobra.Command, args []string, s *mockSettings) (err error) {
	if name := cli.HiddenFlag(cmd); name != "" {
		return failure.UsageError("--"+name+" does not apply to mock, which is a server", "see mcphud mock --help")
	}
	switch {
	case len(args) != 1 || cmd.ArgsLenAtDash() >= 0:
		return failure.UsageError(fmt.Sprintf("mock takes one file, and got %d arguments", len(args)), "write mcphud mock FILE")
	case s.stdio && args[0] == "-":
		return failure.UsageError("standard input cannot be both the file and the client", "name a file, or leave --stdio out")
	case s.stdio && (cmd.Flags().Changed("port") || s.fault.given):
		return failure.UsageError("--port and --fault are for HTTP", "leave them out, or leave --stdio out")
	}
	if err := s.only.Parse(); err != nil {
		return err
	}
	file, err := a.Whole(ctx, args[0])
	if err != nil {
		return err
	}
	defer file.Close()
	o := mock.Options{Journal: file.Journal, Speed: float64(s.speed), Strict: s.strict, Logger: agentLogger(a.Err, "info")}
	if s.protocol != cli.Protocols[0] {
		o.Version = s.protocol
	}
	if !s.only.Filter.Empty() {
		o.Keep = func(e *journal.Entry) bool { return s.only.Filter.Match(file.Journal, e) }
	}
	names, err := s.servers(mock.Servers(file.Journal, o.Keep), args[0])
	if err != nil {
		return err
	}
	if s.fault.given {
		inject, err := fault.New(s.fault.plan)
		if err != nil {
			return failure.UsageError(err.Error(), "see mcphud mock --help")
		}
		o.Wrap = func(next http.Handler) http.Handler { return inject.Wrap(next) }
	}
	var mocks []*mock.Mock
	for _, o.Server = range names {
		m, err := mock.New(o)
		if err != nil {
			return err
		}
		defer func() {
			closing, cancel := context.WithTimeout(context.WithoutCancel(ctx), mockGrace)
			defer cancel()
			err = errors.Join(err, m.Close(closing))
		}()
		mocks = append(mocks, m)
	}
	if s.stdio {
		a.mocked(mocks[0].Summary(), "serving stdin and stdout")
		return mocks[0].ServeStdio(ctx, a.In, output.Stdout{File: a.Out})
	}
	return a.mockHTTP(ctx, mocks, names, s.port)
}

// mockGrace is what answers that are due get when the mock is stopped.
const mockGrace = time.Second

func (a *app) mocked(summary, where string) {
	_, _ = fmt.Fprintf(a.Err, "mock of %s; %s\n", safe.Line(summary, 200), where)
}

// servers are which of the recorded ones are served.
func (s *mockSettings) servers(all []string, file string) ([]string, error) {
	switch {
	case len(all) == 0 && s.only.Text != "":
		return nil, failure.UsageError("no recorded request matches --filter "+s.only.Text+": "+file, "leave --filter out to serve everything")
	case len(all) == 0:
		return nil, failure.UsageError("no request is recorded: "+file, "record a session with mcphud --journal FILE")
	case s.server != "" && !slices.Contains(all, s.server):
		return nil, failure.UsageError(fmt.Sprintf("no server %q is recorded: %s", s.server, file), output.DidYouMean(s.server, all)+"name one of "+namesShown(all))
	case s.server != "":
		return []string{s.server}, nil
	case len(all) > 1 && s.stdio:
		return nil, failure.UsageError(fmt.Sprintf("%d servers are recorded, and stdin and stdout can serve one: %s", len(all), file), "choose with --server: "+namesShown(all))
	}
	return all, nil
}

// namesShown are names for a message.
func namesShown(names []string) string {
	const most = 20
	rest := ""
	if len(names) > most {
		names, rest = names[:most], fmt.Sprintf(" and %d more", len(names)-most)
	}
	var out []string
	for _, n := range names {
		out = append(out, safe.Line(n, 60))
	}
	return strings.Join(out, ", ") + rest
}

// mockHTTP serves until a signal.
func (a *app) mockHTTP(ctx context.Context, mocks []*mock.Mock, names []string, port int) error {
	lns, err := listen.Listen(ctx, "127.0.0.1", port)
	if err != nil {
		return startFailure(err, "mock", "--port")
	}
	web := &http.Server{Handler: mocks[0].Handler()}
	base := "http://" + lns[0].Addr().String()
	if len(mocks) > 1 {
		web.Handler = mock.Several(mocks)
	}
	listen.Harden(web, 30*time.Second)
	failed := make(chan error, len(lns))
	for _, ln := range lns {
		go func() { failed <- web.Serve(ln) }()
	}
	for i, m := range mocks {
		path := front.Path
		if len(mocks) > 1 {
			path = mock.PathOf(names[i])
		}
		a.mocked(m.Summary(), "listening on "+base+path)
	}
	ended := 0
	select {
	case <-ctx.Done():
		err = nil
	case err = <-failed:
		ended = 1
	}
	_ = web.Close()
	for ; ended < len(lns); ended++ {
		<-failed
	}
	if errors.Is(err, http.ErrServerClosed) {
		return nil
	}
	return err
}

// speed is how many times as fast as it was recorded.
type speed float64

func (v *speed) String() string {
	if math.IsInf(float64(*v), 1) {
		return "max"
	}
	return strconv.FormatFloat(float64(*v), 'g', -1, 64)
}

func (v *speed) Set(s string) error {
	if s == "max" {
		*v = speed(math.Inf(1))
		return nil
	}
	f, err := strconv.ParseFloat(strings.TrimSuffix(s, "x"), 64)
	if err != nil || !(f >= 0.001 && f <= 1e6) {
		return errors.New("must be a number from 0.001 to 1000000, or max")
	}
	*v = speed(f)
	return nil
}

func (v *speed) Type() string { return "N" }

// faults is a fault plan in the words of the tool fault_set.
type faults struct {
	plan  fault.Plan
	given bool
}

func (f *faults) String() string { return "" }

func (f *faults) Set(s string) error {
	p := f.plan
	if !f.given {
		p.Seed = 1
	}
	percent := map[string]*float64{"delay_percent": &p.DelayPercent, "drop_percent": &p.DropPercent, "error_percent": &p.ErrorPercent, "partial_percent": &p.PartialPercent}
	for _, part := range strings.Split(s, ",") {
		key, value, _ := strings.Cut(strings.TrimSpace(part), "=")
		var err error
		switch to := percent[key]; {
		case to != nil:
			*to, err = strconv.ParseFloat(value, 64)
		case key == "delay_ms":
			var ms int64
			ms, err = strconv.ParseInt(value, 10, 64)
			p.Delay = time.Duration(min(max(ms, -1), fault.MaxDelay.Milliseconds()+1)) * time.Millisecond
		case key == "seed":
			p.Seed, err = strconv.ParseUint(value, 10, 64)
		default:
			return fmt.Errorf("%q is none of delay_ms, delay_percent, drop_percent, error_percent, partial_percent, seed", key)
		}
		if err != nil {
			return fmt.Errorf("%s: %q is not a number", key, value)
		}
	}
	if err := p.Check(); err != nil {
		return err
	}
	f.plan, f.given = p, true
	return nil
}

func (f *faults) Type() string { return "PLAN" }
