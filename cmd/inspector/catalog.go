package inspector

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/mcphud/mcphud/session/auth/credstore"
	"github.com/mcphud/mcphud/session/base/files"
	"github.com/mcphud/mcphud/session/config"
	"github.com/mcphud/mcphud/session/config/rewrite"
)

// The methods that change the user's own list of servers.
const (
	serversAdd    = "servers/add"
	serversEdit   = "servers/edit"
	serversRemove = "servers/remove"
)

var writing = []string{serversAdd, serversEdit, serversRemove}

// Writes says whether the method changes a file of servers.
func (r *Request) Writes() bool { return slices.Contains(writing, r.Method) }

var serverName = regexp.MustCompile(`^[a-zA-Z0-9_-]+$`)

// catalog is the file to change, with the servers that are in it.
type catalog struct {
	change  config.Change
	doc     *rewrite.Doc
	servers Pairs
	secrets secrets
}

func (r *Request) catalog(kept credstore.Inputs) (*catalog, error) {
	if strings.TrimSpace(r.Config) != "" {
		return nil, fail("--config names a read-only session file; catalog writes need the writable catalog (--catalog <path>, MCP_CATALOG_PATH, or the default ~/.mcp-inspector/mcp.json).")
	}
	file := strings.TrimSpace(r.Catalog)
	if file == "" {
		file = strings.TrimSpace(os.Getenv("MCP_CATALOG_PATH"))
	}
	if file == "" {
		home, err := os.UserHomeDir()
		if err != nil {
			return nil, fail(err.Error())
		}
		file = filepath.Join(home, ".mcp-inspector", "mcp.json")
	}
	path, err := filepath.Abs(file)
	if err != nil {
		return nil, fail(err.Error())
	}
	c := &catalog{change: config.Change{File: path}, secrets: secrets{kept: kept}}
	b, err := os.ReadFile(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		b = []byte("{\n  \"mcpServers\": {}\n}\n")
	case err != nil:
		return nil, fail(err.Error())
	default:
		c.change.Before = b
	}
	var top struct {
		Servers json.RawMessage `json:"mcpServers"`
	}
	if err := json.Unmarshal(b, &top); err != nil {
		return nil, fail(err.Error())
	}
	c.servers = members(top.Servers)
	if c.doc, err = rewrite.Parse("mcp.json", b); err != nil {
		return nil, fail(err.Error())
	}
	return c, nil
}

// save writes the file, for who holds its lock.
func (c *catalog) save() error {
	_, err := c.change.Replace()
	return err
}

// saveTries is how often a change is made again because another program writes the file.
const saveTries = 5

// Written changes the user's list of servers, and is what is printed about that. Values of environments go where kept says. What changes the
// file at the same time waits, or the change is made again of what is there then.
func (r *Request) Written(ctx context.Context, kept credstore.Inputs) (a Answer, err error) {
	name := strings.TrimSpace(r.Server)
	if name == "" {
		return a, fail(r.Method + " requires --server <name>.")
	}
	if r.Method == serversRemove {
		if err := r.nothingElse(); err != nil {
			return a, err
		}
	}
	c, _, err := r.plan(ctx, kept, name) // nothing is made or waited for where it cannot be
	if err != nil {
		return a, planFailed(err)
	}
	unlock, err := c.change.Lock(ctx)
	if err != nil {
		return a, planFailed(err)
	}
	defer unlock()
	var out Pairs
	for range saveTries {
		if c, out, err = r.plan(ctx, kept, name); err != nil {
			return a, planFailed(err)
		}
		if err = c.secrets.around(ctx, c.save); !errors.Is(err, files.ErrChanged) {
			break
		}
	}
	switch {
	case errors.Is(err, files.ErrChanged):
		return a, fail(c.change.File + " changed while it was edited; it was left as it is")
	case err != nil:
		return a, planFailed(err)
	}
	out.Set("catalog", quote(c.change.File))
	return Answer{Result: out.JSON(), Lost: c.change.Lost}, nil
}

// planFailed is any error of a change as the Inspector reports it.
func planFailed(err error) error {
	var own *Error
	if errors.As(err, &own) {
		return err
	}
	return fail(err.Error())
}

// plan makes the change of what the file has now, and what is printed of it.
func (r *Request) plan(ctx context.Context, kept credstore.Inputs, name string) (c *catalog, out Pairs, err error) {
	out = Pairs{{"ok", json.RawMessage("true")}, {"action", nil}, {"server", quote(name)}}
	if c, err = r.catalog(kept); err != nil {
		return nil, nil, err
	}
	switch r.Method {
	case serversAdd:
		out.Set("action", quote("added"))
		err = r.add(c, name)
	case serversRemove:
		out.Set("action", quote("removed"))
		c.secrets.was = scope(c.change.File, name)
		if err = c.has(name); err == nil {
			err = c.doc.Delete([]string{"mcpServers", name})
		}
	default:
		out.Set("action", quote("updated"))
		now := name
		if now, err = r.edit(ctx, c, name); now != name {
			out.Set("server", quote(now))
			out.Set("previousName", quote(name))
		}
	}
	c.change.After = c.doc.Bytes()
	return c, out, err
}

func (c *catalog) has(name string) error {
	if c.servers.get(name) == nil {
		return fail("Server '" + name + "' not found in catalog " + c.change.File + ".")
	}
	return nil
}

// set writes a member of an entry, or takes it away where there is no value.
func (c *catalog) set(name, member string, value json.RawMessage) error {
	path := []string{"mcpServers", name, member}
	if value == nil {
		if !c.doc.Has(path) {
			return nil
		}
		return c.doc.Delete(path)
	}
	return c.doc.Set(path, ordered(value))
}

// ordered is a value as the document takes it: objects keep their order.
func ordered(raw json.RawMessage) any {
	if isObject(raw) {
		o := rewrite.Object{}
		for _, p := range members(raw) {
			o = append(o, rewrite.Member{Key: p.Key, Value: ordered(p.Value)})
		}
		return o
	}
	var v any
	_ = json.Unmarshal(raw, &v) // made here
	return v
}

// target is the transport that the command line names.
func (r *Request) target() (Pairs, error) {
	e, err := r.named()
	if err != nil {
		return nil, err
	}
	if e.text("type") != "stdio" {
		var wrong []string
		if len(r.Env) > 0 {
			wrong = append(wrong, "-e")
		}
		if strings.TrimSpace(r.Cwd) != "" {
			wrong = append(wrong, "--cwd")
		}
		if wrong != nil {
			return nil, fail(strings.Join(wrong, " and ") + " apply to stdio servers; this target is " + e.text("type") + ".")
		}
	}
	return e.config, nil
}

func (r *Request) replaces() bool {
	return len(r.Target) > 0 || strings.TrimSpace(r.ServerURL) != ""
}

func (r *Request) add(c *catalog, name string) error {
	if !r.replaces() {
		return fail("servers/add requires a command or URL (positional target, or --server-url).")
	}
	entry, err := r.target()
	if err != nil {
		return err
	}
	if err := named(c, name, "Invalid id: must be non-empty, contain only alphanumeric, hyphen, or underscore, and not be `__proto__`"); err != nil {
		return err
	}
	c.secrets.is = scope(c.change.File, name)
	if len(r.Env) > 0 {
		if err := lasting(c.secrets.kept); err != nil {
			return err
		}
		names, values := apart(members(entry.get("env")))
		entry.Set("env", names.JSON())
		c.secrets.values = values
	}
	if len(r.Header) > 0 {
		entry.Set("headers", r.Header.JSON())
	}
	if r.Era != "" && r.Era != "legacy" {
		entry.Set("protocolEra", quote(r.Era))
	}
	return c.doc.Set([]string{"mcpServers", name}, ordered(entry.JSON()))
}

// named refuses a name that no new entry can have.
func named(c *catalog, name, invalid string) error {
	if !serverName.MatchString(name) || name == "__proto__" {
		return fail(invalid)
	}
	if c.servers.get(name) != nil {
		return fail("Server '" + name + "' already exists")
	}
	return nil
}

func (r *Request) edit(ctx context.Context, c *catalog, name string) (now string, err error) {
	now = name
	if r.Rename != nil {
		if now = strings.TrimSpace(*r.Rename); now == "" {
			return name, fail("--rename requires a non-empty name.")
		}
	}
	dir := strings.TrimSpace(r.Cwd)
	switch {
	case !r.replaces() && len(r.Env) == 0 && dir == "" && len(r.Header) == 0 && r.Era == "" && now == name:
		return name, fail("servers/edit needs something to change: a new command/URL, -e, --cwd, --header, --protocol-era, or --rename.")
	case r.Transport != "" && !r.replaces():
		return name, fail("--transport on servers/edit requires the new command or URL it applies to.")
	}
	if err := c.has(name); err != nil {
		return name, err
	}
	before := members(c.servers.get(name))
	var target Pairs
	if r.replaces() {
		if target, err = r.target(); err != nil {
			return name, err
		}
	} else if kind := kindOf(str(before.get("type"))); (len(r.Env) > 0 || dir != "") && kind != "stdio" {
		return name, fail("-e and --cwd apply to stdio servers; '" + name + "' is " + kind + ".")
	} else if len(r.Env) > 0 || dir != "" {
		patched := entry{config: slices.Clone(before)}
		r.overCommand(&patched)
		target = patched.config
	}
	if now != name {
		if err := named(c, now, "Invalid new id"); err != nil {
			return name, err
		}
	}
	if err := r.environment(ctx, c, name, now, &target, before); err != nil {
		return name, err
	}
	if target != nil {
		for _, m := range before {
			if !slices.Contains(settingNames, m.Key) && target.get(m.Key) == nil {
				err = errors.Join(err, c.set(name, m.Key, nil))
			}
		}
		for _, m := range target {
			if string(m.Value) == string(before.get(m.Key)) {
				continue // as it is written
			}
			err = errors.Join(err, c.set(name, m.Key, m.Value))
		}
	}
	if len(r.Header) > 0 {
		err = errors.Join(err, c.set(name, "headers", r.Header.JSON()))
	}
	if r.Era != "" {
		era := quote(r.Era)
		if r.Era == "legacy" { // the default is not written
			era = nil
		}
		err = errors.Join(err, c.set(name, "protocolEra", era))
	}
	if err == nil && now != name {
		err = c.doc.Rename([]string{"mcpServers", name}, now)
	}
	return now, err
}

// environment is what an edit does to the values that are kept of an entry, and to what its target says in their place.
func (r *Request) environment(ctx context.Context, c *catalog, name, now string, target *Pairs, before Pairs) error {
	if *target == nil && now == name {
		return nil
	}
	if len(r.Env) > 0 || now != name {
		if err := lasting(c.secrets.kept); err != nil {
			return err
		}
	}
	s := &c.secrets
	s.was, s.is = scope(c.change.File, name), scope(c.change.File, now)
	had, err := s.kept.Recall(ctx, s.was)
	if err != nil {
		return err
	}
	after := *target
	if after == nil {
		after = before
	}
	env := members(after.get("env"))
	if len(r.Env) > 0 {
		var names Pairs
		names, s.values = apart(filled(env, had))
		target.Set("env", names.JSON())
		return nil
	}
	s.values = map[string]string{}
	for _, v := range env {
		if value, ok := had[v.Key]; ok && string(v.Value) == string(empty) {
			s.values[v.Key] = value
		}
	}
	return nil
}

// nothingElse refuses what has no meaning where an entry is removed.
func (r *Request) nothingElse() error {
	var extra []string
	for _, x := range []struct {
		given bool
		name  string
	}{
		{r.replaces(), "a command/URL"},
		{r.Transport != "", "--transport"},
		{len(r.Env) > 0, "-e"},
		{strings.TrimSpace(r.Cwd) != "", "--cwd"},
		{len(r.Header) > 0, "--header"},
		{r.Era != "", "--protocol-era"},
	} {
		if x.given {
			extra = append(extra, x.name)
		}
	}
	if extra != nil {
		return fail("servers/remove takes only --server <name>; remove " + strings.Join(extra, ", ") + ".")
	}
	return nil
}
