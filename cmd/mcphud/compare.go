package main

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/mcphud/mcphud/session"
	"github.com/mcphud/mcphud/session/base/failure"
	"github.com/mcphud/mcphud/session/base/text"
	"github.com/mcphud/mcphud/session/config"
	"github.com/mcphud/mcphud/session/offer"
	"github.com/mcphud/mcphud/session/traffic/again"
	"github.com/mcphud/mcphud/session/traffic/compare"
)

// comparing is a second target that is asked the same.
type comparing struct {
	cmd    *cobra.Command
	target string
	twice  bool
	ignore ignoring
}

const comparingHelp = "--compare TARGET asks a second server the same and prints how its answer differs, by JSON pointer: exit code 9 where it does. TARGET is a URL, a NAME of the configs, " +
	"agent:NAME, protocol:VERSION for the same server in another protocol version, or a command line. Where asking twice does no harm (a read-only or idempotent tool, or --twice), " +
	"what two equal calls of the first server differ in does not count. Elsewhere what looks like a clock, an id or a duration is called a possible difference, and counts. " + ignoringHelp

func (c *comparing) register(cmd *cobra.Command) {
	c.cmd = cmd
	cmd.Flags().StringVar(&c.target, "compare", "", "ask `TARGET` the same, and print how its answer differs: a URL, NAME, agent:NAME, protocol:VERSION or a command line")
	cmd.Flags().BoolVar(&c.twice, "twice", false, "with --compare, ask twice to learn what varies, also where that may do something twice")
	c.ignore.register(cmd.Flags(), "with --compare, ignore")
}

// asked reports whether there is a second target.
func (c *comparing) asked() (bool, error) {
	if c.target == "" && (c.twice || len(c.ignore.places) > 0 || c.cmd.Flags().Changed("compare")) {
		return false, usageError("no second target was named", "name one with --compare TARGET")
	}
	return c.target != "", c.ignore.parse()
}

// second is the configuration of the second target.
func (a *app) second(first config.Server, c *comparing) (s config.Server, err error) {
	switch kind, name, _ := strings.Cut(c.target, ":"); {
	case kind == "protocol":
		s = first
		s.Protocol = name
	case kind == "agent":
		s, err = agentServer(name)
	case config.IsURL(c.target):
		s, err = a.o.urlServer(c.target)
	default:
		words, bad := text.Words(c.target)
		if bad != nil {
			return s, usageError("--compare: "+bad.Error(), "quote it as a shell has it")
		}
		if len(words) == 1 {
			s, err = a.o.configured(words[0])
		} else {
			s, err = stdioServer(words)
		}
	}
	if err != nil {
		return s, err
	}
	if kind := "protocol:"; !strings.HasPrefix(c.target, kind) {
		a.o.limits(c.cmd, &s)
	}
	s.NoReconnect = true
	return s, nil
}

// beside connects to a second server, for as long as f runs. It has a name of its own.
func (a *app) beside(ctx context.Context, l *link, cfg config.Server, f func(*link) error) error {
	cfg, err := a.filled(ctx, cfg)
	if err != nil {
		return err
	}
	for n, name := 2, cfg.Name; ; n++ {
		if _, taken := l.manager.Server(cfg.Name); !taken {
			break
		}
		cfg.Name = fmt.Sprintf("%s-%d", name, n)
	}
	s, err := l.manager.Register(cfg)
	if err != nil {
		return err
	}
	second := *l
	second.Session = s
	return a.loggedIn(ctx, s, func() error {
		if err := s.Connect(ctx); err != nil {
			return err
		}
		return f(&second)
	})
}

// comparedAnswer is one of two answers, as it is printed.
type comparedAnswer struct {
	Server   string  `json:"server"`
	Protocol string  `json:"protocol"`
	Millis   float64 `json:"ms"`
	Bytes    int     `json:"bytes"`
	Failed   bool    `json:"failed"`
}

func answerOf(a again.Answer) comparedAnswer {
	return comparedAnswer{a.Server, a.Version, float64(a.Took.Microseconds()) / 1000, len(a.Frame), a.Failed()}
}

// comparedTargets is how the answers of two servers differ, as it is printed.
type comparedTargets struct {
	Same        bool                 `json:"same"`
	Real        int                  `json:"real"`
	Guesses     int                  `json:"guesses"` // differences that may be noise, and count
	Expected    int                  `json:"expected"`
	Note        string               `json:"note,omitempty"`
	Before      comparedAnswer       `json:"before"`
	After       comparedAnswer       `json:"after"`
	Twice       bool                 `json:"twice"` // asked twice to learn what varies
	Differences []compare.Difference `json:"differences"`
	More        int                  `json:"more,omitempty"` // that are not listed
}

// compared asks both targets the same, and prints how the answers differ.
func (a *app) compared(ctx context.Context, l *link, method string, params json.RawMessage, c *comparing) error {
	req, err := again.New(l.Name(), method, params)
	if err != nil {
		return &failure.Error{Kind: failure.Usage, Message: err.Error(), Err: err, Next: "correct the request"}
	}
	cfg, err := a.second(l.Config(), c)
	if err != nil {
		return err
	}
	return a.beside(ctx, l, cfg, func(second *link) error {
		if err := second.mayAsk(ctx, req); err != nil {
			return err
		}
		out, frames, r, err := l.both(ctx, second, req, c)
		if err != nil {
			return err
		}
		raw, err := marshal(out)
		if err != nil {
			return err
		}
		if err := l.print(answer{result: raw, frames: frames, text: func(t *textOutput) {
			t.table(l.out.width, [][]string{answerRow("before", out.Before), answerRow("after", out.After)})
			t.block(r.Summary())
			t.differences(r)
		}}); err != nil || r.Same() {
			return err
		}
		next := ""
		if r.Real() == 0 {
			next = "see the differences; leave out what may vary: " + allow(r)
			if !out.Twice {
				next += ", or learn it with --twice"
			}
		}
		return &failure.Error{Kind: failure.Assertion, Stage: method, Message: "the answers differ: " + r.Summary(), Next: next}
	})
}

func answerRow(name string, a comparedAnswer) []string {
	return []string{name, a.Server, a.Protocol, text.Duration(time.Duration(a.Millis * float64(time.Millisecond))), text.Bytes(a.Bytes)}
}

// mayAsk refuses a request for what the server does not have, and asks before a tool that destroys.
func (l *link) mayAsk(ctx context.Context, req again.Request) error {
	if req.Tool() == "" {
		return nil
	}
	if _, err := l.List(ctx, offer.Tools); err != nil {
		return err
	}
	it, ok := req.Item(l.Session)
	if !ok {
		_, err := findTool(ctx, l, req.Tool()) // says what is like it
		return err
	}
	return l.allow(ctx, it, req.Arguments())
}

// both asks two servers the same, and where it may, or is told to, the first one twice.
func (l *link) both(ctx context.Context, second *link, req again.Request, c *comparing) (out comparedTargets, frames [][]byte, r compare.Result, err error) {
	send := func(l *link) (again.Answer, error) {
		return req.Send(ctx, l.Session, l.journal, session.CallOptions{OnProgress: l.side.report})
	}
	before, err := send(l)
	if err != nil {
		return out, nil, r, err
	}
	after, err := send(second)
	if err != nil {
		return out, nil, r, err
	}
	learn := func() (*compare.Noise, error) {
		third, err := send(l)
		return again.Learn(before, third), err
	}
	if !c.twice && !req.Repeatable(l.Session) {
		learn = nil
	}
	r, twice, err := c.ignore.compared(ctx, before, after, c.twice, learn)
	if err != nil {
		return out, nil, r, err
	}
	return comparedTargets{
		r.Same(), r.Real(), r.Guesses(), r.Noise(), r.Note, answerOf(before), answerOf(after), twice, r.Differences, r.More,
	}, [][]byte{before.Frame, after.Frame}, r, nil
}

// differences writes how two values differ, a line for each.
func (t *textOutput) differences(r compare.Result) {
	for _, d := range r.Differences {
		line := string(d.Op) + " " + d.Place() + ": "
		if d.Op == compare.Changed || d.Op == compare.Reordered {
			line += text.Clip(string(d.Before), 100) + " → "
		}
		value := d.After
		if d.Op == compare.Removed {
			value = d.Before
		}
		line += text.Clip(string(value), 100)
		switch d.Class {
		case compare.Real:
		case compare.Guess:
			line += " (guess: " + d.Reason + ")"
		default:
			line += " (" + d.Reason + ")"
		}
		t.block(line)
	}
	if r.More > 0 {
		t.block(fmt.Sprintf("… and %d more", r.More))
	}
}
