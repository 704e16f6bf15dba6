package agentlet

import (
	"errors"
	"fmt"
	"reflect"
	"regexp/syntax"
	"strconv"
	"strings"

	"github.com/mcphud/mcphud/session/text"
)

// A schema can be written such that checking a small answer takes for ever: by references that double at each level, by
// recursion that branches, by depth. Schemas come from callers, and a check cannot be interrupted. So what a check costs
// is worked out beforehand.
const (
	maxSchemaDepth = 64
	maxSchemaCost  = 5000
	maxCheck       = 20_000_000 // cost of the schema times bytes of the answer
)

// notApplied are members that hold schemas without applying them, or data.
var notApplied = map[string]bool{"$defs": true, "definitions": true, "const": true, "enum": true, "default": true, "examples": true}

// measure walks a schema along its references.
type measure struct {
	root  map[string]any
	done  map[uintptr]measured
	stack map[uintptr]bool
}

// measured is what one object of the schema costs with all below it. into is the object that it leads back to, 0 if none.
type measured struct {
	cost int
	into uintptr
}

// schemaCost is how many schemas and parts of patterns one value is checked against at most, per level of recursion.
func schemaCost(root map[string]any) (int, error) {
	m := measure{root: root, done: map[uintptr]measured{}, stack: map[uintptr]bool{}}
	got, err := m.object(root, 0)
	return got.cost, err
}

func (m *measure) object(o map[string]any, depth int) (measured, error) {
	id := reflect.ValueOf(o).Pointer()
	if known, ok := m.done[id]; ok {
		if known.into != 0 && m.stack[known.into] {
			return measured{}, errors.New("it refers to itself in more than one place; once can be checked")
		}
		return known, nil
	}
	if m.stack[id] {
		return measured{1, id}, nil
	}
	if depth > maxSchemaDepth {
		return measured{}, fmt.Errorf("it is nested deeper than %d levels", maxSchemaDepth)
	}
	m.stack[id] = true
	defer delete(m.stack, id)
	sum := measured{cost: 1}
	for name, v := range o {
		if notApplied[name] {
			continue
		}
		got, err := m.member(name, v, depth+1)
		if err != nil {
			return measured{}, err
		}
		if sum, err = sum.plus(got); err != nil {
			return measured{}, err
		}
	}
	if sum.into == id {
		sum.into = 0 // from outside, the recursion begins and ends here
	}
	m.done[id] = sum
	return sum, nil
}

func (a measured) plus(b measured) (measured, error) {
	if a.into != 0 && b.into != 0 {
		return measured{}, errors.New("it refers to itself in more than one place; once can be checked")
	}
	if a.cost += b.cost; a.cost > maxSchemaCost {
		return measured{}, fmt.Errorf("a check against it would take more than %d steps; use fewer references and shorter patterns", maxSchemaCost)
	}
	a.into |= b.into
	return a, nil
}

func (m *measure) member(name string, v any, depth int) (measured, error) {
	switch v := v.(type) {
	case map[string]any:
		sum := measured{}
		if name == "patternProperties" {
			for p := range v {
				cost, err := patternCost(p)
				if err != nil {
					return measured{}, err
				}
				sum.cost += cost
			}
		}
		got, err := m.object(v, depth)
		if err != nil {
			return measured{}, err
		}
		return sum.plus(got)
	case []any:
		sum := measured{}
		for _, x := range v {
			o, ok := x.(map[string]any)
			if !ok {
				continue
			}
			got, err := m.object(o, depth)
			if err != nil {
				return measured{}, err
			}
			if sum, err = sum.plus(got); err != nil {
				return measured{}, err
			}
		}
		return sum, nil
	case string:
		switch name {
		case "$ref":
			target, err := m.resolve(v)
			if err != nil || target == nil {
				return measured{}, err
			}
			return m.object(target, depth)
		case "$dynamicRef", "$recursiveRef":
			return measured{}, fmt.Errorf("%s is not supported; use $ref", name)
		case "$id":
			if depth > 1 {
				return measured{}, errors.New("$id is supported at the top only")
			}
		case "pattern":
			cost, err := patternCost(v)
			return measured{cost: cost}, err
		}
	}
	return measured{}, nil
}

// resolve follows a JSON pointer; nil for one that leads to no object, which is the compiler's to report.
func (m *measure) resolve(ref string) (map[string]any, error) {
	path, ok := strings.CutPrefix(ref, "#")
	if !ok || path != "" && path[0] != '/' {
		return nil, fmt.Errorf("$ref %q is not supported; references go to #/$defs/… in the same schema", text.Clip(ref, 100))
	}
	if strings.Contains(path, "%") {
		return nil, fmt.Errorf("$ref %q is not supported; name the definition without percent-encoding", text.Clip(ref, 100))
	}
	var at any = m.root
	for step := range strings.SplitSeq(strings.TrimPrefix(path, "/"), "/") {
		if path == "" {
			break
		}
		step = strings.ReplaceAll(strings.ReplaceAll(step, "~1", "/"), "~0", "~")
		switch v := at.(type) {
		case map[string]any:
			at = v[step]
		case []any:
			i, err := strconv.Atoi(step)
			if err != nil || i < 0 || i >= len(v) {
				return nil, nil
			}
			at = v[i]
		default:
			return nil, nil
		}
	}
	o, _ := at.(map[string]any)
	return o, nil
}

// patternCost grows with the steps that a regular expression takes for one character.
func patternCost(p string) (int, error) {
	re, err := syntax.Parse(p, syntax.Perl)
	if err != nil {
		return 0, fmt.Errorf("pattern %q: %w", text.Clip(p, 100), err)
	}
	prog, err := syntax.Compile(re.Simplify())
	if err != nil {
		return 0, fmt.Errorf("pattern %q: %w", text.Clip(p, 100), err)
	}
	return 1 + len(prog.Inst)/10, nil
}
