package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/mcphud/mcphud/session/base/failure"
	"github.com/mcphud/mcphud/session/traffic/expect"
)

// expected are the flags that say what the answer of a command has to be.
type expected struct {
	queries []string
	schema  string
	latency time.Duration

	all expect.Expectations // of the flags, by prepare
}

// register adds the flags to a command and those below it.
func (e *expected) register(c *cobra.Command) {
	f := c.PersistentFlags()
	f.StringArrayVar(&e.queries, "expect", nil, "fail with exit code 9 unless `JQ` gives neither false nor null for the answer (repeatable)")
	f.StringVar(&e.schema, "expect-schema", "", "fail with exit code 9 unless the answer is valid by the JSON Schema in `FILE`")
	f.DurationVar(&e.latency, "max-latency", 0, "fail with exit code 9 if the answer took longer than `TIME`")
	grouped(f, groupExpected, "expect", "expect-schema", "max-latency")
}

// prepare reads what the flags name, before anything is sent.
func (e *expected) prepare(cmd *cobra.Command) error {
	e.all = expect.Expectations{MaxLatency: e.latency}
	if e.latency <= 0 && cmd.Flags().Changed("max-latency") {
		return usageError(fmt.Sprintf("--max-latency is %v, and must be more than 0", e.latency), "give it as 300ms or 2s")
	}
	for _, text := range e.queries {
		q, err := expect.Parse(text)
		if err != nil {
			return &failure.Error{Kind: failure.Usage, Message: "--expect: " + err.Error(), Err: err, Next: "correct the expression; nothing was sent"}
		}
		e.all.Queries = append(e.all.Queries, q)
	}
	if e.schema == "" {
		return nil
	}
	f, err := os.Open(e.schema)
	if err != nil {
		return usageError("--expect-schema: "+err.Error(), "name a file that can be read")
	}
	raw, err := readAll(f, 8<<20)
	if err = errors.Join(err, f.Close()); err == nil {
		e.all.Schema, err = expect.ParseSchema(e.schema, raw)
	}
	if err != nil {
		return &failure.Error{Kind: failure.Usage, Message: "--expect-schema " + e.schema + ": " + err.Error(), Err: err, Next: "correct the schema; nothing was sent"}
	}
	return nil
}

// judge is the error of an answer, after it was printed, that is not what the flags say.
func (p *printer) judge(a answer) error {
	if p.expect == nil || !p.expect.Any() || a.result == nil {
		return nil
	}
	took := a.took
	if took == 0 {
		took = time.Since(p.began)
	}
	failed := p.expect.Check(context.Background(), expect.Answer{Result: a.result, Took: took}) // each assertion has its own limits
	return expect.Failure("", "", failed)
}

// judgesToolError reports whether a tool's own error was asked for, so that it is not a failure by itself.
func (p *printer) judgesToolError() bool { return p.expect != nil && p.expect.JudgesToolError() }
