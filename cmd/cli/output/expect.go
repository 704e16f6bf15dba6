package output

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/mcphud/mcphud/cmd/cli/flags"
	"github.com/mcphud/mcphud/session/base/failure"
	"github.com/mcphud/mcphud/session/traffic/expect"
)

// Expected are the flags that say what the answer of a command has to be.
type Expected struct {
	Queries []string
	Schema  string
	Latency time.Duration

	All expect.Expectations // of the flags, by prepare
}

// Register adds the flags to a command and those below it.
func (e *Expected) Register(c *cobra.Command) {
	f := c.PersistentFlags()
	f.StringArrayVar(&e.Queries, "expect", nil, "fail with exit code 9 unless `JQ` gives neither false nor null for the answer (repeatable)")
	f.StringVar(&e.Schema, "expect-schema", "", "fail with exit code 9 unless the answer is valid by the JSON Schema in `FILE`")
	f.DurationVar(&e.Latency, "max-latency", 0, "fail with exit code 9 if the answer took longer than `TIME`")
	flags.Grouped(f, flags.GroupExpected, "expect", "expect-schema", "max-latency")
}

// Prepare reads what the flags name, before anything is sent.
func (e *Expected) Prepare(cmd *cobra.Command) error {
	e.All = expect.Expectations{MaxLatency: e.Latency}
	if e.Latency <= 0 && cmd.Flags().Changed("max-latency") {
		return failure.UsageError(fmt.Sprintf("--max-latency is %v, and must be more than 0", e.Latency), "give it as 300ms or 2s")
	}
	for _, text := range e.Queries {
		q, err := expect.Parse(text)
		if err != nil {
			return &failure.Error{Kind: failure.Usage, Message: "--expect: " + err.Error(), Err: err, Next: "correct the expression; nothing was sent"}
		}
		e.All.Queries = append(e.All.Queries, q)
	}
	if e.Schema == "" {
		return nil
	}
	f, err := os.Open(e.Schema)
	if err != nil {
		return failure.UsageError("--expect-schema: "+err.Error(), "name a file that can be read")
	}
	raw, err := flags.ReadAll(f, 8<<20)
	if err = errors.Join(err, f.Close()); err == nil {
		e.All.Schema, err = expect.ParseSchema(e.Schema, raw)
	}
	if err != nil {
		return &failure.Error{Kind: failure.Usage, Message: "--expect-schema " + e.Schema + ": " + err.Error(), Err: err, Next: "correct the schema; nothing was sent"}
	}
	return nil
}

// Judge is the error of an answer, after it was printed, that is not what the flags say.
func (p *Printer) Judge(a Answer) error {
	if p.Expect == nil || !p.Expect.Any() || a.Result == nil {
		return nil
	}
	took := a.Took
	if took == 0 {
		took = time.Since(p.Began)
	}
	failed := p.Expect.Check(context.Background(), expect.Answer{Result: a.Result, Took: took}) // each assertion has its own limits
	return expect.Failure("", "", failed)
}

// JudgesToolError reports whether a tool's own error was asked for, so that it is not a failure by itself.
func (p *Printer) JudgesToolError() bool { return p.Expect != nil && p.Expect.JudgesToolError() }
