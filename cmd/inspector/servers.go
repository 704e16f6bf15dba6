package inspector

import (
	"cmp"
	"encoding/json"
	"errors"
	"io/fs"
	"maps"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/mcphud/mcphud/session/base/jsonrpc"
	"github.com/mcphud/mcphud/session/config"
)

// adHocTimeout is how long connecting to a target of the command line may take, fileTimeout to one of a file.
const (
	adHocTimeout = 15 * time.Second
	fileTimeout  = 30 * time.Second
)

// entry is one server, as a file of the Inspector has it, with the command line's changes.
type entry struct {
	name string
	Pairs
}

func (e entry) text(member string) string { return str(e.get(member)) }

// adHoc says whether the command line names a server itself.
func (r *Request) adHoc() bool {
	return len(r.Target) > 0 || r.Transport != "" || strings.TrimSpace(r.ServerURL) != ""
}

// entries are the servers that a command line can mean.
func (r *Request) entries() ([]entry, error) {
	catalog, file := strings.TrimSpace(r.Catalog), strings.TrimSpace(r.Config)
	if catalog == "" && !r.adHoc() {
		catalog = strings.TrimSpace(os.Getenv("MCP_CATALOG_PATH"))
	}
	switch {
	case catalog != "" && file != "":
		return nil, fail("--catalog and --config are mutually exclusive. --catalog is the writable catalog; --config is a read-only session file.")
	case catalog != "" && r.adHoc():
		return nil, fail("--catalog cannot be combined with an ad-hoc server URL/command.")
	case file != "" && r.adHoc():
		return nil, fail("--config cannot be combined with an ad-hoc server URL/command. --config selects a read-only session file.")
	case file != "":
		return r.read(file, false)
	case catalog != "":
		return r.read(catalog, true)
	case !r.adHoc():
		home, err := os.UserHomeDir()
		if err != nil {
			return nil, fail("Error loading configuration: " + err.Error())
		}
		return r.read(filepath.Join(home, ".mcp-inspector", "mcp.json"), true)
	}
	e, err := r.named()
	return []entry{e}, err
}

// named is the server that the command line itself names.
func (r *Request) named() (entry, error) {
	first := ""
	if len(r.Target) > 0 {
		first = r.Target[0]
	}
	if first != "" && r.ServerURL != "" {
		return entry{}, fail("Cannot combine a positional target (" + first + ") with --server-url (" + r.ServerURL + "). Pass one or the other.")
	}
	at := r.ServerURL
	if strings.HasPrefix(first, "http://") || strings.HasPrefix(first, "https://") {
		at = first
	}
	e := entry{name: "default"}
	if at != "" {
		kind, err := r.kind(at)
		if err != nil {
			return e, err
		}
		e.Set("type", quote(kind))
		e.Set("url", quote(at))
		r.over(&e)
		return e, nil
	}
	if first == "" {
		return e, fail("Target is required. Specify a URL or a command to execute.")
	}
	if r.Transport != "" && r.Transport != "stdio" {
		return e, fail("Only stdio transport can be used with local commands.")
	}
	e.Set("type", quote("stdio"))
	e.Set("command", quote(first))
	e.Set("args", marshal(r.Target[1:]))
	r.over(&e)
	return e, nil
}

// kind is how the server at a URL is reached.
func (r *Request) kind(at string) (string, error) {
	switch {
	case len(r.Target) > 1:
		return "", fail("Arguments cannot be passed to a URL-based MCP server.")
	case r.Transport == "stdio":
		return "", fail("stdio transport cannot be used with a URL (" + at + "). Use --transport http or --transport sse, or pass a local command instead.")
	case r.Transport == "sse":
		return "sse", nil
	case r.Transport == "http":
		return "streamable-http", nil
	}
	u, err := url.Parse(at)
	if err != nil || u.Scheme == "" {
		return "", fail("Invalid URL")
	}
	switch {
	case strings.HasSuffix(u.Path, "/mcp"):
		return "streamable-http", nil
	case strings.HasSuffix(u.Path, "/sse"):
		return "sse", nil
	}
	return "", fail("Transport type not specified and could not be determined from URL: " + at + ".")
}

// read reads a file of servers. The user's own list may be missing, and has none then.
func (r *Request) read(file string, own bool) ([]entry, error) {
	bad := func(why string) error {
		return &Error{Exit: ExitUsage, Code: "error", Message: "Error loading configuration: " + why, Cause: why}
	}
	path, err := filepath.Abs(file)
	if err != nil {
		return nil, bad(err.Error())
	}
	b, err := os.ReadFile(path)
	switch {
	case errors.Is(err, fs.ErrNotExist) && own:
		return nil, nil
	case errors.Is(err, fs.ErrNotExist):
		return nil, bad("Config file not found: " + path)
	case err != nil:
		return nil, bad(err.Error())
	}
	var top struct {
		Servers json.RawMessage `json:"mcpServers"`
	}
	if err := json.Unmarshal(b, &top); err != nil {
		return nil, bad(err.Error())
	}
	if len(top.Servers) == 0 || slices.Contains([]string{"null", "false", "0", `""`}, string(top.Servers)) {
		return nil, bad("Configuration file must contain an mcpServers element")
	}
	var all []entry
	for _, m := range members(top.Servers) {
		e := entry{m.Key, members(m.Value)}
		e.Set("type", quote(kindOf(e.text("type"))))
		r.over(&e)
		all = append(all, e)
	}
	return all, nil
}

// kindOf is the transport that the type of an entry means.
func kindOf(t string) string {
	switch t {
	case "http":
		return "streamable-http"
	case "sse", "streamable-http":
		return t
	}
	return "stdio"
}

// over applies the options that change an entry.
func (r *Request) over(e *entry) {
	if e.text("type") == "stdio" {
		if len(r.Env) > 0 {
			env := members(e.get("env"))
			for _, p := range r.Env {
				env.Set(p.Key, p.Value)
			}
			e.Set("env", env.JSON())
		}
		if dir := strings.TrimSpace(r.Cwd); dir != "" {
			e.Set("cwd", quote(dir))
		}
	}
	if len(r.Header) > 0 {
		e.Set("headers", r.Header.JSON())
	}
	if r.Era != "" {
		e.Set("protocolEra", quote(r.Era))
	}
}

// selected is the one server that is meant.
func (r *Request) selected() (entry, error) {
	all, err := r.entries()
	if err != nil {
		return entry{}, err
	}
	var names []string
	for _, e := range all {
		if e.name == r.Server && r.Server != "" {
			return e, nil
		}
		names = append(names, e.name)
	}
	switch {
	case r.Server != "":
		return entry{}, fail("Server '" + r.Server + "' not found. Available servers: " + strings.Join(names, ", "))
	case len(all) == 0:
		return entry{}, fail("No servers found in config file")
	case len(all) > 1:
		return entry{}, fail("Multiple servers found in config file. Please specify one with --server. Available servers: " + strings.Join(names, ", "))
	}
	return all[0], nil
}

// Selected is the server that the command line means, and what every request to it has as _meta; nil for nothing.
func (r *Request) Selected() (s config.Server, meta json.RawMessage, err error) {
	e, err := r.selected()
	if err != nil {
		return s, nil, err
	}
	s, err = r.server(e)
	return s, e.meta(), err
}

// meta is the metadata of an entry, also as older versions wrote it: a list of keys and values.
func (e entry) meta() json.RawMessage {
	all := members(e.get("metadata"))
	_ = jsonrpc.Elements(e.get("metadata"), func(p []byte) bool { // what is not a list has none
		if k := jsonrpc.GetString(p, "key"); k != "" {
			all.Set(k, jsonrpc.Get(p, "value"))
		}
		return true
	})
	return all.JSON()
}

// server is how an entry is reached.
func (r *Request) server(e entry) (s config.Server, err error) {
	switch e.text("type") {
	case "stdio":
		var args []string
		if raw := e.get("args"); raw != nil {
			if err := json.Unmarshal(raw, &args); err != nil {
				return s, fail("Error loading configuration: args of " + e.name + ": " + err.Error())
			}
		}
		s = config.OfCommand(e.text("command"), args...)
		s.Env, s.Cwd = members(e.get("env")).text(), e.text("cwd")
	case "sse":
		s = config.Server{Transport: config.SSE, URL: e.text("url")}
	default:
		s = config.Server{Transport: config.HTTP, URL: e.text("url")}
	}
	s.Name, s.Unnamed = e.name, e.name == "default"
	s.Headers = members(e.get("headers")).text()
	maps.DeleteFunc(s.Headers, func(name, _ string) bool { return strings.TrimSpace(name) == "" })
	_ = jsonrpc.Elements(e.get("roots"), func(root []byte) bool {
		if uri := strings.TrimSpace(jsonrpc.GetString(root, "uri")); uri != "" {
			s.Roots = append(s.Roots, uri)
		}
		return true
	})
	s.Protocol = cmp.Or(map[string]string{"modern": "2026-07-28", "auto": "auto"}[e.text("protocolEra")], "2025-11-25")
	s.ConnectTimeout, s.Timeout = fileTimeout, time.Minute
	if ms, ok := number(e.get("connectionTimeout")); ok {
		s.ConnectTimeout = ms
	}
	if ms, ok := number(e.get("requestTimeout")); ok && ms > 0 {
		s.Timeout = ms
	}
	if r.adHoc() {
		s.ConnectTimeout = adHocTimeout
	}
	if r.ConnectTimeout != nil {
		s.ConnectTimeout = *r.ConnectTimeout
	}
	if s.ConnectTimeout == 0 {
		s.ConnectTimeout = 24 * time.Hour // no limit
	}
	if s.URL != "" {
		o := entry{Pairs: members(e.get("oauth"))}
		s.OAuth = &config.OAuth{
			ClientID: cmp.Or(r.ClientID, o.text("clientId")), ClientSecret: cmp.Or(r.ClientSecret, o.text("clientSecret")), Scopes: strings.Fields(o.text("scopes")),
			AuthURL: o.text("authorizationUrl"), TokenURL: o.text("tokenUrl"),
		}
		if string(o.get("enterpriseManaged")) == "true" {
			return s, r.manage(s.OAuth)
		}
	}
	return s, nil
}

func number(raw json.RawMessage) (time.Duration, bool) {
	var ms float64
	if len(raw) == 0 || json.Unmarshal(raw, &ms) != nil || string(raw) == "null" || ms < 0 || ms > 1e12 {
		return 0, false
	}
	return time.Duration(ms * float64(time.Millisecond)), true
}
