package call

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/mcphud/mcphud/cmd/cli/runner"
	"github.com/mcphud/mcphud/session/base/jsonrpc"
	"github.com/mcphud/mcphud/session/base/text"
	"github.com/mcphud/mcphud/session/offer"
	"github.com/mcphud/mcphud/session/offer/schema"
	"github.com/mcphud/mcphud/tui/safe"
)

// How long the parts of a brief line are at most. A name is what a call needs, so that only one that nobody can use is cut.
const (
	longestName      = 300 // cells
	longestArguments = 400 // bytes; those that are left are counted
	longestEnum      = 60  // bytes
	longestSentence  = 120 // cells
)

// briefTool is a tool in a line: read_file(path: string, head?: number) — First sentence.
func briefTool(it offer.Item) string {
	var must, may []string
	for _, c := range schema.Parse(it.InputSchema).Root().Children(nil) {
		if c.Required {
			must = append(must, word(c.Name)+": "+shortType(c.Field(), false))
		} else {
			may = append(may, word(c.Name)+"?: "+shortType(c.Field(), false))
		}
	}
	return briefLine(it, it.Name, signature(append(must, may...)), runner.Describe(it))
}

// briefPrompt is a prompt in a line, whose arguments are all strings.
func briefPrompt(it offer.Item) string {
	var must, may []string
	for _, p := range it.Args {
		if p.Required {
			must = append(must, word(p.Name))
		} else {
			may = append(may, word(p.Name)+"?")
		}
	}
	return briefLine(it, it.Name, signature(append(must, may...)), runner.Describe(it))
}

// briefResource is a resource or a template in a line.
func briefResource(it offer.Item) string {
	return briefLine(it, it.URI, "", cmp.Or(it.Title, it.Description, it.Name))
}

// briefSkill is a skill in a line.
func briefSkill(it offer.Item) string {
	return briefLine(it, cmp.Or(it.Name, it.URI), "", it.Description)
}

// briefLine is an item in a line: its name or URI, what it takes, and the first sentence about it. It is safe for a terminal.
func briefLine(it offer.Item, name, takes, about string) string {
	line := safe.Line(name, longestName) + safe.Line(takes, 0)
	if about = safe.Line(markMalformed(it, sentence(about)), longestSentence); about != "" {
		line += " — " + about
	}
	return line
}

// sentence is the first one of a text, without its full stop.
func sentence(s string) string {
	s = text.Headline(s)
	for i := range len(s) - 1 {
		if s[i] == '.' && s[i+1] == ' ' && !strings.HasSuffix(s[:i], "e.g") && !strings.HasSuffix(s[:i], "i.e") {
			return s[:i]
		}
	}
	return strings.TrimSuffix(s, ".")
}

// signature lists arguments in parentheses.
func signature(args []string) string {
	size := 0
	for i, arg := range args {
		if size += len(arg); size > longestArguments {
			args = append(args[:i:i], fmt.Sprintf("+%d more", len(args)-i))
			break
		}
	}
	return "(" + strings.Join(args, ", ") + ")"
}

// word is the name of an argument, in quotation marks where it could be read as something else.
func word(s string) string {
	s = text.Clip(s, longestName)
	if s != "" && strings.Trim(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.$/") == "" {
		return s
	}
	return string(jsonrpc.Quote(s))
}

// shortType is what a value may be: string, number[], "a"|"b". Of an array in an array it says no more than that.
func shortType(f *schema.Field, nested bool) string {
	types := strings.ReplaceAll(f.Types.String(), " | ", "|")
	switch shape := f.Shape(); {
	case shape == schema.ShapeConst:
		return enum([]schema.Option{{Value: f.Const}}, types)
	case shape == schema.ShapeSelect:
		return enum(f.Options, types)
	case shape == schema.ShapeArray && !nested:
		of := shortType(f.Item(0), true)
		if strings.Contains(of, "|") {
			of = "(" + of + ")"
		}
		if types = of + "[]"; f.Nullable() {
			types += "|null"
		}
	}
	return types
}

// enum is values as a type has them, or types where they are too many for a line.
func enum(options []schema.Option, types string) string {
	var values []string
	size := 0
	for _, o := range options {
		v := o.Value.String()
		if size += len(v) + len("|"); size > longestEnum {
			return types
		}
		values = append(values, v)
	}
	return strings.Join(values, "|")
}
