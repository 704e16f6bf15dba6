package config

import (
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/mcphud/mcphud/session/base/mask"
	"github.com/mcphud/mcphud/session/base/text"
)

var assignment = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*=`)

// Pasted reads servers from what a user types or pastes: a URL, a command line with quotes as a shell has them (no shell is run,
// and nothing is expanded), or JSON of another program's file, of which an entry or a part will do. The servers have no Source: who
// pastes them has read them.
func Pasted(s string, o Options) ([]Server, error) {
	s = strings.TrimSpace(s)
	if strings.HasPrefix(s, "{") || strings.HasPrefix(s, `"`) && strings.Contains(s, "{") {
		return pastedJSON(s, o)
	}
	words, err := text.Words(s)
	if err != nil {
		return nil, err
	}
	if len(words) > 0 && words[0] == "$" { // the prompt of a manual's example
		words = words[1:]
	}
	env := map[string]string{}
	set := func(pair string) {
		name, value, _ := strings.Cut(pair, "=")
		env[name] = value
	}
	for len(words) > 1 && assignment.MatchString(words[0]) {
		set(words[0])
		words = words[1:]
	}
	if len(words) > 1 && words[0] == "mcphud" {
		words = words[1:]
		for len(words) > 2 && (words[0] == "-e" || words[0] == "--env") && assignment.MatchString(words[1]) {
			set(words[1])
			words = words[2:]
		}
		if words[0] == "--" {
			words = words[1:]
		}
	}
	if len(words) == 0 || words[0] == "" {
		return nil, errors.New("nothing to start; paste a command, a URL or JSON")
	}
	if strings.Contains(words[0], "://") {
		if len(words) > 1 {
			return nil, fmt.Errorf("%d words follow the URL; paste the URL alone", len(words)-1)
		}
		one, err := OfURL(words[0])
		return []Server{one}, err
	}
	if strings.HasPrefix(words[0], "-") {
		return nil, fmt.Errorf("%s is not a command; paste the command itself", text.Clip(words[0], 40))
	}
	one := OfCommand(words[0], words[1:]...)
	if len(env) > 0 {
		one.Env = env
	}
	return []Server{one}, nil
}

// OfURL is the server at an HTTP URL, named after its host.
func OfURL(raw string) (Server, error) {
	if _, _, err := Endpoint(raw); err != nil {
		return Server{}, fmt.Errorf("%q is not an HTTP URL: it %w", mask.URL(raw), err)
	}
	return Server{Name: URLName(raw), Unnamed: true, Transport: Auto, URL: raw}, nil
}

// pastedJSON reads a file of servers, a list of them without the file around it, or one entry.
func pastedJSON(s string, o Options) ([]Server, error) {
	if s = strings.TrimRight(s, ", \n\t"); strings.HasPrefix(s, `"`) {
		s = "{" + s + "}"
	}
	path := o.abs("pasted.json")
	d, err := parse(path, []byte(s))
	if err != nil {
		return nil, withoutPath(err)
	}
	has := func(keys ...string) bool {
		return slices.ContainsFunc(keys, func(k string) bool { _, ok := d.root.get(k); return ok })
	}
	unnamed := false
	switch {
	case has("mcpServers", "servers", "mcp"):
	case has("command", "url", "serverUrl"):
		s, unnamed = `{"mcpServers":{"pasted":`+s+`}}`, true
	default:
		s = `{"mcpServers":` + s + `}`
	}
	list, _, d, err := loadBytes(o, candidate{path: path, dialect: generic, required: true}, []byte(s))
	if err != nil {
		return nil, withoutPath(err)
	}
	for i := range list {
		one := &list[i]
		if one.Problem != nil {
			return nil, errors.New(strings.ReplaceAll(one.Problem.Error(), path, filepath.Base(path)))
		}
		one.Source, one.written = Source{}, ""
		if unnamed {
			named := OfCommand(one.Command, one.Args...)
			if one.Command == "" {
				if named, err = OfURL(one.URL); err != nil {
					return nil, err
				}
			}
			one.Name, one.Unnamed = named.Name, true
		}
	}
	if len(list) == 0 {
		if len(d.warnings) > 0 {
			return nil, withoutPath(d.warnings[0])
		}
		return nil, errors.New("the JSON has no servers; paste an object with mcpServers")
	}
	return list, nil
}

// withoutPath is a warning about pasted text, without the path that its reader needed.
func withoutPath(err error) error {
	var w Warning
	if !errors.As(err, &w) {
		return err
	}
	if w.Line == 0 {
		return errors.New("the JSON " + w.Message)
	}
	return fmt.Errorf("line %d, column %d: %s", w.Line, w.Col, w.Message)
}
