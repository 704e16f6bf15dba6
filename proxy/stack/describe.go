package stack

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/mcphud/mcphud/session/mask"
)

// Foreign reports whether the file runs commands that are not this program.
func (f *File) Foreign() bool {
	for _, s := range f.Servers {
		if s.Command != "" {
			return true
		}
	}
	if f.Router != nil {
		for _, r := range f.Router.Routes {
			if m, ok := r.(map[string]any); ok && m["command"] != nil {
				return true
			}
		}
	}
	return false
}

// Describe says what running the file would start and contact, a line for each, without secrets. Whatever is in them
// comes from the file, and has to be made safe where it is shown.
func (f *File) Describe() (lines []string) {
	for _, a := range f.Agents {
		lines = append(lines, line(a.Name, "mcphud", append([]string{"agent"}, arguments(a.Flags)...), a.Env, ""))
	}
	for _, s := range f.Servers {
		if s.Command == "" {
			lines = append(lines, s.Name+": contact "+mask.URL(s.URL))
			continue
		}
		lines = append(lines, line(s.Name, s.Command, s.Args, s.Env, s.Dir))
	}
	if f.Router == nil {
		return lines
	}
	for _, name := range slices.Sorted(maps.Keys(f.Router.Routes)) {
		r, _ := f.Router.Routes[name].(map[string]any)
		switch {
		case r["command"] != nil:
			var args []string
			list, _ := r["args"].([]any)
			for _, a := range list {
				args = append(args, fmt.Sprint(a))
			}
			env := map[string]string{}
			vars, _ := r["env"].(map[string]any)
			for k, v := range vars {
				env[k] = fmt.Sprint(v)
			}
			dir, _ := r["cwd"].(string)
			lines = append(lines, line(name, fmt.Sprint(r["command"]), args, env, dir))
		case r["url"] != nil:
			lines = append(lines, name+": contact "+mask.URL(fmt.Sprint(r["url"])))
		}
	}
	return append(lines, line(routerName, "mcphud", append([]string{"router"}, arguments(f.Router.Flags)...), f.Router.Env, ""))
}

func line(name, command string, args []string, env map[string]string, dir string) string {
	out := name + ": " + command
	if args = mask.Args(args); len(args) > 0 {
		out += " " + strings.Join(args, " ")
	}
	for i, k := range slices.Sorted(maps.Keys(env)) {
		sep := ", "
		if i == 0 {
			sep = "; with "
		}
		out += sep + k + "=" + mask.Value(k, env[k])
	}
	if dir != "" {
		out += "; in " + dir
	}
	return out
}
