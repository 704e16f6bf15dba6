package expect

import (
	_ "embed"
	"fmt"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/itchyny/gojq"
)

// maxStep is how many bytes one step of an evaluation may make, such as "a" * 1000000000. A step cannot be stopped once it has begun, so
// those that can make much from little are refused before; what many steps make is watched, and stopped at the memory of the bounds.
const maxStep = 128 << 20

//go:embed guard.jq
var guardText string

// guardDef is a definition that stands before an expression in place of a builtin of the same name, and the functions that it calls.
type guardDef struct {
	*gojq.FuncDef
	calls []string
}

var guardDefs = sync.OnceValue(func() (defs []guardDef) {
	q, err := gojq.Parse(guardText + " .")
	if err != nil {
		panic("expect: guard.jq: " + err.Error()) // it is ours
	}
	for _, def := range q.FuncDefs {
		defs = append(defs, guardDef{def, slices.Collect(maps.Keys(calls(def)))})
	}
	return defs
})

// calls are the functions that are called below a node, of operators those that gojq calls for them.
func calls(node any) map[string]bool {
	names := map[string]bool{}
	root := reflect.ValueOf(node)
	visit(root, func(f *gojq.Func) { names[f.Name] = true })
	visit(root, func(q *gojq.Query) {
		switch q.Op {
		case gojq.OpMul, gojq.OpUpdateMul:
			names["_multiply"] = true
		case gojq.OpDiv, gojq.OpUpdateDiv:
			names["_divide"] = true
		}
		switch q.Op {
		case gojq.OpAssign:
			names["_assign"] = true
		case gojq.OpModify, gojq.OpUpdateAdd, gojq.OpUpdateSub, gojq.OpUpdateMul, gojq.OpUpdateDiv, gojq.OpUpdateMod, gojq.OpUpdateAlt:
			names["_modify"] = true
		}
	})
	visit(root, func(t *gojq.Term) {
		if t.Type == gojq.TermTypeFormat {
			for _, name := range []string{"tojson", "tostring", "format", "_tohtml", "_touri", "_tocsv", "_totsv", "_tosh", "_tobase64"} {
				names[name] = true
			}
		}
	})
	visit(root, func(s *gojq.String) {
		if s.Queries != nil {
			names["tostring"] = true
		}
	})
	return names
}

// guard puts the definitions before an expression and sends operators to them that gojq otherwise compiles to its own. Names of gojq's
// inside, which begin with _, cannot be called.
func guard(q *gojq.Query) error {
	needed, theirs := calls(q), map[string]bool{}
	visit(reflect.ValueOf(q), func(def *gojq.FuncDef) {
		theirs[def.Name] = true
		for _, arg := range def.Args {
			theirs[arg] = true
		}
	})
	defs := guardDefs()
	var wrong error
	visit(reflect.ValueOf(q), func(f *gojq.Func) {
		ours := slices.ContainsFunc(defs, func(def guardDef) bool { return def.Name == f.Name })
		if strings.HasPrefix(f.Name, "_") && (ours || !theirs[f.Name]) && wrong == nil {
			wrong = fmt.Errorf("function not defined: %s/%d", f.Name, len(f.Args))
		}
	})
	if wrong != nil {
		return wrong
	}
	names := map[gojq.Operator]string{gojq.OpMul: "_multiply", gojq.OpDiv: "_divide", gojq.OpAssign: "_assign"}
	visit(reflect.ValueOf(q), func(q *gojq.Query) {
		if name := names[q.Op]; name != "" && q.Left != nil {
			call := &gojq.Func{Name: name, Args: []*gojq.Query{q.Left, q.Right}}
			q.Left, q.Right, q.Op = nil, nil, 0
			q.Term = &gojq.Term{Type: gojq.TermTypeFunc, Func: call}
		}
	})
	var before []*gojq.FuncDef
	for _, def := range slices.Backward(defs) { // each calls only those before it
		if needed[def.Name] {
			before = append(before, def.FuncDef)
			for _, name := range def.calls {
				needed[name] = true
			}
		}
	}
	slices.Reverse(before)
	q.FuncDefs = append(before, q.FuncDefs...)
	return nil
}

// visit calls f for all nodes of a type in a syntax tree, from the leaves up.
func visit[T any](v reflect.Value, f func(T)) {
	switch v.Kind() {
	case reflect.Pointer:
		if v.IsNil() {
			return
		}
		visit(v.Elem(), f)
		if node, ok := v.Interface().(T); ok {
			f(node)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			visit(v.Field(i), f)
		}
	case reflect.Slice:
		for i := range v.Len() {
			visit(v.Index(i), f)
		}
	}
}

// rooms say how many bytes a step would make, by the name of the function in guard.jq.
var rooms = map[string]struct {
	args int
	size func(v any, args []any) int
}{
	"_room_times": {2, func(_ any, args []any) int {
		return max(repeatedSize(args[0], args[1]), repeatedSize(args[1], args[0]))
	}},
	"_room_join": {1, joinedSize},
	"_room_split": {1, func(v any, args []any) int {
		s, _ := v.(string)
		sep, ok := args[0].(string)
		if !ok {
			return 0
		}
		return 32 * strings.Count(s, sep) // of a string and its place in an array
	}},
	"_room_parse": {0, func(v any, _ []any) int {
		s, _ := v.(string)
		return len(s) + 48*(strings.Count(s, ",")+strings.Count(s, "{")+strings.Count(s, "["))
	}},
	"_room_text":  {0, func(v any, _ []any) int { left := maxStep; takeTextSize(v, &left); return maxStep - left }},
	"_room_path":  {1, growthSize},
	"_room_match": {2, matchesSize},
}

func options() (out []gojq.CompilerOption) {
	for name, r := range rooms {
		out = append(out, gojq.WithFunction(name, r.args, r.args, func(v any, args []any) any {
			if r.size(v, args) > maxStep {
				return errMemory
			}
			return v
		}))
	}
	return out
}

// repeatedSize is the size in bytes of a string that is multiplied.
func repeatedSize(v, by any) int {
	s, ok := v.(string)
	n, number := gojq.ToFloat64(by)
	if !ok || !number {
		return 0
	}
	return int(min(float64(len(s))*max(n, 0), maxStep+1))
}

// joinedSize is the size in bytes of all strings, arrays or objects of a value together, with what is between them.
func joinedSize(v any, args []any) (size int) {
	sep, _ := args[0].(string)
	add := func(v any) {
		size += len(sep)
		switch v := v.(type) {
		case string:
			size += len(v)
		case []any:
			size += 16 * len(v)
		case map[string]any:
			size += 40 * len(v)
		}
	}
	switch v := v.(type) {
	case []any:
		for _, e := range v {
			add(e)
		}
	case map[string]any:
		for _, e := range v {
			add(e)
		}
	}
	return size
}

// takeTextSize subtracts the size of a value's text from left, until that is negative. A value can be much smaller than its text, since parts of it
// may be the same.
func takeTextSize(v any, left *int) {
	switch v := v.(type) {
	case string:
		*left -= len(v) + 2
	case []any:
		*left -= 2
		for _, e := range v {
			if *left < 0 {
				return
			}
			takeTextSize(e, left)
		}
	case map[string]any:
		*left -= 2
		for name, e := range v {
			if *left < 0 {
				return
			}
			*left -= len(name) + 3
			takeTextSize(e, left)
		}
	default:
		*left -= 4
	}
}

// growthSize is how many bytes the arrays take that setting a value at a path would create: [] | .[1e9] = 1 makes a billion nulls.
func growthSize(v any, args []any) (size int) {
	path, _ := args[0].([]any)
	for _, at := range path {
		switch array, _ := v.([]any); at := at.(type) {
		case string:
			object, _ := v.(map[string]any)
			v = object[at]
		case map[string]any: // a slice
			return size
		default:
			i, ok := gojq.ToFloat64(at)
			if !ok {
				return size
			}
			if v = nil; i >= 0 && i < float64(len(array)) {
				v = array[int(i)]
			} else if i > 0 {
				size += int(16 * min(i, maxStep))
			}
		}
		if size > maxStep {
			return size
		}
	}
	return size
}

// matchesSize is the size of all matches of a regular expression. One that does not compile is left to jq, which says what is wrong.
func matchesSize(v any, args []any) int {
	const each = 600 // bytes of an object with the usual members
	s, _ := v.(string)
	re, _ := args[0].(string)
	flags, _ := args[1].(string)
	if !strings.Contains(flags, "g") || utf8.RuneCountInString(s)*each < maxStep {
		return 0
	}
	for flag, prefix := range map[string]string{"i": "(?i)", "m": "(?s)"} {
		if strings.Contains(flags, flag) {
			re = prefix + re
		}
	}
	r, err := regexp.Compile(re)
	if err != nil {
		return 0
	}
	return each * len(r.FindAllStringIndex(s, maxStep/each+1))
}
