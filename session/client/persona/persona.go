// Package persona knows what other clients say of themselves to a server, so that a server can be seen as they see it.
package persona

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"fmt"
	"strings"
	"sync"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/mcphud/mcphud/session"
	"github.com/mcphud/mcphud/session/base/jsonrpc"
	"github.com/mcphud/mcphud/session/base/text"
	"github.com/mcphud/mcphud/session/config"
)

// None is the persona that advertises nothing.
const None = "none"

// Persona is what one client says of itself.
type Persona struct {
	Name         string          `json:"name"`
	Title        string          `json:"title"`        // what people call it; "" for the name
	ClientInfo   json.RawMessage `json:"clientInfo"`   // nil for mcphud's own
	Capabilities json.RawMessage `json:"capabilities"` // an object
	Versions     []string        `json:"versions"`     // of the protocol, newest first; nil for those of mcphud
	Source       string          `json:"source"`       // where this can be read
}

//go:embed personas.yaml
var table []byte

// All lists the known personas. They belong to all callers, who change none of them.
func All() []Persona { return all() }

// The table is read once: each command line names the personas in its help.
var all = sync.OnceValue(func() []Persona {
	tree, err := config.ParseTree("personas.yaml", table)
	if err != nil {
		panic(err) // it is part of the program
	}
	var all []Persona
	for _, n := range tree.Root.Items {
		p, err := decode(n)
		if err != nil {
			panic(err)
		}
		all = append(all, p)
	}
	return all
})

// Names are the names of All.
func Names() []string {
	var names []string
	for _, p := range All() {
		names = append(names, p.Name)
	}
	return names
}

// Find is the known persona of a name.
func Find(name string) (Persona, bool) {
	for _, p := range All() {
		if p.Name == name {
			return p, true
		}
	}
	return Persona{}, false
}

// Read reads a persona of one's own from a file, YAML or JSON, in the shape of one entry of the table. The error is an *os.PathError or
// says what is wrong with the file.
func Read(path string) (Persona, error) {
	tree, err := config.ReadTree(path)
	if err != nil {
		return Persona{}, err
	}
	p, err := decode(tree.Root)
	if err == nil && len(tree.Warnings) > 0 {
		err = tree.Warnings[0]
	}
	if err != nil {
		return Persona{}, fmt.Errorf("%s: %w", path, err)
	}
	return p, nil
}

// Protocol is the version to speak, "auto" for several of both eras, "" for no choice.
func (p Persona) Protocol() string {
	if len(p.Versions) == 0 {
		return ""
	}
	for _, v := range p.Versions {
		if mcp.IsModernProtocol(v) != mcp.IsModernProtocol(p.Versions[0]) {
			return "auto"
		}
	}
	return p.Versions[0]
}

// Called is the title, or else the name.
func (p Persona) Called() string {
	if p.Title != "" {
		return p.Title
	}
	return p.Name
}

func decode(n config.Node) (p Persona, err error) {
	if n.Shape != config.Object {
		return p, fmt.Errorf("it is %s; it must be an object with name, clientInfo, capabilities and versions", n.Shape)
	}
	dec := json.NewDecoder(bytes.NewReader(n.JSON()))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&p); err != nil {
		why := strings.TrimPrefix(err.Error(), "json: ")
		return p, fmt.Errorf("%s; the keys are name, title, clientInfo, capabilities, versions and source", text.Clip(why, 100))
	}
	object := func(raw []byte) bool {
		return jsonrpc.Members(raw, func(string, []byte) bool { return false }) == nil
	}
	switch {
	case p.Name == "":
		return p, fmt.Errorf("it has no name")
	case p.ClientInfo != nil && (jsonrpc.GetString(p.ClientInfo, "name") == "" || jsonrpc.GetString(p.ClientInfo, "version") == ""):
		return p, fmt.Errorf("clientInfo must be an object with name and version, both strings")
	case !object(p.Capabilities):
		return p, fmt.Errorf("capabilities must be an object, which may be empty")
	}
	for _, v := range p.Versions {
		if !mcp.IsValidProtocolVersion(v) {
			return p, fmt.Errorf("%q is not a protocol version; they are %s", text.Clip(v, 40), strings.Join(mcp.ValidProtocolVersions, ", "))
		}
	}
	return p, nil
}

// Of is the known persona that c presents; false if it is none of them.
func Of(c *session.Client) (Persona, bool) {
	if c == nil {
		return Persona{}, false
	}
	for _, p := range All() {
		if own := p.Client(); bytes.Equal(own.Info, c.Info) && bytes.Equal(own.Capabilities, c.Capabilities) && own.Protocol == c.Protocol {
			return p, true
		}
	}
	return Persona{}, false
}

// Client is the persona as a session presents it.
func (p Persona) Client() *session.Client {
	return &session.Client{Info: p.ClientInfo, Capabilities: p.Capabilities, Protocol: p.Protocol()}
}
