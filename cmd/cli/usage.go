package cli

import (
	"cmp"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/charmbracelet/x/ansi"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/mcphud/mcphud/cmd/cli/flags"
	"github.com/mcphud/mcphud/cmd/cli/output"
	"github.com/mcphud/mcphud/tui/paint"
)

// helpFlag is --help or --help-all. When it is given it puts our help function in the place of fang's, which knows neither headings
// nor the names of values: fang sets that one right before the command line is parsed.
type helpFlag struct {
	a   *App
	all bool
}

func (h *helpFlag) String() string   { return strconv.FormatBool(h.a != nil && h.a.helping) }
func (h *helpFlag) Type() string     { return "bool" } // what cobra wants of --help
func (h *helpFlag) IsBoolFlag() bool { return true }

func (h *helpFlag) Set(text string) error {
	on, err := strconv.ParseBool(text)
	h.a.helping = h.a.helping || on
	h.a.helpAll = h.a.helpAll || h.all && on
	h.a.Root.SetHelpFunc(func(c *cobra.Command, _ []string) { h.a.Fail = h.a.ShowHelp(c) })
	return err
}

// RegisterHelp adds the flags for help.
func (a *App) RegisterHelp(root *cobra.Command) {
	f := root.PersistentFlags()
	f.VarPF(&helpFlag{a: a}, "help", "h", "show help").NoOptDefVal = "true"
	f.VarPF(&helpFlag{a: a, all: true}, "help-all", "", "show help with all flags").NoOptDefVal = "true"
	flags.Grouped(f, flags.GroupHelp, "help", "help-all")
}

// manualWidth is how wide help is where there is no terminal; a wider terminal than widestHelp is not filled.
const (
	manualWidth = 80
	widestHelp  = 100
)

// ShowHelp prints what a command does, how it is called, and its flags under headings; as JSON where --format or --select asks for that.
func (a *App) ShowHelp(c *cobra.Command) error {
	if a.Options.AsksJSON() {
		return a.Printer().Show(a.Help(c), nil)
	}
	h := helpText{width: min(cmp.Or(output.WidthOf(a.Out), manualWidth), widestHelp), bold: output.Terminal(a.Out)}
	h.paragraphs(cmp.Or(c.Long, c.Short))
	h.heading("Usage")
	h.paragraph(c.UseLine(), 2)
	if c.Example != "" {
		h.heading("Examples")
		for line := range strings.Lines(c.Example) {
			h.b.WriteString(strings.TrimRight(line, "\n") + "\n")
		}
	}
	if c == a.Root {
		a.verbRows(&h)
	} else {
		h.rows("Commands", commandRows(c, func(string) bool { return true }))
	}
	own, more := a.flagRows(c)
	for _, g := range own {
		h.rows(g.name, g.rows)
	}
	if len(more) > 0 {
		h.b.WriteByte('\n')
		h.paragraph("--help-all shows more flags: "+strings.Join(more, ", "), 0)
	}
	_, err := io.WriteString(a.Printer(), h.b.String())
	return err
}

// flagGroup is a heading with its flags.
type flagGroup struct {
	name string
	rows [][2]string
}

// flagRows are a command's flags by heading, its own first; more are the headings of others that --help-all shows.
func (a *App) flagRows(c *cobra.Command) (list []flagGroup, more []string) {
	by := map[string][][2]string{}
	a.eachFlag(c, func(f *pflag.Flag, group string) {
		i := slices.IndexFunc(flags.Groups, func(g flags.HelpGroup) bool { return g.Name == group })
		if i >= 0 && !a.helpAll && c != a.Root && (!flags.Groups[i].Usual && (group != flags.GroupSafety || c.Annotations[guardedKey] == "") || c.HasSubCommands()) {
			if !slices.Contains(more, group) {
				more = append(more, group)
			}
			return
		}
		by[group] = append(by[group], [2]string{FlagName(f), flagHelp(f)})
	})
	list = append(list, flagGroup{"Flags", by[""]})
	for _, g := range flags.Groups {
		list = append(list, flagGroup{g.Name, by[g.Name]})
	}
	return list, more
}

// eachFlag visits the flags of a command that its help shows, with the headings they stand under.
func (a *App) eachFlag(c *cobra.Command, f func(flag *pflag.Flag, group string)) {
	c.LocalFlags()              // merges those of the parents
	c.Flags().SortFlags = false // the order in which they were made
	c.Flags().VisitAll(func(flag *pflag.Flag) {
		group := strings.Join(flag.Annotations[flags.GroupKey], "")
		switch {
		case flag.Hidden || group == flags.GroupHelp && c != a.Root || group != "" && strings.HasPrefix(c.CommandPath(), "mcphud completion"):
		case flag.Name == "linear" && c != a.Root && c.Annotations[screenKey] == "":
		default:
			f(flag, group)
		}
	})
}

// FlagName is "-e, --env KEY=VALUE".
func FlagName(f *pflag.Flag) string {
	name := "--" + f.Name
	if f.Shorthand != "" {
		name = "-" + f.Shorthand + ", " + name
	}
	if value := strings.Join(f.Annotations[flags.ValueKey], ""); value != "" {
		name += " " + value
	}
	return name
}

// flagHelp is what a flag does, and its default.
func flagHelp(f *pflag.Flag) string {
	if is := flagDefault(f); is != "" && !strings.Contains(f.Usage, "(default") {
		return f.Usage + " (default " + is + ")"
	}
	return f.Usage
}

// flagDefault is the value of a flag that is not given, "" for none.
func flagDefault(f *pflag.Flag) string {
	switch f.DefValue {
	case "", "false", "[]", "0", "0s":
		return ""
	}
	return strings.Replace(f.DefValue, "m0s", "m", 1)
}

// helpText collects help in lines of at most width cells.
type helpText struct {
	b     strings.Builder
	width int
	bold  bool // headings
}

// widestFlag is the width of the left column; a longer name has its text below.
const widestFlag = 26

func (h *helpText) heading(name string) {
	if name += ":"; h.bold {
		name = "\x1b[1m" + name + "\x1b[0m"
	}
	h.b.WriteString("\n" + name + "\n")
}

// rows are names with texts in a column beside them.
func (h *helpText) rows(heading string, rows [][2]string) {
	if len(rows) == 0 {
		return
	}
	h.heading(heading)
	col := 0
	for _, r := range rows {
		if n := ansi.StringWidth(r[0]); n <= widestFlag {
			col = max(col, n)
		}
	}
	col = max(col, 8)
	for _, r := range rows {
		lines := paint.Words(r[1], h.width-col-4)
		if ansi.StringWidth(r[0]) > col {
			h.b.WriteString("  " + r[0] + "\n")
		} else {
			h.b.WriteString("  " + r[0] + strings.Repeat(" ", col-ansi.StringWidth(r[0])+2) + lines[0] + "\n")
			lines = lines[1:]
		}
		for _, l := range lines {
			h.b.WriteString(strings.Repeat(" ", col+4) + l + "\n")
		}
	}
}

// paragraphs is text with lines of its own: those that are indented stay as they are.
func (h *helpText) paragraphs(text string) {
	for line := range strings.SplitSeq(strings.ReplaceAll(text, "`", ""), "\n") {
		if line == "" || line[0] == ' ' {
			h.b.WriteString(line + "\n")
			continue
		}
		h.paragraph(line, 0)
	}
}

func (h *helpText) paragraph(text string, indent int) {
	for i, l := range paint.Words(strings.TrimSpace(text), h.width-indent-2) {
		if i > 0 && indent > 0 {
			l = "  " + l
		}
		h.b.WriteString(strings.Repeat(" ", indent) + l + "\n")
	}
}
