package registry

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/mcphud/mcphud/session/base/text"
)

// Bounds of one description.
const (
	maxDocument  = 1 << 20 // bytes
	maxDepth     = 40
	maxWays      = 40  // packages, and remotes
	maxArguments = 300 // of one package, of each kind; the same for variables and headers
)

// Document is a server.json, of the generation of 2025-12-11 or an older one. Everything in it is what its publisher wrote.
type Document struct {
	Schema      string     `json:"$schema"`
	Name        string     `json:"name"`
	Title       string     `json:"title"`
	Description string     `json:"description"`
	Version     string     `json:"version"`
	WebsiteURL  string     `json:"websiteUrl"`
	Status      string     `json:"status"` // of the generations before 2025-09-29
	Repository  Repository `json:"repository"`
	Packages    []Package  `json:"packages"`
	Remotes     []Remote   `json:"remotes"`
}

// Repository is where the source is said to be.
type Repository struct {
	URL       string `json:"url"`
	Source    string `json:"source"`
	Subfolder string `json:"subfolder"`
}

// Package is a program to run.
type Package struct {
	Type       string        `json:"registryType"` // npm, pypi, oci, nuget, mcpb …
	BaseURL    string        `json:"registryBaseUrl"`
	Identifier string        `json:"identifier"`
	Version    string        `json:"version"`
	SHA256     string        `json:"fileSha256"`
	Hint       string        `json:"runtimeHint"`
	Transport  Remote        `json:"transport"`
	RunArgs    []Argument    `json:"runtimeArguments"`
	Args       []Argument    `json:"packageArguments"`
	Env        []Argument    `json:"environmentVariables"`
	After      []Instruction `json:"postInstallInstructions"`
}

// Instruction is a step after an installation: shown, never run.
type Instruction struct {
	Description string `json:"description"`
	Command     string `json:"command"`
}

// Remote is a URL to talk to, and the transport of a Package.
type Remote struct {
	Type      string           `json:"type"`
	URL       string           `json:"url"`
	Headers   []Argument       `json:"headers"`
	Variables map[string]Input `json:"variables"`
}

// Input is a value that may have to be asked for.
type Input struct {
	Description string   `json:"description"`
	Required    bool     `json:"isRequired"`
	Secret      bool     `json:"isSecret"`
	Format      string   `json:"format"` // string, number, boolean or filepath
	Value       *scalar  `json:"value"`  // fixed, but for its {variables}
	Default     scalar   `json:"default"`
	Placeholder scalar   `json:"placeholder"`
	Choices     []scalar `json:"choices"`
}

// Argument is an argument of a command line, a variable of the environment or a header.
type Argument struct {
	Input
	Type      string           `json:"type"` // named or positional; "" of variables and headers
	Name      string           `json:"name"`
	ValueHint string           `json:"valueHint"`
	Repeated  bool             `json:"isRepeated"`
	Variables map[string]Input `json:"variables"`
}

// scalar is a text that some write as a number or as a boolean.
type scalar string

func (s *scalar) UnmarshalJSON(b []byte) error {
	switch b[0] {
	case '"':
		return json.Unmarshal(b, (*string)(s))
	case '{', '[':
		return errors.New("is not a text")
	case 'n': // null
	default:
		*s = scalar(b)
	}
	return nil
}

var (
	serverName = regexp.MustCompile(`^[a-zA-Z0-9][a-zA-Z0-9.-]*/[a-zA-Z0-9][a-zA-Z0-9._-]*$`)
	snake      = regexp.MustCompile(`_[a-z]`)
	// renamed are members of older generations.
	renamed = map[string]string{"registryName": "registryType", "transportType": "type"}
)

// ValidName reports whether a text has the form of a server's name: a namespace, a slash and a name.
func ValidName(name string) bool { return len(name) <= 200 && serverName.MatchString(name) }

// Namespace is the part of a server's name that its publisher has proved to own.
func Namespace(name string) string {
	before, _, _ := strings.Cut(name, "/")
	return before
}

// Parse reads a server.json of any generation, alone or as a registry wraps it.
func Parse(b []byte) (*Document, error) {
	if len(b) > maxDocument {
		return nil, fmt.Errorf("has more than %s", text.Bytes(maxDocument))
	}
	tree, err := decode(b)
	if err != nil {
		return nil, err
	}
	top, ok := tree.(map[string]any)
	if !ok {
		return nil, errors.New("is not a JSON object")
	}
	if inner, ok := top["server"].(map[string]any); ok && top["name"] == nil {
		top = inner
	}
	return document(top)
}

func document(top map[string]any) (*Document, error) {
	modernise(top)
	b, err := json.Marshal(top)
	if err != nil {
		return nil, err
	}
	d := &Document{}
	if err := json.Unmarshal(b, d); err != nil {
		var wrong *json.UnmarshalTypeError
		if errors.As(err, &wrong) {
			return nil, fmt.Errorf("%s is a %s, and must be a %s", wrong.Field, wrong.Value, wrong.Type.Kind())
		}
		return nil, err
	}
	return d, d.check()
}

// check refuses what cannot be meant.
func (d *Document) check() error {
	switch {
	case !ValidName(d.Name):
		return fmt.Errorf("%q is not a server's name: NAMESPACE/NAME is one", text.Clip(d.Name, 80))
	case len(d.Packages) > maxWays || len(d.Remotes) > maxWays:
		return fmt.Errorf("has %d packages and %d remotes, and %d are the limit", len(d.Packages), len(d.Remotes), maxWays)
	}
	for _, p := range d.Packages {
		for _, n := range []int{len(p.RunArgs), len(p.Args), len(p.Env), len(p.Transport.Headers)} {
			if n > maxArguments {
				return fmt.Errorf("%q has %d arguments or variables, and %d are the limit", text.Clip(p.Identifier, 80), n, maxArguments)
			}
		}
	}
	for _, r := range d.Remotes {
		if len(r.Headers) > maxArguments {
			return fmt.Errorf("a remote has %d headers, and %d are the limit", len(r.Headers), maxArguments)
		}
	}
	return nil
}

// decode reads one value, numbers as they are written.
func decode(b []byte) (any, error) {
	if err := checkDepth(b); err != nil {
		return nil, err
	}
	d := json.NewDecoder(bytes.NewReader(b))
	d.UseNumber()
	var tree any
	if err := d.Decode(&tree); err != nil {
		if errors.Is(err, io.EOF) {
			err = errors.New("it is empty")
		}
		return nil, fmt.Errorf("is not valid JSON: %w", err)
	}
	if d.More() {
		return nil, errors.New("is not valid JSON: something follows the value")
	}
	return tree, nil
}

// checkDepth refuses what is deeper than any description, before anything is built of it.
func checkDepth(b []byte) error {
	depth, quoted := 0, false
	for i := 0; i < len(b); i++ {
		switch c := b[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '{' || c == '[':
			if depth++; depth > maxDepth {
				return fmt.Errorf("has more than %d levels", maxDepth)
			}
		case c == '}' || c == ']':
			depth--
		}
	}
	return nil
}

// modernise gives members of older generations their present names. The names of variables are the publisher's, and stay.
func modernise(v any) {
	switch v := v.(type) {
	case []any:
		for _, e := range v {
			modernise(e)
		}
	case map[string]any:
		if detail, ok := v["version_detail"].(map[string]any); ok && v["version"] == nil {
			v["version"] = detail["version"]
		}
		if _, ok := v["registry_name"]; ok && v["identifier"] == nil {
			v["identifier"] = v["name"]
		}
		for _, key := range slices.Sorted(maps.Keys(v)) { // of two old names of one member the first is taken
			member := v[key]
			if key == "variables" {
				if vars, ok := member.(map[string]any); ok {
					for _, input := range vars {
						modernise(input)
					}
				}
				continue
			}
			if key != "_meta" {
				modernise(member)
			}
			name := snake.ReplaceAllStringFunc(key, func(s string) string { return strings.ToUpper(s[1:]) })
			if now, ok := renamed[name]; ok {
				name = now
			}
			if name != key && key != "_meta" {
				if v[name] == nil {
					v[name] = member
				}
				delete(v, key)
			}
		}
	}
}
