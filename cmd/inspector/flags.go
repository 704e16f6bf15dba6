package inspector

import (
	"encoding/json"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Request is a parsed command line.
type Request struct {
	Help, Version bool

	Target                                 []string // a URL, or a command with its arguments
	Catalog, Config, Server                string
	Transport, ServerURL, Cwd, Era         string
	Method, ToolName, URI, Prompt          string
	Cursor, ToolArgsJSON                   *string
	LogLevel, Format, Output, OutputFormat string
	ClientID, ClientSecret, ClientMetadata string
	ClientConfig, CallbackURL, Completion  string

	Env, Header                              Pairs // values are JSON strings
	ToolArgs, PromptArgs, Metadata, ToolMeta Pairs

	AppInfo, AdvertiseApps, Quiet bool
	UseStoredAuth, StoredAuthOnly bool
	ConnectTimeout                *time.Duration

	outputGiven bool
}

// JSON says whether the result is to be one line with an envelope.
func (r *Request) JSON() bool { return r.Format == "json" }

// option is one of the Inspector's: how it is written, whether it takes a value, and whether it goes on taking values.
type option struct {
	names    []string
	value    string // what messages call the value, with its brackets; "" for a switch
	variadic bool
	about    string
	choices  []string // the values that there are; nil for any
	set      func(r *Request, value string) error
}

func text(at func(*Request) *string) func(*Request, string) error {
	return func(r *Request, v string) error { *at(r) = v; return nil }
}

func given(at func(*Request) **string) func(*Request, string) error {
	return func(r *Request, v string) error { *at(r) = &v; return nil }
}

func turn(at func(*Request) *bool) func(*Request, string) error {
	return func(r *Request, _ string) error { *at(r) = true; return nil }
}

// choice is an option with a fixed set of values. In the message %s is the one that was given.
func choice(name, value, about string, at func(*Request) *string, message string, allowed ...string) option {
	return option{names: []string{name}, value: value, about: about, choices: allowed, set: func(r *Request, v string) error {
		if !slices.Contains(allowed, v) {
			return fail(strings.ReplaceAll(message, "%s", v))
		}
		*at(r) = v
		return nil
	}}
}

// Levels are the levels of logging/setLevel.
var levels = []string{"debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"}

// options are all that the Inspector's command line takes.
func options() []option {
	return []option{
		{names: []string{"-V", "--version"}, about: "print the version", set: turn(func(r *Request) *bool { return &r.Version })},
		{names: []string{"-h", "--help"}, about: "print this list", set: turn(func(r *Request) *bool { return &r.Help })},
		{names: []string{"--cli"}, about: "ignored after the first", set: func(*Request, string) error { return nil }},
		{names: []string{"--catalog"}, value: "<path>", about: "file of servers; MCP_CATALOG_PATH, or ~/.mcp-inspector/mcp.json", set: text(func(r *Request) *string { return &r.Catalog })},
		{names: []string{"--config"}, value: "<path>", about: "another file of servers", set: text(func(r *Request) *string { return &r.Config })},
		{names: []string{"--server"}, value: "<name>", about: "the server of that file", set: text(func(r *Request) *string { return &r.Server })},
		{names: []string{"-e"}, value: "<env>", about: "KEY=VALUE for the environment of a stdio server", set: func(r *Request, v string) error { return pair(&r.Env, v, false) }},
		{names: []string{"--method"}, value: "<method>", choices: Methods(), about: "what to do: " + strings.Join(Methods(), ", "), set: text(func(r *Request) *string { return &r.Method })},
		{names: []string{"--tool-name"}, value: "<toolName>", about: "the tool of tools/call", set: text(func(r *Request) *string { return &r.ToolName })},
		{names: []string{"--tool-arg"}, value: "<pairs...>", variadic: true, about: "its arguments as KEY=VALUE, a value that is JSON taken as such", set: func(r *Request, v string) error { return pair(&r.ToolArgs, v, true) }},
		{names: []string{"--tool-args-json"}, value: "<json>", about: "its arguments as one JSON object", set: given(func(r *Request) **string { return &r.ToolArgsJSON })},
		{names: []string{"--uri"}, value: "<uri>", about: "the resource, folder or skill", set: text(func(r *Request) *string { return &r.URI })},
		{names: []string{"--cursor"}, value: "<cursor>", about: "page of resources/directory/read", set: given(func(r *Request) **string { return &r.Cursor })},
		{names: []string{"--prompt-name"}, value: "<promptName>", about: "the prompt of prompts/get", set: text(func(r *Request) *string { return &r.Prompt })},
		{names: []string{"--prompt-args"}, value: "<pairs...>", variadic: true, about: "its arguments as KEY=VALUE", set: func(r *Request, v string) error { return pair(&r.PromptArgs, v, true) }},
		choice("--log-level", "<level>", "the level of logging/setLevel", func(r *Request) *string { return &r.LogLevel }, "Invalid log level: %s. Valid levels are: "+strings.Join(levels, ", "), levels...),
		{names: []string{"--cwd"}, value: "<path>", about: "working folder of a stdio server", set: text(func(r *Request) *string { return &r.Cwd })},
		choice("--transport", "<type>", "sse, http or stdio, where the target does not say", func(r *Request) *string { return &r.Transport }, "Invalid transport type: %s. Valid types are: sse, http, stdio", "sse", "http", "stdio"),
		{names: []string{"--server-url"}, value: "<url>", about: "the URL of a server, instead of a target", set: text(func(r *Request) *string { return &r.ServerURL })},
		{names: []string{"--header"}, value: "<headers...>", variadic: true, about: "HTTP headers as \"Name: value\"", set: header},
		{names: []string{"--metadata"}, value: "<pairs...>", variadic: true, about: "KEY=VALUE for _meta of every request", set: func(r *Request, v string) error { return pair(&r.Metadata, v, true) }},
		{names: []string{"--tool-metadata"}, value: "<pairs...>", variadic: true, about: "KEY=VALUE for _meta of tools/call", set: func(r *Request, v string) error { return pair(&r.ToolMeta, v, true) }},
		{names: []string{"--app-info"}, about: "say what app a tool has instead of calling it; exit code 2 for none", set: turn(func(r *Request) *bool { return &r.AppInfo })},
		{names: []string{"--advertise-apps"}, about: "declare that apps can be shown", set: turn(func(r *Request) *bool { return &r.AdvertiseApps })},
		{names: []string{"--connect-timeout"}, value: "<ms>", about: "15000 for a target, 0 for no limit", set: milliseconds},
		choice("--protocol-era", "<era>", "legacy, auto or modern", func(r *Request) *string { return &r.Era }, "Invalid protocol era: %s. Valid eras are: legacy, auto, modern", "legacy", "auto", "modern"),
		choice("--format", "<format>", "text: indented JSON of the result; json: one line {\"result\":…}", func(r *Request) *string { return &r.Format }, "--format must be 'text' or 'json'.", "text", "json"),
		{names: []string{"-q", "--quiet"}, about: "nothing on stderr but errors", set: turn(func(r *Request) *bool { return &r.Quiet })},
		{names: []string{"--output"}, value: "<path>", about: "write the result to this file", set: func(r *Request, v string) error { r.Output, r.outputGiven = v, true; return nil }},
		choice("--output-format", "<format>", "json, or raw: the text or the bytes of the content", func(r *Request) *string { return &r.OutputFormat }, "--output-format must be 'raw' or 'json'.", "raw", "json"),
		{names: []string{"--client-id"}, value: "<id>", about: "OAuth client", set: text(func(r *Request) *string { return &r.ClientID })},
		{names: []string{"--client-secret"}, value: "<secret>", about: "its secret", set: text(func(r *Request) *string { return &r.ClientSecret })},
		{names: []string{"--client-metadata-url"}, value: "<url>", about: "URL of an OAuth client's metadata document", set: text(func(r *Request) *string { return &r.ClientMetadata })},
		{names: []string{"--client-config"}, value: "<path>", about: "JSON file of the OAuth client for all servers; MCP_CLIENT_CONFIG_PATH, or ~/.mcp-inspector/storage/client.json", set: text(func(r *Request) *string { return &r.ClientConfig })},
		{names: []string{"--callback-url"}, value: "<url>", about: "where the browser comes back to, on this machine; MCP_OAUTH_CALLBACK_URL, or " + defaultCallback, set: text(func(r *Request) *string { return &r.CallbackURL })},
		{names: []string{"--use-stored-auth"}, about: "use the stored login of --server-url, and fail where there is none", set: turn(func(r *Request) *bool { return &r.UseStoredAuth })},
		{names: []string{"--stored-auth-only"}, about: "never ask anybody to log in", set: turn(func(r *Request) *bool { return &r.StoredAuthOnly })},
		choice("--completion", "<shell>", "print a script for completion in bash, zsh or fish", func(r *Request) *string { return &r.Completion }, "Invalid shell: %s. Supported shells are: bash, zsh, fish", "bash", "zsh", "fish"),
	}
}

// pair adds KEY=VALUE; a value that is JSON is taken as such where typed says so.
func pair(to *Pairs, v string, typed bool) error {
	key, value, _ := strings.Cut(v, "=")
	if key == "" || value == "" {
		return fail("Invalid parameter format: " + v + ". Use key=value format.")
	}
	if raw := []byte(strings.TrimSpace(value)); typed && json.Valid(raw) {
		if overflows(raw) {
			return fail(fmt.Sprintf("Invalid value for %q: numbers must be finite (a literal like 1e400 overflows to Infinity and cannot be sent).", key))
		}
		to.Set(key, raw)
		return nil
	}
	to.Set(key, quote(value))
	return nil
}

// overflows says whether a JSON value has a number that no client in JavaScript could hold.
func overflows(raw []byte) bool {
	d := json.NewDecoder(strings.NewReader(string(raw)))
	d.UseNumber()
	for {
		t, err := d.Token()
		if err != nil {
			return false
		}
		if n, ok := t.(json.Number); ok {
			if f, _ := n.Float64(); math.IsInf(f, 0) {
				return true
			}
		}
	}
}

func header(r *Request, v string) error {
	name, value, ok := strings.Cut(v, ":")
	name, value = strings.TrimSpace(name), strings.TrimSpace(value)
	if !ok || name == "" || value == "" {
		return fail("Invalid header format: " + v + `. Use "HeaderName: Value" format.`)
	}
	r.Header.Set(name, quote(value))
	return nil
}

func milliseconds(r *Request, v string) error {
	n, err := strconv.ParseFloat(strings.TrimSpace(v), 64)
	if strings.TrimSpace(v) == "" {
		n, err = 0, nil // as JavaScript has it
	}
	if err != nil || n < 0 || n > float64(math.MaxInt64/time.Millisecond) || math.IsNaN(n) {
		return fail("--connect-timeout must be a non-negative number.")
	}
	d := time.Duration(n * float64(time.Millisecond))
	r.ConnectTimeout = &d
	return nil
}

var negative = regexp.MustCompile(`^-(\d+|\d*\.\d+)([eE][+-]?\d+)?$`)

func looksLikeOption(arg string) bool { return len(arg) > 1 && arg[0] == '-' }

// Parse reads a command line, without the --cli in front.
//
// A double dash separates a target from the options, whichever of them comes first. Options go anywhere else among the
// words of a target; an option that is not known is one of the target's own, if words of the target came before it.
func Parse(args []string) (*Request, error) {
	var before, after []string
	rest := args
	if i := slices.Index(args, "--"); i >= 0 {
		if i > 0 && !looksLikeOption(args[0]) {
			before, rest = args[:i], args[i+1:]
		} else {
			rest, after = args[:i], args[i+1:]
		}
	}
	r := &Request{}
	words, err := r.take(rest)
	if err != nil {
		return r, err
	}
	for len(before) == 0 && len(words) > 0 && looksLikeOption(words[0]) {
		words = words[1:]
	}
	r.Target = slices.Concat(before, words, after)
	return r, nil
}

// take consumes the options among args, and returns the other words: those in front of the first unknown option, then the rest.
func (r *Request) take(args []string) ([]string, error) {
	known := map[string]option{}
	for _, o := range options() {
		for _, n := range o.names {
			known[n] = o
		}
	}
	var words, unknown []string
	var open *option // goes on taking values
	group := ""      // of short options written together, what is left of it
	for i := 0; i < len(args) || group != ""; {
		arg := group
		if group = ""; arg == "" {
			arg = args[i]
			i++
		}
		if arg == "--" {
			words, unknown = appendTo(words, unknown, args[i:]...)
			break
		}
		if open != nil && (!looksLikeOption(arg) || negative.MatchString(arg)) {
			if err := open.set(r, arg); err != nil {
				return nil, err
			}
			continue
		}
		open = nil
		if looksLikeOption(arg) {
			if err := pointed(arg); err != nil {
				return nil, err
			}
		}
		o, value, ok, inline := find(known, arg)
		switch {
		case ok && o.value != "" && !inline:
			if i >= len(args) {
				return nil, fail("error: option '" + strings.Join(o.names, ", ") + " " + o.value + "' argument missing")
			}
			value = args[i]
			i++
			fallthrough
		case ok && o.value != "":
			if o.variadic && !inline {
				open = &o
			}
			fallthrough
		case ok:
			if err := o.set(r, value); err != nil {
				return nil, err
			}
			if o.value == "" && inline {
				group = "-" + value
			}
			continue
		}
		if len(unknown) > 0 || looksLikeOption(arg) && !negative.MatchString(arg) {
			unknown = append(unknown, arg)
			continue
		}
		words = append(words, arg)
	}
	return append(words, unknown...), nil
}

func appendTo(words, unknown []string, more ...string) (w, u []string) {
	if len(unknown) > 0 {
		return words, append(append(unknown, "--"), more...)
	}
	return append(words, more...), unknown
}

// find is the option that a word names: by itself, with a value behind an equals sign, or as the first of several short ones
// or one short one with its value. inline says that value is what came with it.
func find(known map[string]option, arg string) (o option, value string, ok, inline bool) {
	if !looksLikeOption(arg) {
		return o, "", false, false
	}
	if o, ok = known[arg]; ok {
		return o, "", true, false
	}
	if len(arg) > 2 && arg[1] != '-' {
		if o, ok = known[arg[:2]]; ok {
			return o, arg[2:], true, true
		}
	}
	if name, v, cut := strings.Cut(arg, "="); cut && strings.HasPrefix(arg, "--") {
		if o, ok = known[name]; ok && o.value != "" {
			return o, v, true, true
		}
	}
	return option{}, "", false, false
}
