package mcpb

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/mcphud/mcphud/session/base/text"
)

const maxManifest = 1 << 20

// Manifest is what a bundle says of itself. Its texts are whatever somebody wrote.
type Manifest struct {
	Version     string `json:"manifest_version"`
	OldVersion  string `json:"dxt_version"` // before manifest_version
	Name        string `json:"name"`
	DisplayName string `json:"display_name"`
	Release     string `json:"version"`
	Description string `json:"description"`
	Author      struct {
		Name string `json:"name"`
		URL  string `json:"url"`
	} `json:"author"`
	Repository struct {
		URL string `json:"url"`
	} `json:"repository"`
	License string      `json:"license"`
	Server  StartUp     `json:"server"`
	Tools   []NamedPart `json:"tools"`
	Prompts []NamedPart `json:"prompts"`
	// ToolsGenerated says that there are more tools than the listed ones.
	ToolsGenerated bool               `json:"tools_generated"`
	UserConfig     map[string]*Option `json:"user_config"`
	order          []string           // of UserConfig
	Compatibility  struct {
		Platforms []string          `json:"platforms"` // darwin, win32, linux; nil for all
		Runtimes  map[string]string `json:"runtimes"`  // node, python: the versions that will do
	} `json:"compatibility"`
}

// NamedPart is a tool or a prompt that the manifest lists.
type NamedPart struct {
	Name        string `json:"name"`
	Description string `json:"description"`
}

// StartUp is how the server is started.
type StartUp struct {
	Type   string `json:"type"` // node, python, binary or uv
	Entry  string `json:"entry_point"`
	Config *struct {
		Command
		Overrides map[string]Command `json:"platform_overrides"` // by platform
	} `json:"mcp_config"`
}

// Command is a command line, with variables in it. Of an override, what is empty is that of all platforms.
type Command struct {
	Command string            `json:"command"`
	Args    []string          `json:"args"`
	Env     map[string]string `json:"env"`
}

// Option is one value that the user gives.
type Option struct {
	Type        string         `json:"type"` // string, number, boolean, directory or file
	Title       string         `json:"title"`
	Description string         `json:"description"`
	Required    bool           `json:"required"`
	Multiple    bool           `json:"multiple"`
	Sensitive   bool           `json:"sensitive"`
	Default     jsontext.Value `json:"default"`
	Min         *float64       `json:"min"`
	Max         *float64       `json:"max"`
}

// Title is what to call the bundle.
func (m *Manifest) Title() string {
	if m.DisplayName != "" {
		return m.DisplayName
	}
	return m.Name
}

var versions = []string{"0.1", "0.2", "0.3", "0.4"}

// parse reads a manifest. A member that occurs twice could mean one thing to whoever looks and another to whoever starts it, and is
// refused.
func parse(b []byte) (m Manifest, err error) {
	if err := json.Unmarshal(b, &m); err != nil {
		return m, err
	}
	if m.Version == "" {
		m.Version = m.OldVersion
	}
	s := m.Server
	switch {
	case m.Version == "":
		return m, errors.New("it has no manifest_version")
	case !slices.Contains(versions, m.Version):
		return m, fmt.Errorf("its version %q is not one that is known: %s", text.Clip(m.Version, 40), strings.Join(versions, ", "))
	case m.Name == "" || m.Release == "":
		return m, errors.New("it needs a name and a version")
	case !slices.Contains([]string{"node", "python", "binary", "uv"}, s.Type):
		return m, fmt.Errorf("its server is of the type %q; node, python, binary and uv are known", text.Clip(s.Type, 40))
	case s.Type == "uv" && m.Version < "0.4":
		return m, fmt.Errorf("its server is of the type uv, which version %s does not have", m.Version)
	case s.Config == nil && s.Entry == "" || s.Config != nil && s.Config.Command.Command == "":
		return m, errors.New("it does not say what to start")
	}
	if s.Entry != "" {
		if why := badName(strings.TrimPrefix(s.Entry, "./")); why != "" {
			return m, fmt.Errorf("its entry_point %q %s", text.Clip(s.Entry, 100), why)
		}
	}
	if m.order, err = members(b, "user_config"); err != nil {
		return m, err
	}
	for _, name := range m.order {
		o := m.UserConfig[name]
		if o == nil || !slices.Contains([]string{"string", "number", "boolean", "directory", "file"}, o.Type) {
			return m, fmt.Errorf("user_config.%s is of no type that is known: string, number, boolean, directory, file", text.Clip(name, 60))
		}
		if name == "" || strings.ContainsAny(name, "=${} \t\r\n\x00") {
			return m, fmt.Errorf("%q cannot be the name of a setting", text.Clip(name, 60))
		}
	}
	return m, nil
}

// members are the names in an object of the manifest, in its order.
func members(b []byte, of string) (names []string, err error) {
	var top map[string]jsontext.Value
	if err := json.Unmarshal(b, &top); err != nil {
		return nil, err
	}
	if top[of].Kind() != '{' {
		return nil, nil
	}
	d := jsontext.NewDecoder(strings.NewReader(string(top[of])))
	if _, err := d.ReadToken(); err != nil {
		return nil, err
	}
	for d.PeekKind() == '"' {
		t, err := d.ReadToken()
		if err != nil {
			return nil, err
		}
		names = append(names, t.String())
		if err := d.SkipValue(); err != nil {
			return nil, err
		}
	}
	return names, nil
}
