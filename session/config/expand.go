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

// expander replaces the variables of one dialect in one string. It is applied
// to values that are split already, and to none twice.
type expander struct {
	opt     Options
	dialect string
	// used has the values of variables whose name says that they are secret.
	used  []string
	names []string // of all variables that were expanded
	unset func(field, variable, fix string)
}

// ${NAME} and ${NAME:-default}.
var shellVar = regexp.MustCompile(`\$\{([A-Za-z_][A-Za-z0-9_]*)(:-([^}]*))?\}`)

// ${env:NAME} and the few names that editors have.
var editorVar = regexp.MustCompile(`\$\{(?:env:([^}]+)|(userHome|workspaceFolder|workspaceFolderBasename|pathSeparator|/))\}`)

func (x *expander) expand(field, s string) string {
	if !strings.Contains(s, "${") {
		return s
	}
	switch x.dialect {
	case Mcphud, ClaudeCode, Generic:
		return replace(shellVar, s, func(m []string) string { return x.variable(field, m[0], m[1], m[2] != "", m[3]) })
	case Cursor:
		return replace(editorVar, s, func(m []string) string {
			switch m[2] {
			case "userHome":
				return x.opt.Home
			case "workspaceFolder":
				return x.opt.Cwd
			case "workspaceFolderBasename":
				return filepath.Base(x.opt.Cwd)
			case "pathSeparator", "/":
				if x.opt.goos() == "windows" {
					return `\`
				}
				return "/"
			}
			return x.variable(field, m[0], m[1], false, "")
		})
	}
	return s // Claude Desktop's values are literal
}

func (x *expander) variable(field, whole, name string, hasDefault bool, def string) string {
	if x.opt.LookupEnv != nil {
		if v, ok := x.opt.LookupEnv(name); ok {
			x.names = append(x.names, name)
			if v != "" && mask.Secret(name) {
				x.used = append(x.used, v)
			}
			return v
		}
	}
	if hasDefault {
		return def
	}
	if !x.opt.AllowUnset {
		fix := "set it before starting mcphud"
		if x.dialect != Cursor {
			fix += fmt.Sprintf(", or write ${%s:-default}", name)
		}
		x.unset(field, name, fix)
	}
	return whole
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
	x := &expander{opt: o, dialect: e.Source.Dialect}
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
	if a := e.OAuth; a != nil {
		a.AuthURL, a.TokenURL = x.expand("oauth.auth_url", a.AuthURL), x.expand("oauth.token_url", a.TokenURL)
		a.ClientID, a.ClientSecret = x.expand("oauth.client_id", a.ClientID), x.expand("oauth.client_secret", a.ClientSecret)
		a.RedirectURI = x.expand("oauth.redirect_uri", a.RedirectURI)
		for i, s := range a.Scopes {
			a.Scopes[i] = x.expand(index("oauth.scopes", i), s)
		}
	}
	e.secrets = x.used
	slices.Sort(x.names)
	e.variables = slices.Compact(x.names)
}

func index(field string, i int) string { return field + "[" + strconv.Itoa(i) + "]" }
