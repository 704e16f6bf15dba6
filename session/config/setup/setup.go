// Package setup is what a server needs to be told before it can start, whoever declares it: a server.json, the manifest of a
// bundle, a client's configuration, a template. A form asks for it, or a command line gives it.
package setup

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/mcphud/mcphud/session/base/text"
)

// Kind is what a value has to be.
type Kind uint8

// The kinds of values. A File and a Directory are paths; whether something is there is the server's business.
const (
	String Kind = iota
	Number
	Boolean
	File
	Directory
)

// Input is one value that is wanted. What its declarer wrote is hostile until it is drawn through a sanitiser.
type Input struct {
	Name        string // unique within a list; what a value is given under
	Title       string // "" = Name
	Description string
	Placeholder string // an example
	Default     string // "" = none; taken where nothing is given
	Fixed       string // "" = none; a value that cannot be changed, and is not asked for
	Kind        Kind
	Required    bool
	Secret      bool
	Repeated    bool // several values; given as one, or as a JSON array of strings
	Choices     []string
	Min, Max    *float64 // of a Number
}

// Values are what inputs have, by name: one text each, several for a repeated one. What was neither given nor has a default is missing.
type Values map[string][]string

// First is the value of an input, "" for none.
func (v Values) First(name string) string {
	if len(v[name]) == 0 {
		return ""
	}
	return v[name][0]
}

// Missing says that required inputs have no value.
type Missing struct{ Inputs []Input }

func (e *Missing) Error() string {
	names := make([]string, len(e.Inputs))
	for i, in := range e.Inputs {
		names[i] = text.Clip(in.Name, 100)
	}
	return "required and not given: " + strings.Join(names, ", ")
}

// Invalid says that a value is not what its input takes. It never holds the value of a secret.
type Invalid struct{ Name, Why string }

func (e *Invalid) Error() string { return text.Clip(e.Name, 100) + " " + e.Why }

// maxRepeated bounds the values of one input.
const maxRepeated = 200

// Read takes what was given for inputs, and what is known of the rest. An empty text is not given. The error is an *Invalid, or a
// *Missing where nothing else is wrong; the values are those that are good.
func Read(in []Input, given map[string]string) (Values, error) {
	values, missing := Values{}, &Missing{}
	var wrong error
	for _, i := range in {
		list, err := i.read(given[i.Name])
		switch {
		case err != nil:
			wrong = errors.Join(wrong, err)
		case len(list) > 0:
			values[i.Name] = list
		case i.Required:
			missing.Inputs = append(missing.Inputs, i)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(given)) {
		if !slices.ContainsFunc(in, func(i Input) bool { return i.Name == name }) {
			wrong = errors.Join(wrong, &Invalid{name, "is not among the inputs: " + names(in)})
		}
	}
	if wrong == nil && missing.Inputs != nil {
		wrong = missing
	}
	return values, wrong
}

// names lists what can be given.
func names(in []Input) string {
	const most = 20
	var list []string
	for _, i := range in {
		if i.Fixed == "" && len(list) < most {
			list = append(list, text.Clip(i.Name, 60))
		}
	}
	if list == nil {
		return "there are none"
	}
	return strings.Join(list, ", ")
}

func (i Input) read(given string) ([]string, error) {
	if i.Fixed != "" {
		if given != "" && given != i.Fixed {
			return nil, &Invalid{i.Name, "has a fixed value and cannot be given"}
		}
		return []string{i.Fixed}, nil
	}
	list := i.split(given)
	if list == nil {
		list = i.split(i.Default)
	}
	if len(list) > maxRepeated {
		return nil, &Invalid{i.Name, fmt.Sprintf("has %d values, and may have %d", len(list), maxRepeated)}
	}
	for n, v := range list {
		clean, why := i.check(v)
		if why != "" {
			return nil, &Invalid{i.Name, why}
		}
		list[n] = clean
	}
	return list, nil
}

// split is the values that a text stands for; nil for none.
func (i Input) split(s string) []string {
	if s == "" {
		return nil
	}
	if i.Repeated && s[0] == '[' {
		var list []string
		if json.Unmarshal([]byte(s), &list) == nil {
			return slices.DeleteFunc(list, func(v string) bool { return v == "" })
		}
	}
	return []string{s}
}

// check is a value as it is used, or why it is none.
func (i Input) check(v string) (clean, why string) {
	shown := strconv.Quote(text.Clip(v, 60))
	if i.Secret {
		shown = "what was given"
	}
	switch {
	case strings.ContainsRune(v, 0):
		return "", "has a NUL byte, which no variable or argument can hold"
	case len(i.Choices) > 0 && !slices.Contains(i.Choices, v):
		return "", fmt.Sprintf("takes one of %s, not %s", text.Clip(strings.Join(i.Choices, ", "), 200), shown)
	}
	switch i.Kind {
	case Number:
		n, err := strconv.ParseFloat(v, 64)
		switch {
		case err != nil:
			return "", "takes a number, not " + shown
		case i.Min != nil && n < *i.Min:
			return "", fmt.Sprintf("takes a number of at least %v", *i.Min)
		case i.Max != nil && n > *i.Max:
			return "", fmt.Sprintf("takes a number of at most %v", *i.Max)
		}
	case Boolean:
		b, err := strconv.ParseBool(v)
		if err != nil {
			return "", "takes true or false, not " + shown
		}
		return strconv.FormatBool(b), ""
	}
	return v, ""
}
