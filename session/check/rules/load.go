package rules

import (
	"bytes"
	"cmp"
	"embed"
	"encoding/json"
	"fmt"
	"strings"
	"sync"

	"github.com/goccy/go-yaml"
)

//go:embed *.yaml
var files embed.FS

// table is the file of a section.
type table struct {
	Revision string            `json:"revision"` // of the specification that spec leads to; "" for the newest that has the rule
	Read     string            `json:"read"`     // of rules that do not say when their source was read
	Sources  map[string]string `json:"sources"`  // URLs by the names that rules give as their source, where need be with a #fragment
	Texts    map[string]string `json:"texts"`    // what several rules say, for aliases of YAML
	Rules    []*Rule           `json:"rules"`
}

// section is what was read of a section's file.
type section struct {
	once sync.Once
	all  []*Rule
	byID map[string]*Rule
}

var (
	mu       sync.Mutex
	sections = map[string]*section{}
)

// Of are the rules of a section, in the order of its file; "live" are those about recorded traffic. The slice is the caller's.
func Of(name string) []*Rule { return append([]*Rule(nil), open(name).all...) }

// Find is the rule of a section with an id, nil for none.
func Find(name, id string) *Rule { return open(name).byID[id] }

func open(name string) *section {
	mu.Lock()
	s := sections[name]
	if s == nil {
		s = &section{}
		sections[name] = s
	}
	mu.Unlock()
	s.once.Do(func() { s.read(name) })
	return s
}

func (s *section) read(name string) {
	var t table
	decode(name, &t)
	s.all, s.byID = t.Rules, make(map[string]*Rule, len(t.Rules))
	for _, r := range t.Rules {
		key, fragment, found := strings.Cut(r.Source, "#")
		switch url := t.Sources[key]; {
		case r.Spec != "":
			r.Source = r.Link(t.Revision)
		case url != "" && found:
			r.Source = url + "#" + fragment
		case url != "":
			r.Source = url
		}
		if r.Source != "" {
			r.Read = cmp.Or(r.Read, t.Read)
		}
		s.byID[r.ID] = r
	}
}

// decode reads a file of this package, by way of JSON: the YAML library takes ten times as long for structs as for maps. A file that cannot be
// read is a fault of the program.
func decode(name string, into any) {
	var v map[string]any
	raw, err := files.ReadFile(name + ".yaml")
	if err == nil {
		err = yaml.Unmarshal(raw, &v)
	}
	if err == nil {
		raw, err = json.Marshal(v)
	}
	if err == nil {
		d := json.NewDecoder(bytes.NewReader(raw))
		d.DisallowUnknownFields()
		err = d.Decode(into)
	}
	if err != nil {
		panic(fmt.Sprintf("session/check/rules/%s.yaml: %v", name, err))
	}
}
