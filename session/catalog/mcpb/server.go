package mcpb

import (
	"cmp"
	"fmt"
	"maps"
	"path"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/mcphud/mcphud/session/base/text"
	"github.com/mcphud/mcphud/session/config"
	"github.com/mcphud/mcphud/session/config/setup"
)

// Host is the machine that a bundle runs on.
type Host struct {
	Platform string // as manifests call it; "" for this one
	Home     string // of the user
}

// platform is what manifests call an operating system.
func (h Host) platform() string {
	if h.Platform != "" {
		return h.Platform
	}
	if runtime.GOOS == "windows" {
		return "win32"
	}
	return runtime.GOOS
}

// folders are the variables for folders of the user.
func (h Host) folders() map[string]string {
	if h.Home == "" {
		return nil
	}
	return map[string]string{
		"HOME": h.Home, "DESKTOP": filepath.Join(h.Home, "Desktop"), "DOCUMENTS": filepath.Join(h.Home, "Documents"), "DOWNLOADS": filepath.Join(h.Home, "Downloads"),
	}
}

// Refused is why the bundle cannot run on a machine, nil if it can.
func (b *Bundle) Refused(h Host) error {
	if list := b.Manifest.Compatibility.Platforms; len(list) > 0 && !slices.Contains(list, h.platform()) {
		return fmt.Errorf("it is made for %s, and this is %s", text.Clip(strings.Join(list, ", "), 100), h.platform())
	}
	if e := strings.TrimPrefix(b.Manifest.Server.Entry, "./"); e != "" && b.find(e) == nil && (b.Manifest.Server.Type != "binary" || b.find(e+".exe") == nil) {
		return fmt.Errorf("its entry_point %q is not in it", text.Clip(e, 100))
	}
	return nil
}

// Inputs are what the bundle asks for, in the order of its manifest.
func (b *Bundle) Inputs(h Host) []setup.Input {
	kinds := map[string]setup.Kind{"number": setup.Number, "boolean": setup.Boolean, "file": setup.File, "directory": setup.Directory}
	var out []setup.Input
	for _, name := range b.Manifest.order {
		o := b.Manifest.UserConfig[name]
		in := setup.Input{
			Name: name, Title: o.Title, Description: o.Description, Kind: kinds[o.Type], Required: o.Required, Secret: o.Sensitive, Repeated: o.Multiple,
		}
		if o.Type == "number" {
			in.Min, in.Max = o.Min, o.Max
		}
		in.Default = preset(o, h.folders())
		out = append(out, in)
	}
	return out
}

// preset is the default of an option as text.
func preset(o *Option, folders map[string]string) string {
	plain := func(v jsontext.Value) string {
		var s string
		if v.Kind() == '"' && json.Unmarshal(v, &s) == nil {
			return expand(s, func(name string) (string, bool) { f, ok := folders[name]; return f, ok })
		}
		return strings.TrimSpace(string(v))
	}
	switch o.Default.Kind() {
	case '[':
		var list []jsontext.Value
		if json.Unmarshal(o.Default, &list) != nil || len(list) == 0 {
			return ""
		}
		texts := make([]string, len(list))
		for i, v := range list {
			texts[i] = plain(v)
		}
		if !o.Multiple {
			return texts[0]
		}
		b, err := json.Marshal(texts)
		if err != nil {
			return ""
		}
		return string(b)
	case '"', '0', 't', 'f':
		return plain(o.Default)
	}
	return ""
}

var variable = regexp.MustCompile(`\$\{([^{}]*)\}`)

// expand replaces variables once: what they stand for is not looked at again. What of finds nothing for stays as it is.
func expand(s string, of func(name string) (string, bool)) string {
	return variable.ReplaceAllStringFunc(s, func(ref string) string {
		if v, ok := of(ref[2 : len(ref)-1]); ok {
			return v
		}
		return ref
	})
}

const userConfig = "user_config."

// Server is what starts the bundle that is unpacked in dir, with these values. A value never becomes more than one argument, except one
// with several values that is an argument of its own.
func (b *Bundle) Server(h Host, dir string, given setup.Values) (config.Server, error) {
	if err := b.Refused(h); err != nil {
		return config.Server{}, err
	}
	s, err := config.FromValues(b.Inputs(h), given, func(v setup.Values) (config.Server, error) { return b.make(h, dir, v) })
	if err != nil {
		return s, err
	}
	for _, v := range append(slices.Clone(s.Args), s.Command) {
		if strings.ContainsRune(v, 0) {
			return s, fmt.Errorf("an argument has a NUL byte in it")
		}
	}
	s.Source = config.Source{File: b.Path, Published: b.publishedBy()}
	return s, nil
}

// publishedBy is who made the bundle, as far as the bundle says.
func (b *Bundle) publishedBy() *config.Published {
	m := b.Manifest
	p := &config.Published{Name: strings.ReplaceAll(m.Author.Name, "/", " ") + "/" + m.Name, Version: m.Release, Repository: m.Repository.URL}
	p.Warnings = append(p.Warnings, "who made it is what it says itself")
	if b.Signature > 0 {
		p.Warnings[0] += "; its signature is not verified here"
	}
	return p
}

func (b *Bundle) make(h Host, dir string, given setup.Values) (config.Server, error) {
	s := config.Server{Name: name(b.Manifest.Name), Transport: config.Stdio, Cwd: dir}
	c, err := b.command(h.platform())
	if err != nil {
		return s, err
	}
	folders := h.folders()
	var unknown error
	of := func(name string) (string, bool) {
		switch {
		case name == "__dirname":
			return dir, true
		case name == "pathSeparator" || name == "/":
			return map[bool]string{true: `\`, false: "/"}[h.platform() == "win32"], true
		}
		key, ok := strings.CutPrefix(name, userConfig)
		if !ok {
			f, ok := folders[name]
			return f, ok
		}
		if _, declared := b.Manifest.UserConfig[key]; !declared {
			unknown = fmt.Errorf("the manifest uses ${%s}, which it does not declare", text.Clip(name, 80))
			return "", false
		}
		return strings.Join(given[key], ","), true
	}
	// alone is what stands for a whole value: several of them, or none where nothing was given.
	alone := func(value string) ([]string, bool) {
		m := variable.FindStringSubmatch(value)
		if m == nil || m[0] != value {
			return nil, false
		}
		key, ok := strings.CutPrefix(m[1], userConfig)
		if _, declared := b.Manifest.UserConfig[key]; !ok || !declared {
			return nil, false
		}
		return given[key], true
	}
	s.Command = b.program(expand(c.Command, of), dir, h.platform())
	for _, a := range c.Args {
		if list, ok := alone(a); ok {
			s.Args = append(s.Args, list...)
			continue
		}
		s.Args = append(s.Args, expand(a, of))
	}
	for _, k := range slices.Sorted(maps.Keys(c.Env)) {
		v := c.Env[k]
		if k == "" || strings.ContainsAny(k, "=\x00") {
			return s, fmt.Errorf("%q cannot be the name of a variable", text.Clip(k, 60))
		}
		if list, ok := alone(v); ok && len(list) == 0 {
			continue
		}
		if s.Env == nil {
			s.Env = map[string]string{}
		}
		s.Env[k] = expand(v, of)
	}
	return s, unknown
}

// name is a name without the characters that would make it one of another kind.
func name(s string) string {
	s = strings.Map(func(r rune) rune {
		if r <= ' ' || r == '/' || r == '\\' {
			return '-'
		}
		return r
	}, s)
	return text.Clip(s, 60)
}

// command is the command line for a platform, variables in it.
func (b *Bundle) command(platform string) (Command, error) {
	st := b.Manifest.Server
	if st.Config == nil {
		entry := "${__dirname}/" + strings.TrimPrefix(st.Entry, "./")
		switch st.Type {
		case "node":
			return Command{Command: "node", Args: []string{entry}}, nil
		case "python":
			return Command{Command: pythonOn(platform), Args: []string{entry}, Env: map[string]string{"PYTHONPATH": "${__dirname}/server/lib"}}, nil
		case "uv":
			return Command{Command: "uv", Args: []string{"run", "--directory", "${__dirname}", strings.TrimPrefix(st.Entry, "./")}}, nil
		}
		return Command{Command: entry}, nil
	}
	c := st.Config.Command
	if o, ok := st.Config.Overrides[platform]; ok {
		c.Command = cmp.Or(o.Command, c.Command)
		if o.Args != nil {
			c.Args = o.Args
		}
		if o.Env != nil {
			c.Env = o.Env
		}
	}
	return c, nil
}

func pythonOn(platform string) string {
	if platform == "win32" {
		return "python"
	}
	return "python3"
}

// program is the path of a program that is in the bundle, or the name of one that PATH has.
func (b *Bundle) program(command, dir, platform string) string {
	slashed := filepath.ToSlash(command)
	inside, ok := strings.CutPrefix(slashed, filepath.ToSlash(dir)+"/")
	if !ok {
		inside = strings.TrimPrefix(slashed, "./")
	}
	inside = path.Clean(inside)
	for _, ext := range []string{"", ".exe"} {
		if (ext == "" || platform == "win32") && b.find(inside+ext) != nil && (ok || strings.Contains(slashed, "/")) {
			return filepath.Join(dir, filepath.FromSlash(inside+ext))
		}
	}
	return command
}
