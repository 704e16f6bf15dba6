package calls

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/goccy/go-yaml/token"

	"github.com/mcphud/mcphud/session/config"
	"github.com/mcphud/mcphud/session/config/yamlfile"
	"github.com/mcphud/mcphud/session/traffic/expect"
)

// keys are the members of a file of one call, in the order in which they are written.
var keys = []string{
	"note", "server", "command", "url", "tool", "prompt", "resource", "arguments", "secrets", "meta", "timeout",
	"expect", "expectSchema", "expectError", "isError", "maxLatency", "snapshot", "capture", "repeat", "retry",
}

// ofServer are those that say which server it is: with steps they are beside these. ofSteps are all that can be.
var (
	ofServer = []string{"server", "command", "url"}
	ofSteps  = []string{"note", "server", "command", "url", "timeout", "steps"}
)

// methods are what the keys of targets stand for.
var methods = map[string]string{"tool": ToolsCall, "prompt": PromptsGet, "resource": ResourcesRead}

// reader reads one file.
type reader struct{ yamlfile.Reader }

// members are those of the whole file.
func (r reader) members(b []byte) ([]yamlfile.Member, error) {
	root, err := config.YAML(r.File, b)
	switch {
	case err != nil:
		return nil, err
	case root == nil:
		return nil, r.Wrong(nil, "is empty: it needs a tool, a prompt or a resource")
	}
	all, ok, err := r.Mapping(root)
	if !ok {
		return nil, r.Wrong(root.GetToken().Position, "is not a mapping: it needs a tool, a prompt or a resource")
	}
	return all, err
}

// parse reads a file's text.
func parse(path string, b []byte) (f File, warnings []config.Warning, err error) {
	r := reader{yamlfile.Reader{File: path}}
	f = File{Name: strings.TrimSuffix(strings.TrimSuffix(filepath.Base(path), ".yaml"), ".yml"), Path: path}
	all, err := r.members(b)
	if err != nil {
		return f, nil, err
	}
	steps := slices.IndexFunc(all, func(m yamlfile.Member) bool { return m.Key == "steps" })
	whole := Call{Name: f.Name, File: path}
	servers := 0
	for _, m := range all {
		if slices.Contains(ofServer, m.Key) {
			servers++
		}
		switch {
		case m.Key == "steps":
			continue
		case steps >= 0 && slices.Contains(keys, m.Key) && !slices.Contains(ofSteps, m.Key):
			return f, nil, r.Wrong(m.Pos, "%s is of a single call: put it into a step", m.Key)
		}
		known, err := r.member(&whole, m)
		if err != nil {
			return f, nil, err
		}
		if !known {
			allowed := keys
			if steps >= 0 {
				allowed = ofSteps
			}
			warnings = append(warnings, r.unknown(m, append(slices.Clone(allowed), "steps")))
		}
	}
	if servers > 1 {
		return f, warnings, r.Wrong(nil, "has more than one of server, command and url")
	}
	if steps < 0 {
		whole.Line = 1
		if err := r.finish(&whole, nil); err != nil {
			return f, warnings, err
		}
		f.Calls = []Call{whole}
		return f, warnings, nil
	}
	f.Steps = true
	more, err := r.steps(&f, whole, all[steps])
	return f, append(warnings, more...), err
}

func (r reader) unknown(m yamlfile.Member, known []string) config.Warning {
	return config.Warning{File: r.File, Line: m.Pos.Line, Col: m.Pos.Column, Message: fmt.Sprintf("unknown key %.60q; the keys are %s", m.Key, strings.Join(slices.Compact(known), ", "))}
}

// maxSteps is how many steps a file may have.
const maxSteps = 1000

// steps reads the calls of a file of several.
func (r reader) steps(f *File, whole Call, all yamlfile.Member) (warnings []config.Warning, err error) {
	items, ok := yamlfile.Items(all.Value)
	if !ok || len(items) == 0 || len(items) > maxSteps {
		return nil, r.Wrong(all.Pos, "steps must be a list of 1 to %d calls", maxSteps)
	}
	seen := map[string]bool{}
	for i, item := range items {
		pos := item.GetToken().Position
		members, ok, err := r.Mapping(item)
		if err != nil {
			return nil, err
		}
		if !ok || len(members) == 0 {
			return nil, r.Wrong(pos, "a step must be a mapping with a tool, a prompt or a resource")
		}
		c, name := whole, strconv.Itoa(i+1)
		c.Note, c.Line = "", members[0].Pos.Line
		for _, m := range members {
			if m.Key == "name" {
				text, err := r.Text(m)
				if err != nil {
					return nil, err
				}
				if err := CheckName(text); err != nil {
					return nil, r.Wrong(m.Pos, "%v", err)
				}
				name = text
				continue
			}
			if slices.Contains(ofServer, m.Key) {
				return nil, r.Wrong(m.Pos, "%s is of the whole file: put it beside steps", m.Key)
			}
			known, err := r.member(&c, m)
			if err != nil {
				return nil, err
			}
			if !known {
				warnings = append(warnings, r.unknown(m, append([]string{"name"}, slices.DeleteFunc(slices.Clone(keys), func(k string) bool { return slices.Contains(ofServer, k) })...)))
			}
		}
		if seen[name] {
			return nil, r.Wrong(pos, "two steps have the name %q", name)
		}
		seen[name] = true
		c.Name = f.Name + "/" + name
		if err := r.finish(&c, pos); err != nil {
			return nil, err
		}
		f.Calls = append(f.Calls, c)
	}
	return warnings, nil
}

// duration is a member's value, which must be a time above 0.
func (r reader) duration(m yamlfile.Member) (time.Duration, error) {
	text, err := r.Text(m)
	d, bad := time.ParseDuration(text)
	if err != nil || bad != nil || d <= 0 {
		return 0, r.Wrong(m.Pos, "%s must be a time such as 30s", m.Key)
	}
	return d, nil
}

// member reads one member of a call; known is false for one that is not of a call.
func (r reader) member(c *Call, m yamlfile.Member) (known bool, err error) {
	value, err := r.JSON(m.Value)
	if err != nil {
		return false, err
	}
	need := func(what string) error { return r.Wrong(m.Pos, "%s must be %s", m.Key, what) }
	texts := func() (all []string, ok bool) {
		return all, len(value) > 0 && value[0] == '[' && json.Unmarshal(value, &all) == nil
	}
	object := func(to *json.RawMessage) error {
		if len(value) == 0 || value[0] != '{' {
			return need("a mapping")
		}
		*to = value
		return nil
	}
	switch m.Key {
	case "server":
		c.Server.Name, err = r.Text(m)
	case "url":
		c.Server.Unnamed = true
		c.Server.URL, err = r.Text(m)
	case "note":
		c.Note, err = r.Text(m)
	case "command":
		all, ok := texts()
		if !ok || len(all) == 0 || all[0] == "" {
			return true, need("a list of texts, the program first")
		}
		c.Server = Server{Unnamed: true, Command: all[0], Args: all[1:]}
	case "tool", "prompt", "resource":
		if c.Method != "" {
			return true, r.Wrong(m.Pos, "needs one of tool, prompt and resource, and has several")
		}
		c.Method = methods[m.Key]
		c.Target, err = r.Text(m)
	case "arguments":
		err = object(&c.Arguments)
	case "meta":
		err = object(&c.Meta)
	case "secrets":
		all, ok := texts()
		if !ok || slices.ContainsFunc(all, func(p string) bool { return !strings.HasPrefix(p, "/") }) {
			return true, need("a list of JSON pointers into the arguments, such as /api_key")
		}
		c.Secrets = nil
		for _, p := range all {
			c.Secrets = append(c.Secrets, inArguments+p)
		}
	case "timeout":
		c.Timeout, err = r.duration(m)
	default:
		return r.assertion(c, m, value)
	}
	return true, err
}

// finish refuses a call that is not complete, or whose members do not go together.
func (r reader) finish(c *Call, pos *token.Position) error {
	if c.Method == "" {
		return r.Wrong(pos, "needs one of tool, prompt and resource")
	}
	if c.Expect.Snapshot != nil {
		if c.Expect.Snapshot.Dir = filepath.Dir(c.File); c.Expect.Snapshot.File == "" {
			c.Expect.Snapshot.File = strings.ReplaceAll(c.Name, "/", ".") + ".snapshot.json"
		}
	}
	if e := c.Expect; e.Error != nil && (e.Snapshot != nil || e.Schema != nil || e.IsError != nil || len(c.Capture) > 0) {
		at := e.Lines[expect.OfError]
		return r.Wrong(&token.Position{Line: at[0], Column: at[1]}, "expectError does not go with isError, expectSchema, snapshot and capture: there is no result")
	}
	return nil
}
