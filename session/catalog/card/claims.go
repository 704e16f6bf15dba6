package card

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/mcphud/mcphud/session/base/text"
)

// Claims is what a document says of a server. Empty is what it says nothing about.
type Claims struct {
	Schema       string
	Name         string
	Title        string
	Version      string
	Description  string
	Website      string
	Remotes      []Remote
	Protocols    []string
	Capabilities []string // nil for nothing said
	Tools        []string // nil for nothing said, as of the lists below
	Resources    []string
	Prompts      []string
}

// Remote is one way to connect.
type Remote struct {
	Type      string // streamable-http or sse
	URL       string // with {variables}
	Protocols []string
}

const (
	maxList = 500  // of anything
	maxText = 2000 // bytes
)

// read takes what it knows out of a document, in whichever of the shapes that are in use: cards of SEP-2127, those before it, which were
// made after the answer to initialize (SEP-1649), and manifests (SEP-1960).
func read(b []byte) (c Claims, err error) {
	v := jsontext.Value(b)
	if depth(b) > 40 {
		return c, errors.New("is nested too deep")
	}
	if !v.IsValid() {
		return c, errors.New("is not JSON")
	}
	top, ok := object(v)
	if !ok {
		return c, errors.New("is not a JSON object")
	}
	if list := array(top["servers"]); len(list) == 1 {
		if inner, ok := object(list[0]); ok {
			top = inner
		}
	}
	info, older := object(top["serverInfo"])
	if !older {
		info = top
	}
	c = Claims{
		Schema: str(top["$schema"]), Name: str(info["name"], info["server_name"]), Title: str(info["title"]), Version: str(info["version"], info["server_version"]),
		Description: str(top["description"], info["description"]), Website: str(top["websiteUrl"], info["websiteUrl"]),
	}
	for _, r := range array(top["remotes"]) {
		if o, ok := object(r); ok {
			c.Remotes = append(c.Remotes, Remote{str(o["type"]), str(o["url"]), texts(o["supportedProtocolVersions"])})
		}
	}
	c.transports(top)
	for _, r := range c.Remotes {
		c.Protocols = append(c.Protocols, r.Protocols...)
	}
	if p := str(top["protocolVersion"], top["protocol_version"]); p != "" {
		c.Protocols = append(c.Protocols, p)
	}
	c.Protocols = append(c.Protocols, texts(top["supportedVersions"])...)
	slices.Sort(c.Protocols)
	c.Protocols = slices.Compact(c.Protocols)
	c.Capabilities = capabilities(top["capabilities"])
	c.Tools, c.Resources, c.Prompts = names(top["tools"], "name"), names(top["resources"], "uri"), names(top["prompts"], "name")
	if c.Name == "" && c.Title == "" && c.Remotes == nil {
		return c, errors.New("is not about an MCP server: it has no name and no URL of one")
	}
	return c, nil
}

// transports reads what older documents say of where to connect.
func (c *Claims) transports(top map[string]jsontext.Value) {
	add := func(kind, at string) {
		if at != "" && len(c.Remotes) < maxList {
			c.Remotes = append(c.Remotes, Remote{Type: typeOf(kind), URL: at})
		}
	}
	for _, v := range append(array(top["transports"]), top["transport"]) {
		if o, ok := object(v); ok {
			add(str(o["type"]), str(o["url"], o["endpoint"]))
		}
	}
	if endpoints, ok := object(top["endpoints"]); ok {
		for _, kind := range []string{"streamable_http", "streamable-http", "http", "sse"} {
			add(kind, str(endpoints[kind]))
		}
	}
	if len(c.Remotes) == 0 {
		add(str(top["transport"]), str(top["url"], top["endpoint"]))
	}
}

// typeOf is a kind of transport in today's words.
func typeOf(kind string) string {
	switch strings.NewReplacer("-", "", "_", "").Replace(strings.ToLower(kind)) {
	case "http", "streamablehttp", "streamable":
		return "streamable-http"
	case "sse", "httpsse":
		return "sse"
	}
	return text.Clip(kind, 40)
}

func depth(b []byte) (most int) {
	d, inside, escaped := 0, false, false
	for _, c := range b {
		switch {
		case escaped:
			escaped = false
		case inside:
			escaped, inside = c == '\\', c != '"'
		case c == '"':
			inside = true
		case c == '{' || c == '[':
			d++
			most = max(most, d)
		case c == '}' || c == ']':
			d--
		}
	}
	return most
}

func object(v jsontext.Value) (m map[string]jsontext.Value, ok bool) {
	return m, v.Kind() == '{' && json.Unmarshal(v, &m) == nil
}

func array(v jsontext.Value) (list []jsontext.Value) {
	if v.Kind() != '[' || json.Unmarshal(v, &list) != nil {
		return nil
	}
	return list[:min(len(list), maxList)]
}

// str is the first that is a text.
func str(values ...jsontext.Value) string {
	for _, v := range values {
		var s string
		if v.Kind() == '"' && json.Unmarshal(v, &s) == nil && s != "" {
			return text.Clip(s, maxText)
		}
	}
	return ""
}

func texts(v jsontext.Value) (list []string) {
	for _, e := range array(v) {
		if s := str(e); s != "" {
			list = append(list, s)
		}
	}
	return list
}

// names are those of a list of tools, resources or prompts; nil where it says nothing, such as that they are "dynamic".
func names(v jsontext.Value, key string) (list []string) {
	if v.Kind() != '[' {
		return nil
	}
	list = []string{}
	for _, e := range array(v) {
		s := str(e)
		if o, ok := object(e); ok {
			s = str(o[key], o["name"])
		}
		if s == "dynamic" {
			return nil
		}
		if s != "" {
			list = append(list, s)
		}
	}
	return list
}

func capabilities(v jsontext.Value) (list []string) {
	if o, ok := object(v); ok {
		list = []string{}
		for name, value := range o {
			if value.Kind() != 'f' && value.Kind() != 'n' {
				list = append(list, text.Clip(name, 100))
			}
		}
		slices.Sort(list)
		return list[:min(len(list), maxList)]
	}
	list = texts(v)
	slices.Sort(list)
	return list
}

var (
	cardName = regexp.MustCompile(`^[a-zA-Z0-9.-]+/[a-zA-Z0-9._-]+$`)
	ranges   = regexp.MustCompile(`^[\^~<>=]|\*|\.x\b`)
)

// schema is that of server cards.
const schema = "https://static.modelcontextprotocol.io/schemas/v1/server-card.schema.json"

// strict is what of a card is against SEP-2127.
func (c Claims) strict() (problems []string) {
	add := func(bad bool, format string, args ...any) {
		if bad {
			problems = append(problems, fmt.Sprintf(format, args...))
		}
	}
	add(c.Schema != schema, "$schema is %q and not %s", text.Clip(c.Schema, 100), schema)
	add(!cardName.MatchString(c.Name) || len(c.Name) > 200, "name %q is not of the form com.example/name", text.Clip(c.Name, 100))
	add(c.Version == "", "it has no version")
	add(c.Version != "" && (ranges.MatchString(c.Version) || len(c.Version) > 255), "version %q is a range", text.Clip(c.Version, 60))
	add(c.Description == "", "it has no description")
	add(len(c.Description) > 100, "description is longer than 100 characters")
	add(len(c.Title) > 100, "title is longer than 100 characters")
	add(c.Tools != nil || c.Resources != nil || c.Prompts != nil, "it lists tools, resources or prompts, which a card leaves to the server")
	for _, r := range c.Remotes {
		add(r.Type != "streamable-http" && r.Type != "sse", "a remote is of the type %q", text.Clip(r.Type, 40))
		add(!strings.HasPrefix(r.URL, "http://") && !strings.HasPrefix(r.URL, "https://") && !strings.HasPrefix(r.URL, "{"), "the URL %q of a remote is not an http URL", text.Clip(r.URL, 100))
	}
	return problems
}

// entry is a card that a catalog names.
type entry struct {
	Type string         `json:"type"`
	URL  string         `json:"url"`
	Data jsontext.Value `json:"data"`
}

// catalog is the cards of a catalog, whatever else it has.
func catalog(b []byte) (cards []entry, err error) {
	if depth(b) > 40 {
		return nil, errors.New("is nested too deep")
	}
	top, ok := object(b)
	if !ok || top["entries"].Kind() != '[' {
		return nil, errors.New("is not a catalog: it has no list of entries")
	}
	for _, v := range array(top["entries"]) {
		var e entry
		if json.Unmarshal(v, &e) == nil && e.Type == mediaType && (e.URL != "" || e.Data != nil) {
			cards = append(cards, e)
		}
	}
	return cards, nil
}
