package inspector

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/mcphud/mcphud/session/auth/credstore"
	"github.com/mcphud/mcphud/session/base/jsonrpc"
	"github.com/mcphud/mcphud/session/config"
)

// adHocTimeout is how long connecting to a target of the command line may take, fileTimeout to one of a file.
const (
	adHocTimeout = 15 * time.Second
	fileTimeout  = 30 * time.Second
)

// entry is one server: how it is reached, and what the Inspector keeps beside that; as in the file, with the command line's
// changes.
type entry struct {
	file     string // "" for the command line
	name     string
	config   Pairs
	settings Pairs // nil for none
}

func (e entry) text(member string) string { return str(e.config.get(member)) }

func str(raw json.RawMessage) string { s, _ := jsonrpc.String(raw); return s }

// members are those of an object in their order, nil for what is none.
func members(raw json.RawMessage) (p Pairs) {
	_ = jsonrpc.Members(raw, func(key string, value []byte) bool { // what is not an object has none
		p.Set(key, value)
		return true
	})
	return p
}

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
		e.config = Pairs{{"type", quote(kind)}, {"url", quote(at)}}
		e.settings = r.over(nil)
		return e, nil
	}
	if first == "" {
		return e, fail("Target is required. Specify a URL or a command to execute.")
	}
	if r.Transport != "" && r.Transport != "stdio" {
		return e, fail("Only stdio transport can be used with local commands.")
	}
	e.config = Pairs{{"type", quote("stdio")}, {"command", quote(first)}}
	if args := r.Target[1:]; len(args) > 0 {
		e.config.Set("args", marshal(args))
	}
	r.overCommand(&e)
	e.settings = r.over(nil)
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

// settingNames are the members of an entry that say nothing of how its server is reached.
var settingNames = []string{
	"headers", "metadata", "protocolEra", "elicitCapability", "modernLogLevel", "connectionTimeout", "requestTimeout", "taskTtl", "autoRefreshOnListChanged",
	"paginatedLists", "suppressNotificationStream", "advertisedExtensions", "maxFetchRequests", "skillCatalogMaxSkills", "skillCatalogMaxBytes", "oauth", "roots",
}

// read reads a file of servers. A missing one is made where it is the user's own list.
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
	case errors.Is(err, fs.ErrNotExist) && !own:
		return nil, bad("Config file not found: " + path)
	case errors.Is(err, fs.ErrNotExist):
		b = []byte("{\n  \"mcpServers\": {}\n}\n")
		if err = os.MkdirAll(filepath.Dir(path), 0o700); err == nil {
			err = os.WriteFile(path, b, 0o600)
		}
	}
	if err != nil {
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
		e := entry{file: path, name: m.Key}
		var own Pairs
		for _, q := range members(m.Value) {
			if slices.Contains(settingNames, q.Key) {
				own.Set(q.Key, q.Value)
			} else {
				e.config.Set(q.Key, q.Value)
			}
		}
		kind := kindOf(e.text("type"))
		e.config.Set("type", quote(kind))
		if kind == "stdio" {
			for _, name := range []string{"env", "cwd"} {
				if v := e.config.get(name); v != nil {
					own.Set(name, v)
				}
			}
			r.overCommand(&e)
		}
		e.settings = r.over(settingsOf(own))
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

// overCommand applies -e and --cwd.
func (r *Request) overCommand(e *entry) {
	if len(r.Env) > 0 {
		env := members(e.config.get("env"))
		for _, p := range r.Env {
			env.Set(p.Key, p.Value)
		}
		e.config.Set("env", env.JSON())
	}
	if dir := strings.TrimSpace(r.Cwd); dir != "" {
		e.config.Set("cwd", quote(dir))
	}
}

// listed is an object as a list of its members.
func listed(raw json.RawMessage) json.RawMessage {
	out := []json.RawMessage{}
	for _, p := range members(raw) {
		out = append(out, Pairs{{"key", quote(p.Key)}, {"value", p.Value}}.JSON())
	}
	return marshal(out)
}

// settingsOf are what the Inspector makes of the settings of an entry: those that are missing have their defaults.
func settingsOf(own Pairs) Pairs {
	if len(own) == 0 {
		return nil
	}
	set := Pairs{{"headers", listed(own.get("headers"))}, {"env", listed(own.get("env"))}, {"metadata", json.RawMessage("{}")}}
	switch m := own.get("metadata"); {
	case strings.HasPrefix(string(m), "{"):
		set.Set("metadata", m)
	case strings.HasPrefix(string(m), "["): // as older versions wrote it
		var pairs Pairs
		_ = jsonrpc.Elements(m, func(p []byte) bool {
			if k := jsonrpc.GetString(p, "key"); k != "" {
				pairs.Set(k, jsonrpc.Get(p, "value"))
			}
			return true
		})
		set.Set("metadata", object(pairs))
	}
	for _, d := range []struct{ name, value string }{
		{"connectionTimeout", "30000"},
		{"requestTimeout", "0"},
		{"taskTtl", "60000"},
		{"autoRefreshOnListChanged", "false"},
		{"paginatedLists", "false"},
		{"maxFetchRequests", "1000"},
		{"roots", "[]"},
	} {
		v := own.get(d.name)
		if len(v) == 0 || string(v) == "null" {
			v = json.RawMessage(d.value)
		}
		set.Set(d.name, v)
	}
	for _, name := range []string{"skillCatalogMaxSkills", "skillCatalogMaxBytes", "suppressNotificationStream", "protocolEra", "elicitCapability", "modernLogLevel", "advertisedExtensions"} {
		if v := own.get(name); v != nil && string(v) != "false" && string(v) != "{}" {
			set.Set(name, v)
		}
	}
	oauth := members(own.get("oauth"))
	for _, m := range []struct{ from, to string }{
		{"clientId", "oauthClientId"},
		{"clientSecret", "oauthClientSecret"},
		{"scopes", "oauthScopes"},
		{"authorizationUrl", "oauthAuthorizationUrl"},
		{"tokenUrl", "oauthTokenUrl"},
		{"onInsufficientScope", "oauthOnInsufficientScope"},
	} {
		if v := oauth.get(m.from); len(v) > 2 {
			set.Set(m.to, v)
		}
	}
	for _, m := range []struct{ from, to, only string }{
		{"enterpriseManaged", "enterpriseManaged", "true"},
		{"requestRefreshToken", "oauthRequestRefreshToken", "false"},
		{"revokeOnClear", "oauthRevokeOnClear", "false"},
	} {
		if v := oauth.get(m.from); string(v) == m.only {
			set.Set(m.to, v)
		}
	}
	if v := own.get("cwd"); len(v) > 2 {
		set.Set("cwd", v)
	}
	return set
}

// over applies --header and --protocol-era to settings, which may be nil.
func (r *Request) over(set Pairs) Pairs {
	if set == nil && (len(r.Header) > 0 || r.Era != "") {
		set = settingsOf(Pairs{{"roots", json.RawMessage("[]")}})
	}
	if len(r.Header) > 0 {
		set.Set("headers", listed(r.Header.JSON()))
	}
	if r.Era != "" {
		set.Set("protocolEra", quote(r.Era))
	}
	return set
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

// Selection is the server to connect to, and what is wanted of it.
type Selection struct {
	Server    config.Server
	Meta      json.RawMessage // for every request; nil for none
	Budget    Budget          // of --verify
	KeepGrant bool            // a login that is forgotten is not revoked
}

// Selected is the server that the command line means, with the values of its environment that are kept.
func (r *Request) Selected(ctx context.Context, kept credstore.Inputs) (sel Selection, err error) {
	e, err := r.selected()
	if err == nil {
		err = e.fill(ctx, kept)
	}
	if err != nil {
		return sel, err
	}
	sel.Server, err = r.server(e)
	if sel.Meta = e.settings.get("metadata"); len(members(sel.Meta)) == 0 {
		sel.Meta = nil
	}
	bound := func(flag int64, setting string, normal int64) int64 {
		var n int64
		if json.Unmarshal(e.settings.get(setting), &n) != nil || n < 1 || n > maxSafeInteger {
			n = normal
		}
		return cmp.Or(flag, n)
	}
	sel.Budget = Budget{bound(r.maxSkills, "skillCatalogMaxSkills", catalogSkills), bound(r.maxBytes, "skillCatalogMaxBytes", catalogBytes)}
	sel.KeepGrant = r.NoRevoke || string(e.settings.get("oauthRevokeOnClear")) == "false"
	return sel, err
}

// server is how an entry is reached.
func (r *Request) server(e entry) (s config.Server, err error) {
	switch e.text("type") {
	case "stdio":
		var args []string
		if raw := e.config.get("args"); raw != nil {
			if err := json.Unmarshal(raw, &args); err != nil {
				return s, fail("Error loading configuration: args of " + e.name + ": " + err.Error())
			}
		}
		s = config.OfCommand(e.text("command"), args...)
		s.Env, s.Cwd = members(e.config.get("env")).text(), e.text("cwd")
	case "sse":
		s = config.Server{Transport: config.SSE, URL: e.text("url")}
	default:
		s = config.Server{Transport: config.HTTP, URL: e.text("url")}
	}
	s.Name, s.Unnamed = e.name, e.name == "default"
	_ = jsonrpc.Elements(e.settings.get("headers"), func(h []byte) bool {
		if name := jsonrpc.GetString(h, "key"); strings.TrimSpace(name) != "" {
			if s.Headers == nil {
				s.Headers = map[string]string{}
			}
			s.Headers[name] = jsonrpc.GetString(h, "value")
		}
		return true
	})
	_ = jsonrpc.Elements(e.settings.get("roots"), func(root []byte) bool {
		if uri := strings.TrimSpace(jsonrpc.GetString(root, "uri")); uri != "" {
			s.Roots = append(s.Roots, uri)
		}
		return true
	})
	s.Protocol = map[string]string{"modern": "2026-07-28", "auto": "auto"}[str(e.settings.get("protocolEra"))]
	s.Protocol = cmp.Or(s.Protocol, "2025-11-25")
	s.ConnectTimeout, s.Timeout = fileTimeout, time.Minute
	if ms, ok := number(e.settings.get("connectionTimeout")); ok {
		s.ConnectTimeout = ms
	}
	if ms, ok := number(e.settings.get("requestTimeout")); ok && ms > 0 {
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
		text := func(setting string) string { return str(e.settings.get(setting)) }
		s.OAuth = &config.OAuth{
			ClientID: cmp.Or(r.ClientID, text("oauthClientId")), ClientSecret: cmp.Or(r.ClientSecret, text("oauthClientSecret")), Scopes: strings.Fields(text("oauthScopes")),
			AuthURL: text("oauthAuthorizationUrl"), TokenURL: text("oauthTokenUrl"),
		}
		if string(e.settings.get("enterpriseManaged")) == "true" {
			return s, r.manage(s.OAuth)
		}
	}
	return s, nil
}

func number(raw json.RawMessage) (time.Duration, bool) {
	var ms float64
	if len(raw) == 0 || json.Unmarshal(raw, &ms) != nil || ms < 0 || ms > 1e12 {
		return 0, false
	}
	return time.Duration(ms * float64(time.Millisecond)), true
}

// Listed is the result of servers/list: names, transports and commands or URLs.
func (r *Request) Listed() (json.RawMessage, error) {
	all, err := r.entries()
	if err != nil {
		return nil, err
	}
	slices.SortStableFunc(all, func(a, b entry) int {
		return cmp.Or(strings.Compare(strings.ToLower(a.name), strings.ToLower(b.name)), -strings.Compare(a.name, b.name))
	})
	out := []json.RawMessage{}
	for _, e := range all {
		out = append(out, Pairs{{"name", quote(e.name)}, {"type", e.config.get("type")}, {"detail", quote(e.detail())}}.JSON())
	}
	return Pairs{{"servers", marshal(out)}}.JSON(), nil
}

// detail is the command line, or the URL.
func (e entry) detail() string {
	if e.text("type") != "stdio" {
		return e.text("url")
	}
	var args []string
	_ = json.Unmarshal(e.config.get("args"), &args) // what is not a list of strings is not shown
	return strings.Join(append([]string{e.text("command")}, args...), " ")
}

// Shown is the result of servers/show: an entry with its secrets redacted.
func (r *Request) Shown() (json.RawMessage, error) {
	named := *r
	named.Server = strings.TrimSpace(r.Server)
	e, err := named.selected()
	if err != nil {
		return nil, err
	}
	config := slices.Clone(e.config)
	if env := config.get("env"); strings.HasPrefix(string(env), "{") {
		config.Set("env", redactAll(env))
	}
	out := Pairs{{"name", quote(e.name)}, {"type", e.config.get("type")}, {"detail", quote(e.detail())}, {"config", config.JSON()}}
	if e.settings != nil {
		out.Set("settings", redactSettings(e.settings).JSON())
	}
	return out.JSON(), nil
}
