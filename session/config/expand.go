package config

import (
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/mcphud/mcphud/session/mask"
)

// expander replaces the variables of one dialect in the fields of one entry. It is applied to values that are split already, and
// to none twice.
type expander struct {
	opt    Options
	syntax expansion
	used   []string // values of variables whose name says that they are secret
	names  []string // of all variables that were expanded
	unset  func(field, variable, fix string)
}

// expansion replaces the variables in one string.
type expansion func(x *expander, field, s string) string

// expandShell replaces ${NAME} and ${NAME:-default}.
func expandShell(x *expander, field, s string) string {
	return replace(shellVar, s, func(m []string) string {
		return x.variable(field, m[1], func() string {
			if m[2] != "" {
				return m[3]
			}
			return x.missing(field, m[1], m[0], fmt.Sprintf(", or write ${%s:-default}", m[1]))
		})
	})
}

var shellVar = regexp.MustCompile(`\$\{([A-Za-z_][A-Za-z0-9_]*)(:-([^}]*))?\}`)

func (x *expander) expand(field, s string) string {
	if x.syntax == nil || !strings.Contains(s, "${") {
		return s
	}
	return x.syntax(x, field, s)
}

// variable is the value of a variable, or that of otherwise where it is not set.
func (x *expander) variable(field, name string, otherwise func() string) string {
	if x.opt.LookupEnv == nil {
		return otherwise()
	}
	v, ok := x.opt.LookupEnv(name)
	if !ok {
		return otherwise()
	}
	x.names = append(x.names, name)
	if v != "" && mask.Secret(name) {
		x.used = append(x.used, v)
	}
	return v
}

// missing reports a variable that is not set; its reference stays as it is written. or is a second way to set it.
func (x *expander) missing(field, name, written, or string) string {
	if !x.opt.AllowUnset {
		x.unset(field, name, "set it before starting mcphud"+or)
	}
	return written
}

func replace(re *regexp.Regexp, s string, f func([]string) string) string {
	var b strings.Builder
	last := 0
	for _, loc := range re.FindAllStringSubmatchIndex(s, -1) {
		m := make([]string, len(loc)/2)
		for i := range m {
			if loc[2*i] >= 0 {
				m[i] = s[loc[2*i]:loc[2*i+1]]
			}
		}
		b.WriteString(s[last:loc[0]])
		b.WriteString(f(m))
		last = loc[1]
	}
	return b.String() + s[last:]
}

// expand replaces the variables of every field that takes them.
func (e *entry) expand(o Options) {
	x := &expander{opt: o, syntax: e.dialect.expand}
	reported := map[string]bool{}
	x.unset = func(field, variable, fix string) {
		if !reported[field+"\x00"+variable] {
			reported[field+"\x00"+variable] = true
			e.problem(field, "environment variable %s is not set; %s", clip(variable), fix)
		}
	}
	e.Command = x.expand("command", e.Command)
	for i, a := range e.Args {
		e.Args[i] = x.expand(index("args", i), a)
	}
	for i, a := range e.HeadersHelper {
		e.HeadersHelper[i] = x.expand(index("headersHelper", i), a)
	}
	if h := e.HeadersHelper; len(h) > 0 && o.Home != "" && strings.HasPrefix(h[0], "~/") { // as a shell would
		h[0] = filepath.Join(o.Home, h[0][2:])
	}
	e.Cwd = x.expand("cwd", e.Cwd)
	e.URL = x.expand("url", e.URL)
	for _, m := range []struct {
		field  string
		values map[string]string
	}{{"env", e.Env}, {"headers", e.Headers}} {
		for _, k := range sortedKeys(m.values) {
			m.values[k] = x.expand(m.field+"."+k, m.values[k])
		}
	}
	for i, r := range e.Roots {
		e.Roots[i] = x.expand(index("roots", i), r)
	}
	if e.OAuth != nil {
		e.OAuth.expand(x)
	}
	e.secrets = x.used
	slices.Sort(x.names)
	e.variables = slices.Compact(x.names)
}

func index(field string, i int) string { return field + "[" + strconv.Itoa(i) + "]" }
