package ignore

import (
	"fmt"
	"strings"
	"time"

	"github.com/goccy/go-yaml/ast"

	"github.com/mcphud/mcphud/session/base/files"
	"github.com/mcphud/mcphud/session/check"
	"github.com/mcphud/mcphud/session/config"
	"github.com/mcphud/mcphud/session/config/yamlfile"
)

// maxList is how large the file of a list may be, in bytes.
const maxList = 1 << 20

// Read reads a list, as YAML. The error of a file that is wrong says where, by line and column: a key that is not known is one, for a misspelled
// entry would hide nothing, or everything.
func Read(path string) (List, error) {
	b, err := files.Read(path, maxList)
	if err != nil {
		return List{}, fmt.Errorf("cannot read the ignore list: %w", err)
	}
	return parse(path, b)
}

// reader reads the YAML of one list.
type reader struct{ yamlfile.Reader }

// members are those of a mapping; what says what else a value has to be.
func (r reader) members(n ast.Node, what string) ([]yamlfile.Member, error) {
	all, ok, err := r.Mapping(n)
	if !ok {
		return nil, r.Wrong(n.GetToken().Position, "%s", what)
	}
	return all, err
}

func parse(path string, b []byte) (l List, err error) {
	r := reader{yamlfile.Reader{File: path}}
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
		switch m.Key {
		case "ignore":
			l.Entries, err = r.entries(m)
		case "severity":
			l.Severities, err = r.severities(m)
		default:
			err = r.Wrong(m.Pos, "unknown key %.60q; the keys are ignore and severity", m.Key)
		}
		if err != nil {
			return List{}, err
		}
	}
	return l, nil
}

// entries are those of the key ignore; null is none.
func (r reader) entries(m yamlfile.Member) (out []Entry, err error) {
	items, ok := yamlfile.Items(m.Value)
	if !ok {
		if _, null := m.Value.(*ast.NullNode); null {
			return nil, nil
		}
		return nil, r.Wrong(m.Pos, "ignore must be a list of entries, each with a rule and a reason")
	}
	for _, n := range items {
		members, err := r.members(n, "an entry is not a mapping: it has rule, reason, and may have place and until")
		if err != nil {
			return nil, err
		}
		pos := n.GetToken().Position
		if len(members) > 0 {
			pos = members[0].Pos
		}
		e := Entry{Where: fmt.Sprintf("%s:%d", r.File, pos.Line)}
		for _, m := range members {
			into := map[string]*string{"rule": &e.Rule, "place": &e.Place, "reason": &e.Reason}[m.Key]
			switch {
			case into != nil:
				*into, err = r.Text(m)
			case m.Key == "until":
				var text string
				if text, err = r.Text(m); err != nil {
					break
				}
				if e.Until, err = time.Parse(time.DateOnly, text); err != nil {
					err = r.Wrong(m.Pos, "until must be a day such as 2026-12-31, not %.40q", text)
				}
			default:
				err = r.Wrong(m.Pos, "unknown key %.60q; the keys are rule, place, reason and until", m.Key)
			}
			if err != nil {
				return nil, err
			}
		}
		e.Reason = strings.TrimSpace(e.Reason) // of several lines
		switch {
		case e.Rule == "":
			return nil, r.Wrong(pos, "the entry has no rule: name one, or a pattern such as lint/*")
		case e.Reason == "", e.Reason == check.InBaseline: // the word for what a baseline has
			return nil, r.Wrong(pos, "the entry has no reason: say why %.60s does not count here", e.Rule)
		}
		out = append(out, e)
	}
	return out, nil
}

// severities are those of the key severity; null is none. They stay in the order of the file.
func (r reader) severities(m yamlfile.Member) (out []Severity, err error) {
	if _, null := m.Value.(*ast.NullNode); null {
		return nil, nil
	}
	members, err := r.members(m.Value, "severity must be a mapping of rules to error, warning or info")
	if err != nil {
		return nil, err
	}
	for _, m := range members {
		text, err := r.Text(m)
		if err != nil {
			return nil, err
		}
		s := Severity{Rule: m.Key}
		if err := s.Severity.UnmarshalText([]byte(text)); err != nil {
			return nil, r.Wrong(m.Pos, "%.60s: %v", m.Key, err)
		}
		out = append(out, s)
	}
	return out, nil
}

// Parse is an entry in one line, as RULE:REASON. It holds at all places, for ever. The error is that either is missing.
func Parse(s string) (Entry, error) {
	rule, reason, _ := strings.Cut(s, ":")
	e := Entry{Rule: strings.TrimSpace(rule), Reason: strings.TrimSpace(reason)}
	if e.Rule == "" || e.Reason == "" || e.Reason == check.InBaseline {
		return e, fmt.Errorf("%q is not RULE:REASON: each has to be there", s)
	}
	return e, nil
}
