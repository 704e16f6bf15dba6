package registry

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/mcphud/mcphud/session/base/text"
	"github.com/mcphud/mcphud/session/config/setup"
)

// form collects the inputs of one way to reach a server.
type form struct {
	inputs []setup.Input
	same   map[string]string // name by declaration, so that what is declared twice alike is asked for once
}

// kinds of inputs by format.
var kinds = map[string]setup.Kind{"number": setup.Number, "boolean": setup.Boolean, "filepath": setup.File}

// add takes an input in, and returns the name that it has in the list.
func (f *form) add(name string, in Input, required, repeated bool) string {
	if name == "" {
		name = "value"
	}
	i := setup.Input{
		Name: text.Clip(name, 100), Description: text.Clip(in.Description, 2000), Placeholder: text.Clip(string(in.Placeholder), 500), Default: string(in.Default),
		Kind: kinds[in.Format], Required: required, Secret: in.Secret, Repeated: repeated,
	}
	for _, c := range in.Choices[:min(len(in.Choices), 200)] {
		i.Choices = append(i.Choices, string(c))
	}
	key := fmt.Sprintf("%#v", i)
	if known, ok := f.same[key]; ok {
		return known
	}
	for n := 2; slices.ContainsFunc(f.inputs, func(o setup.Input) bool { return o.Name == i.Name }); n++ {
		i.Name = fmt.Sprintf("%s-%d", text.Clip(name, 100), n)
	}
	if f.same == nil {
		f.same = map[string]string{}
	}
	f.same[key] = i.Name
	f.inputs = append(f.inputs, i)
	return i.Name
}

// part is a value that is made of what was given: a text with names of inputs between its constant pieces.
type part struct {
	constant bool     // there is nothing to ask for
	pieces   []string // constant at even places, names of inputs at odd ones
	required bool
	secret   bool
}

var braces = regexp.MustCompile(`\{([^{}]*)\}`)

// part asks for what an argument needs. name is what the input of its whole value is called.
func (f *form) part(a Argument, name string) part {
	if a.Value == nil {
		return part{pieces: []string{"", f.add(name, a.Input, a.Required, a.Repeated), ""}, required: a.Required, secret: a.Secret}
	}
	p := f.template(string(*a.Value), a.Variables, a.Required, a.Repeated, a.Secret)
	p.required = a.Required
	return p
}

// template splits a value at its variables. What is in braces and is not declared stays as it is.
func (f *form) template(value string, variables map[string]Input, required, repeated, secret bool) part {
	p := part{constant: true, pieces: []string{""}}
	at := 0
	for _, m := range braces.FindAllStringSubmatchIndex(value, -1) {
		name := value[m[2]:m[3]]
		in, ok := variables[name]
		if !ok {
			continue
		}
		p.pieces[len(p.pieces)-1] += value[at:m[0]]
		at = m[1]
		if in.Value != nil {
			p.pieces[len(p.pieces)-1] += string(*in.Value)
			continue
		}
		in.Secret = in.Secret || secret
		p.constant, p.secret = false, p.secret || in.Secret
		p.pieces = append(p.pieces, f.add(name, in, in.Required || required && in.Default == "", repeated), "")
	}
	p.pieces[len(p.pieces)-1] += value[at:]
	return p
}

// values are the texts that a part becomes: none where something that it needs was not given, several where it is repeated.
func (p part) values(given setup.Values) ([]string, error) {
	n := 1
	for i := 1; i < len(p.pieces); i += 2 {
		n = max(n, len(given[p.pieces[i]]))
	}
	out := make([]string, 0, n)
	for k := range n {
		var b strings.Builder
		for i, piece := range p.pieces {
			if i%2 == 0 {
				b.WriteString(piece)
				continue
			}
			list := given[piece]
			switch {
			case len(list) == 0:
				return nil, nil
			case len(list) == 1:
				b.WriteString(list[0])
			case k >= len(list):
				return nil, &setup.Invalid{Name: piece, Why: fmt.Sprintf("has %d values where another one of the same argument has %d", len(list), n)}
			default:
				b.WriteString(list[k])
			}
		}
		out = append(out, b.String())
	}
	return out, nil
}

// argument is one argument of a command line.
type argument struct {
	part
	flag string // "" of a positional one
	hint string // what else its value is called
	bare bool   // only the flag
}

// arguments takes in the arguments of a command; bare are its flags that have no value.
func (f *form) arguments(list []Argument, bare []string) (out []argument) {
	for i, a := range list {
		if a.Type != "named" && (a.Type == "positional" || a.Name == "") {
			name := a.ValueHint
			if name == "" {
				name = fmt.Sprintf("argument-%d", i+1)
			}
			out = append(out, argument{part: f.part(a, name), hint: a.ValueHint})
			continue
		}
		switch {
		case slices.Contains(bare, a.Name) && (a.Value == nil || *a.Value == "true" || *a.Value == ""):
			out = append(out, argument{flag: a.Name, bare: true})
		case slices.Contains(bare, a.Name) && *a.Value == "false":
		case a.Value == nil && isFlag(a):
			out = append(out, argument{flag: a.Name, bare: true})
		default:
			out = append(out, argument{part: f.part(a, strings.TrimLeft(a.Name, "-")), flag: a.Name, hint: a.ValueHint})
		}
	}
	return out
}

// isFlag reports whether an argument has a name and nothing to ask for.
func isFlag(a Argument) bool {
	return a.Required && a.Description == "" && a.Format == "" && a.Default == "" && a.Placeholder == "" && len(a.Choices) == 0 && a.ValueHint == "" && !a.Secret && a.Variables == nil
}

// words are the arguments as they stand on the command line.
func words(list []argument, given setup.Values) (out []string, err error) {
	for _, a := range list {
		if a.bare {
			out = append(out, a.flag)
			continue
		}
		values, err := a.values(given)
		if err != nil {
			return nil, err
		}
		for _, v := range values {
			if a.flag != "" {
				out = append(out, a.flag)
			}
			out = append(out, v)
		}
	}
	return out, nil
}
