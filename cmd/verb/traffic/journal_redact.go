package traffic

import (
	"context"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mcphud/mcphud/session/base/failure"
	"github.com/mcphud/mcphud/session/base/text"
	"github.com/mcphud/mcphud/session/traffic/export"
	"github.com/mcphud/mcphud/session/traffic/redact"
	"github.com/mcphud/mcphud/session/wire/journal"
)

// placesShown is how many places of a rule the report names.
const placesShown = 5

func (a *app) redactCommand() *cobra.Command {
	o, rules := &fileCommand{}, redact.Rules{}
	c := &cobra.Command{
		Use: "redact [flags] FILE", Short: "Take out of recorded traffic what nobody else should see",
		Long: "redact writes a file without what the rules find, and says on stderr what it took out and where. Values become placeholders such as [password-1], " +
			"equal ones equal placeholders; messages stay valid. What is usually a secret, by its name or its look, is taken out always, and what a rule found by " +
			"name or path is taken out wherever else it is.",
		Example: "  mcphud journal redact session.jsonl -o share.jsonl\n  mcphud journal redact session.jsonl --key email --path /params/arguments/query -o share.jsonl\n" +
			"  mcphud journal redact session.jsonl --value ACME --pattern '[0-9]{16}' -o share.jsonl",
	}
	c.Flags().StringArrayVar(&rules.Keys, "key", nil, "take out the values of members, headers and parameters of this `NAME`, in any case (repeatable)")
	c.Flags().StringArrayVar(&rules.Paths, "path", nil, "take out what is at this JSON `POINTER` in a message, with * for any name or index (repeatable)")
	c.Flags().StringArrayVar(&rules.Values, "value", nil, "take out this `TEXT` wherever it is; @FILE has one in each line (repeatable)")
	c.Flags().StringArrayVar(&rules.Patterns, "pattern", nil, "take out what this regular expression `REGEXP` matches (repeatable)")
	c.Flags().BoolVar(&o.inPlace, "in-place", false, "replace the file itself")
	return a.fileCommand(c, o, 1, func(ctx context.Context, args []string) error {
		if err := fromFiles(&rules.Values); err != nil {
			return err
		}
		r, err := redact.New(rules)
		if err != nil {
			return &failure.Error{Kind: failure.Usage, Message: err.Error(), Err: err, Next: "see mcphud journal redact --help"}
		}
		return a.redact(ctx, o, args[0], r)
	})
}

// fromFiles puts the lines of FILE in the place of each @FILE.
func fromFiles(values *[]string) error {
	var out []string
	for _, v := range *values {
		name, ok := strings.CutPrefix(v, "@")
		if !ok {
			out = append(out, v)
			continue
		}
		b, err := os.ReadFile(name)
		if err != nil {
			return &failure.Error{Kind: failure.Usage, Message: "--value: " + err.Error(), Err: err, Next: "name a file that can be read"}
		}
		for line := range strings.Lines(string(b)) {
			if line = strings.TrimRight(line, "\r\n"); line != "" {
				out = append(out, line)
			}
		}
	}
	*values = out
	return nil
}

func (a *app) redact(ctx context.Context, o *fileCommand, name string, r *redact.Redactor) error {
	f, err := a.Whole(ctx, name)
	if err != nil {
		return err
	}
	defer f.Close()
	n := 0
	f.Each(0, func(e *journal.Entry) bool {
		body, _ := f.Body(e.Seq) // what cannot be read says nothing
		r.Learn(*e, body)
		n++
		return n&1023 != 0 || ctx.Err() == nil
	})
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err := a.write(o, name, func(w io.Writer) error {
		_, err := export.WriteSelection(ctx, w, &export.Source{Journal: f.Journal, Change: r.Change})
		return err
	}); err != nil {
		return err
	}
	report, total := r.Report(), 0
	for _, t := range report {
		total += t.N
	}
	a.Note(fmt.Sprintf("mcphud: %s: took out %s of %s", name, text.Count(total, "value", "values"), text.Count(n, "entry", "entries")))
	for _, t := range report {
		line := fmt.Sprintf("  %s: %d", t.Rule, t.N)
		if t.N > 0 {
			line += fmt.Sprintf(" in %s: %s", text.Count(t.Entries, "entry", "entries"), t.Where(placesShown))
		}
		a.Note(line)
	}
	return nil
}
