package ignore

import (
	"fmt"
	"strings"
	"time"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/token"

	"github.com/mcphud/mcphud/session/atomicfile"
	"github.com/mcphud/mcphud/session/check"
	"github.com/mcphud/mcphud/session/config"
)

// maxList is how large the file of a list may be.
const maxList = 1 << 20

// Read reads a list. The error of a file that is wrong says where, by line and column.
func Read(path string) (List, error) {
	b, err := atomicfile.Read(path, maxList)
	if err != nil {
		return List{}, fmt.Errorf("cannot read the ignore list: %w", err)
	}
	return parse(path, b)
}

type reader struct{ file string }

func (r reader) wrong(pos *token.Position, format string, args ...any) error {
	w := config.Warning{File: r.file, Malformed: true, Message: fmt.Sprintf(format, args...)}
	if pos != nil {
		w.Line, w.Col = pos.Line, pos.Column
	}
	return w
}

// member is one key of a mapping.
type member struct {
	key   string
	pos   *token.Position
	value ast.Node
}

func (r reader) members(n ast.Node, what string) ([]member, error) {
	var values []*ast.MappingValueNode
	switch n := n.(type) {
	case *ast.MappingNode:
		values = n.Values
	case *ast.MappingValueNode:
		values = []*ast.MappingValueNode{n}
	default:
		return nil, r.wrong(n.GetToken().Position, "%s", what)
	}
	var out []member
	seen := map[string]bool{}
	for _, v := range values {
		pos := v.Key.GetToken().Position
		key, ok := v.Key.(*ast.StringNode)
		switch {
		case !ok:
			return nil, r.wrong(pos, "a key is not a plain word or a string")
		case seen[key.Value]:
			return nil, r.wrong(pos, "%.60q is there twice", key.Value)
		}
		seen[key.Value] = true
		out = append(out, member{key.Value, pos, v.Value})
	}
	return out, nil
}

// text is the text of a member.
func (r reader) text(m member) (string, error) {
	if s, ok := m.value.(*ast.StringNode); ok && strings.TrimSpace(s.Value) != "" {
		return s.Value, nil
	}
	if s, ok := m.value.(*ast.LiteralNode); ok && strings.TrimSpace(s.Value.Value) != "" {
		return strings.TrimSpace(s.Value.Value), nil
	}
	return "", r.wrong(m.pos, "%s must be a text: put it in quotes", m.key)
}

func parse(path string, b []byte) (l List, err error) {
	r := reader{path}
	root, err := config.YAML(path, b)
	if err != nil {
		return l, err
	}
	if root == nil {
		return l, nil // all of it is commented out
	}
	all, err := r.members(root, "is not a mapping: it has ignore, severity, or both")
	if err != nil {
		return l, err
	}
	for _, m := range all {
		switch m.key {
		case "ignore":
			l.Entries, err = r.entries(m)
		case "severity":
			l.Severities, err = r.severities(m)
		default:
			err = r.wrong(m.pos, "unknown key %.60q; the keys are ignore and severity", m.key)
		}
		if err != nil {
			return List{}, err
		}
	}
	return l, nil
}

func (r reader) entries(m member) (out []Entry, err error) {
	seq, ok := m.value.(*ast.SequenceNode)
	if !ok {
		if _, null := m.value.(*ast.NullNode); null {
			return nil, nil
		}
		return nil, r.wrong(m.pos, "ignore must be a list of entries, each with a rule and a reason")
	}
	for _, n := range seq.Values {
		members, err := r.members(n, "an entry is not a mapping: it has rule, reason, and may have place and until")
		if err != nil {
			return nil, err
		}
		pos := n.GetToken().Position
		if len(members) > 0 {
			pos = members[0].pos
		}
		e := Entry{Where: fmt.Sprintf("%s:%d", r.file, pos.Line)}
		for _, m := range members {
			into := map[string]*string{"rule": &e.Rule, "place": &e.Place, "reason": &e.Reason}[m.key]
			switch {
			case into != nil:
				*into, err = r.text(m)
			case m.key == "until":
				var text string
				if text, err = r.text(m); err != nil {
					break
				}
				if e.Until, err = time.Parse(time.DateOnly, text); err != nil {
					err = r.wrong(m.pos, "until must be a day such as 2026-12-31, not %.40q", text)
				}
			default:
				err = r.wrong(m.pos, "unknown key %.60q; the keys are rule, place, reason and until", m.key)
			}
			if err != nil {
				return nil, err
			}
		}
		switch {
		case e.Rule == "":
			return nil, r.wrong(pos, "the entry has no rule: name one, or a pattern such as lint/*")
		case e.Reason == "", e.Reason == check.InBaseline: // the word for what a baseline has
			return nil, r.wrong(pos, "the entry has no reason: say why %.60s does not count here", e.Rule)
		}
		out = append(out, e)
	}
	return out, nil
}

func (r reader) severities(m member) (out []Severity, err error) {
	if _, null := m.value.(*ast.NullNode); null {
		return nil, nil
	}
	members, err := r.members(m.value, "severity must be a mapping of rules to error, warning or info")
	if err != nil {
		return nil, err
	}
	for _, m := range members {
		text, err := r.text(m)
		if err != nil {
			return nil, err
		}
		s := Severity{Rule: m.key}
		if err := s.Severity.UnmarshalText([]byte(text)); err != nil {
			return nil, r.wrong(m.pos, "%.60s: %v", m.key, err)
		}
		out = append(out, s)
	}
	return out, nil
}

// Parse is an entry in one line, as RULE:REASON.
func Parse(s string) (Entry, error) {
	rule, reason, _ := strings.Cut(s, ":")
	e := Entry{Rule: strings.TrimSpace(rule), Reason: strings.TrimSpace(reason)}
	if e.Rule == "" || e.Reason == "" || e.Reason == check.InBaseline {
		return e, fmt.Errorf("%q is not RULE:REASON: each has to be there", s)
	}
	return e, nil
}
