package config

import "strings"

const maxEnvFile = 1 << 20

// readEnvFile adds the variables of the entry's envFile under those of env, as the editors do. They are part of what
// trust pins: a variable can make a program load other code.
func (e *entry) readEnvFile(o Options) {
	if e.envFile == "" {
		return
	}
	path := e.absPath(e.expander(o).expand("envFile", e.envFile))
	b, err := readFile(path, maxEnvFile)
	if err != nil {
		e.problem("envFile", "cannot be read: %v", err)
		return
	}
	if e.Env == nil {
		e.Env = map[string]string{}
	}
	for i, line := range strings.Split(strings.TrimPrefix(string(b), "\ufeff"), "\n") {
		k, v, ok := dotenv(line)
		if !ok {
			e.doc.warnings = append(e.doc.warnings, Warning{File: path, Line: i + 1, Message: "is neither NAME=value nor a comment; ignored"})
			continue
		}
		if _, have := e.Env[k]; k != "" && !have {
			e.Env[k] = v
		}
	}
}

// dotenv reads one line: NAME=value, quotes optional, `export` and comments
// allowed. k is "" for a line that says nothing.
func dotenv(line string) (k, v string, ok bool) {
	line = strings.TrimSpace(line)
	if line == "" || line[0] == '#' {
		return "", "", true
	}
	k, v, ok = strings.Cut(strings.TrimPrefix(line, "export "), "=")
	k, v = strings.TrimSpace(k), strings.TrimSpace(v)
	if !ok || k == "" {
		return "", "", false
	}
	if n := len(v); n >= 2 && (v[0] == '"' || v[0] == '\'') && v[n-1] == v[0] {
		if v[0] == '"' {
			return k, strings.NewReplacer(`\n`, "\n", `\"`, `"`, `\\`, `\`).Replace(v[1 : n-1]), true
		}
		return k, v[1 : n-1], true
	}
	v, _, _ = strings.Cut(v, " #")
	return k, strings.TrimSpace(v), true
}
