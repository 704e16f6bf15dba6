package config

import (
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/mcphud/mcphud/session/base/mask"
	"github.com/mcphud/mcphud/session/config/setup"
)

// expander replaces the variables of one dialect in the fields of one entry. It is applied to values that are split already, and
// to none twice.
type expander struct {
	opt    Options
	syntax expansion
	file   string            // the entry's
	own    map[string]string // variables of the entry itself, where its other values may name them
	used   []string          // values that are secret
	names  []string          // of all variables and files that were expanded
	unset  func(field, variable, fix string)
	bad    func(field, format string, args ...any) // reports another mistake

	declared []setup.Input // by the file
	given    setup.Values  // for inputs
	asked    []setup.Input // inputs that are used and not given
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
			return x.reportUnset(field, m[1], m[0], fmt.Sprintf(", or write ${%s:-default}", m[1]))
		})
	})
}

var shellVar = regexp.MustCompile(`\$\{([A-Za-z_][A-Za-z0-9_]*)(:-([^}]*))?\}`)

func (x *expander) expand(field, s string) string {
	if x.syntax == nil || !strings.ContainsAny(s, "${") {
		return s
	}
	return x.syntax(x, field, s)
}

// variable is the value of a variable, or that of otherwise where it is not set.
func (x *expander) variable(field, name string, otherwise func() string) string {
	v, ok := x.own[name]
	if !ok && x.opt.LookupEnv != nil {
		v, ok = x.opt.LookupEnv(name)
	}
	if !ok {
		return otherwise()
	}
	x.names = append(x.names, name)
	if v != "" && mask.Secret(name) {
		x.used = append(x.used, v)
	}
	return v
}

// environment is a variable that has to be set.
func (x *expander) environment(field, name, written string) string {
	return x.variable(field, name, func() string { return x.reportUnset(field, name, written, "") })
}

// dotenv is a variable of a file of them.
func (x *expander) dotenv(path, name string) (string, bool) {
	if path == "" {
		return "", false
	}
	b, err := readFile(path, maxEnvFile)
	if err != nil {
		return "", false
	}
	for line := range strings.SplitSeq(string(b), "\n") {
		if k, v, _ := dotenv(line); k == name {
			x.names, x.used = append(x.names, name), append(x.used, v)
			return v, true
		}
	}
	return "", false
}

// input is the value that was given for an input of the file; as long as there is none, the reference as it is written.
func (x *expander) input(field, id, written string) string {
	i := slices.IndexFunc(x.declared, func(in setup.Input) bool { return in.Name == id })
	if i < 0 {
		x.bad(field, "no input has the id %s; declare it in inputs", clip(id))
		return written
	}
	return x.ask(x.declared[i], written)
}

// ask is the value that was given for in, or written until there is one.
func (x *expander) ask(in setup.Input, written string) string {
	if list, ok := x.given[in.Name]; ok {
		v := x.given.First(in.Name)
		for _, one := range list {
			if in.Secret && !in.Declares(one) {
				x.used = append(x.used, one)
			}
		}
		return v
	}
	if !slices.ContainsFunc(x.asked, func(have setup.Input) bool { return have.Name == in.Name }) {
		x.asked = append(x.asked, in)
	}
	return written
}

// maxReference bounds a file that a value names.
const maxReference = 64 << 10

// content is what the file holds that a value names, without the line break at its end.
func (x *expander) content(field, name, written string) string {
	path := name
	switch {
	case strings.HasPrefix(name, "~/") && x.opt.Home != "":
		path = filepath.Join(x.opt.Home, name[2:])
	case !filepath.IsAbs(name):
		path = filepath.Join(filepath.Dir(x.file), name)
	}
	b, err := readFile(path, maxReference)
	if err != nil {
		if !x.opt.AllowUnset {
			x.bad(field, "%s %s", clip(name), asWarning(path, err).Message)
		}
		return written
	}
	v := strings.TrimSpace(string(b))
	x.names, x.used = append(x.names, "file "+path), append(x.used, v)
	return v
}

// reportUnset reports a variable that is not set; its reference stays as it is written. or is a second way to set it.
func (x *expander) reportUnset(field, name, written, or string) string {
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

// expander is one for the values of this entry.
func (e *entry) expander(o Options) *expander {
	x := &expander{opt: o, syntax: e.dialect.expand, file: e.Source.File, declared: e.declared}
	if e.URL != "" && e.dialect.Name == "goose" {
		x.own = e.Env
	}
	reported := map[string]bool{}
	x.bad = func(field, format string, args ...any) {
		msg := fmt.Sprintf(format, args...)
		if !reported[field+"\x00"+msg] {
			reported[field+"\x00"+msg] = true
			e.problem(field, "%s", msg)
		}
	}
	e.home = o.Home
	x.unset = func(field, variable, fix string) {
		x.bad(field, "environment variable %s is not set; %s", clip(variable), fix)
	}
	return x
}

// expand replaces the variables of every field that takes them.
func (e *entry) expand(o Options, given setup.Values) {
	x := e.expander(o)
	x.given = given
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
	e.expandSandbox(x)
	e.URL = x.expand("url", e.URL)
	e.Proxy = x.expand("proxy", e.Proxy)
	e.CA = x.expand("ca", e.CA)
	e.ClientCert, e.ClientKey = x.expand("client_cert", e.ClientCert), x.expand("client_key", e.ClientKey)
	for _, m := range []struct {
		field  string
		values map[string]string
	}{{"env", e.Env}, {"headers", e.Headers}} {
		for _, k := range sortedKeys(m.values) {
			field := m.field + "." + k
			if e.refs[field] {
				m.values[k] = replace(shellVar, m.values[k], func(v []string) string { return x.environment(field, v[1], v[0]) })
			} else {
				m.values[k] = x.expand(field, m.values[k])
			}
		}
	}
	for i, r := range e.Roots {
		e.Roots[i] = x.expand(index("roots", i), r)
	}
	if e.OAuth != nil {
		e.OAuth.expand(x)
	}
	if e.dialect.after != nil {
		e.dialect.after(e, x)
	}
	e.secrets, e.Inputs = x.used, x.asked
	slices.Sort(x.names)
	e.variables = slices.Compact(x.names)
}

func index(field string, i int) string { return field + "[" + strconv.Itoa(i) + "]" }
