package userconfig

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"time"

	"github.com/mcphud/mcphud/session/base/mask"
	"github.com/mcphud/mcphud/session/base/text"
	"github.com/mcphud/mcphud/session/config"
)

// Config is what a config.yaml says; what it does not say has the default of the table.
type Config struct {
	// File is the absolute path, Found whether something is there.
	File  string
	Found bool

	Theme string // "" lets the terminal's background decide
	// Keys are in file order.
	Keys     []Binding
	Mouse    bool
	Wrap     bool // long lines are wrapped
	Borders  string
	Split    int    // share of the first of two panes in percent; 0 leaves it to the screen
	Second   string // where the second pane goes: automatic, beside or below
	WhichKey time.Duration
	Editor   string // command line; "" leaves it to the environment
	Pager    string // the same
	Images   string
	Probes   bool   // health checks and probes are listed in traffic
	AskFirst string // which tools ask before they are called: destructive, writing or none

	RedactNames    []string // of headers, variables, members and parameters; * stands for anything
	RedactPatterns []*regexp.Regexp

	History      bool
	HistoryDays  int
	HistoryCalls int
	HistorySize  int64 // bytes

	TokenBudget int // of all tools of a server; 0 for any number

	RegistryURL string

	Proxy string // for whatever names none; "" leaves it to the environment
	CA    string // file of certificates that are trusted beside the system's
	Model Model

	Format         string // "" is text on a terminal, else json
	Linear         bool
	Timeout        time.Duration
	MaxTimeout     time.Duration
	ConnectTimeout time.Duration // 0 leaves it to the transport

	// Given has every setting that the file gives a valid value for, by its key.
	Given map[string]Given
	// Warnings are what is wrong in the file: each such value has its default.
	Warnings []config.Warning
}

// Model is the language model that may answer sampling.
type Model struct {
	URL, Name string
	Via       config.Server // its proxy and certificates
}

// Given is where a setting is written.
type Given struct {
	Texts     []string // as it is written: one, or the elements of a list
	Line, Col int      // of the value
}

// Binding gives other keys to an action.
type Binding struct {
	Action    string
	Keys      []string // none unbinds
	Line, Col int
}

// Bindings are the keys by action.
func (c *Config) Bindings() map[string][]string {
	all := map[string][]string{}
	for _, b := range c.Keys {
		all[b.Action] = b.Keys
	}
	return all
}

// Warn adds a warning about a setting that only the caller can judge, such as the name of a theme.
func (c *Config) Warn(line, col int, format string, args ...any) {
	c.Warnings = append(c.Warnings, config.Warning{File: c.File, Line: line, Col: col, Message: fmt.Sprintf(format, args...)})
}

// Default is the Config of an empty file.
func Default() Config {
	c := Config{Given: map[string]Given{}}
	for i := range table {
		if s := &table[i]; s.Default != "" {
			if err := s.set(&c, []string{s.Default}); err != nil {
				panic("userconfig: default of " + s.Key + ": " + err.Error()) // a test reads the table
			}
		}
	}
	return c
}

// Load reads a file. One that is not there gives the defaults. The error is a [config.Warning] with the line, or an *os.PathError, for
// a file of which nothing could be read; the Config has the defaults then. All else that is wrong is in Warnings.
func Load(path string) (Config, error) {
	c := Default()
	if path == "" {
		return c, nil
	}
	if _, err := os.Stat(path); os.IsNotExist(err) {
		c.File = path
		return c, nil
	}
	t, err := config.ReadTree(path)
	c.File, c.Found = path, true
	if err != nil {
		return c, err
	}
	c.read(t)
	return c, nil
}

// Parse is [Load] for a text at hand.
func Parse(path string, b []byte) (Config, error) {
	c := Default()
	c.File, c.Found = path, true
	t, err := config.ParseTree(path, b)
	if err != nil {
		return c, err
	}
	c.read(t)
	return c, nil
}

// Path is the file of a configuration folder, "" without one.
func Path(dir string) string {
	if dir == "" {
		return ""
	}
	return filepath.Join(dir, FileName)
}

// read takes over what a file says.
func (c *Config) read(t config.Tree) {
	c.Warnings = append(c.Warnings, t.Warnings...)
	switch t.Root.Shape {
	case config.Null: // nothing but comments
		return
	case config.Object:
	default:
		c.Warn(t.Root.Line, t.Root.Col, "the file is %s; it must be an object such as theme: dark", t.Root.Shape)
		return
	}
	c.object("", t.Root)
	// Files are written by hand from top to bottom: so are the remarks.
	slices.SortStableFunc(c.Warnings, func(a, b config.Warning) int { return a.Line - b.Line })
}

// object reads the members of the file, or of a block of it whose name with a dot is prefix.
func (c *Config) object(prefix string, n config.Node) {
	for _, m := range n.Members {
		key := prefix + m.Key
		switch s := Find(key); {
		case prefix == "" && m.Key == "$schema": // for editors
		case m.Value.Shape == config.Null: // not given
			if s == nil && !block(key) {
				c.warnUnknown(prefix, m)
			}
		case s != nil:
			c.setting(s, m)
		case !block(key):
			c.warnUnknown(prefix, m)
		case m.Value.Shape != config.Object:
			c.Warn(m.Value.Line, m.Value.Col, "%s is %s, and must be an object such as %s: {%s: …}; it is ignored", key, m.Value.Shape, key, names(key + ".")[0])
		default:
			c.object(key+".", m.Value)
		}
	}
}

func (c *Config) warnUnknown(prefix string, m config.Member) {
	all := names(prefix)
	msg := fmt.Sprintf("unknown key %.80q is ignored", prefix+m.Key)
	if like := text.Nearest(m.Key, all); like != "" {
		c.Warn(m.Line, m.Col, "%s; did you mean %s?", msg, prefix+like)
		return
	}
	for i := range table { // the right word in the wrong block
		if s := &table[i]; s.Key == m.Key || s.name() == m.Key {
			c.Warn(m.Line, m.Col, "%s; did you mean %s?", msg, s.Key)
			return
		}
	}
	c.Warn(m.Line, m.Col, "%s; the keys are %s", msg, joinOr(all))
}

// setting takes over one value.
func (c *Config) setting(s *Setting, m config.Member) {
	v := m.Value
	if s.Kind == Bindings {
		c.bindings(m)
		return
	}
	texts, ok := plain(v, s.List())
	if !ok {
		c.Warn(v.Line, v.Col, "%s is %s, and must be %s; %s", s.Key, v.Shape, s.Expected(), s.instead())
		return
	}
	before := *c
	if err := s.set(c, texts); err != nil {
		*c = before
		c.Warn(v.Line, v.Col, "%s is %.80q, and must be %s; %s", s.Key, mask.Text(err.Error()), s.Expected(), s.instead())
		return
	}
	c.Given[s.Key] = Given{texts, v.Line, v.Col}
}

// bindings reads the keys of actions. A list that is wrong leaves the action its keys.
func (c *Config) bindings(m config.Member) {
	if m.Value.Shape != config.Object {
		c.Warn(m.Value.Line, m.Value.Col, "keys is %s, and must be an object such as keys: {app.zoom: [z, f11]}; it is ignored", m.Value.Shape)
		return
	}
	for _, b := range m.Value.Members {
		keys, ok := plain(b.Value, true)
		if b.Value.Shape == config.Null {
			keys, ok = nil, true
		}
		if !ok {
			c.Warn(b.Value.Line, b.Value.Col, "the keys of %.80q are %s, and must be a key or a list of keys; they stay as they are", b.Key, b.Value.Shape)
			continue
		}
		c.Keys = append(c.Keys, Binding{b.Key, keys, b.Line, b.Col})
		c.Given["keys."+b.Key] = Given{keys, b.Line, b.Col}
	}
}

// plain are the texts of a plain value, or of the elements of a list where one may be.
func plain(n config.Node, list bool) (texts []string, ok bool) {
	items := []config.Node{n}
	if list && n.Shape == config.List {
		items = n.Items
	}
	texts = []string{}
	for _, it := range items {
		if it.Shape != config.Text && it.Shape != config.Scalar {
			return nil, false
		}
		texts = append(texts, it.Text)
	}
	return texts, true
}
