//go:generate go test -run TestManual -update .

package userconfig

import (
	"errors"
	"fmt"
	"net/url"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/mcphud/mcphud/session/base/text"
	"github.com/mcphud/mcphud/session/config"
)

// Setting is a row of the table.
type Setting struct {
	// Key is its name, with the block it is in before a dot.
	Key  string
	Kind Kind
	// Default is what holds without a value, as it would be written; "" where that is nothing, which Without says in words.
	Default, Without string
	// Help is a sentence or two, in Markdown.
	Help string

	choices   []string
	min, max  int
	noSeconds bool // a duration of 0 is one, too
	into      func(*Config) any
}

// Kind is what a value looks like.
type Kind uint8

// The kinds.
const (
	Choice   Kind = iota // one of several words
	Word                 // any text
	Command              // a command line, split like a shell would
	Number               // a whole number within bounds
	Switch               // true or false
	Duration             // 300ms, 30s
	Size                 // 100MB
	URL                  // http or https
	Proxy                // that of a proxy, or none
	File                 // a file, relative to the folder of config.yaml
	Words                // a list of texts
	Patterns             // a list of regular expressions
	Bindings             // an object of keys by action
)

// table has every setting, in the order of the reference.
var table = []Setting{
	{
		Key: "theme", Kind: Word, Without: "the terminal's background decides", into: func(c *Config) any { return &c.Theme },
		Help: "The colours: `dark`, `light`, `contrast`, `deuteranopia`, `tritanopia`, `ansi16`, or the name of a file in `themes`, see [Themes](#themes).",
	},
	{
		Key: "keys", Kind: Bindings, Without: "those of the table of keys",
		Help: "Other keys for actions, by the action's id: one key or a list; an empty list unbinds. See [Keys](#keys).",
	},
	{Key: "mouse", Kind: Switch, Default: "true", into: func(c *Config) any { return &c.Mouse }, Help: "Whether the mouse is captured at the start. While it is not, the terminal selects text."},
	{
		Key: "layout.borders", Kind: Choice, Default: "rounded", choices: []string{"rounded", "square", "heavy", "double", "ascii"}, into: func(c *Config) any { return &c.Borders },
		Help: "How the rules between panes and the frames of dialogs are drawn.",
	},
	{
		Key: "layout.split", Kind: Number, Without: "each screen's own", min: 20, max: 80, into: func(c *Config) any { return &c.Split },
		Help: "The share of the list, in percent, where a screen has two panes.",
	},
	{
		Key: "layout.second", Kind: Choice, Default: "automatic", choices: []string{"automatic", "beside", "below"}, into: func(c *Config) any { return &c.Second },
		Help: "Where the second pane goes.",
	},
	{Key: "layout.wrap", Kind: Switch, Default: "true", into: func(c *Config) any { return &c.Wrap }, Help: "Whether long lines of a text are wrapped; otherwise they scroll sideways."},
	{
		Key: "layout.which_key", Kind: Duration, Default: "300ms", noSeconds: true, into: func(c *Config) any { return &c.WhichKey },
		Help: "How long after the first key of a chord its second keys are listed.",
	},
	{
		Key: "editor", Kind: Command, Without: "`$VISUAL`, `$EDITOR`, `vi`", into: func(c *Config) any { return &c.Editor },
		Help: "The editor, with arguments. It comes before the variables, which are for every program.",
	},
	{Key: "pager", Kind: Command, Without: "`$PAGER`, `less`", into: func(c *Config) any { return &c.Pager }, Help: "The pager, with arguments; as with the editor."},
	{
		Key: "images", Kind: Choice, Default: "auto", choices: []string{"auto", "kitty", "iterm2", "sixel", "blocks", "none"}, into: func(c *Config) any { return &c.Images },
		Help: "How pictures are drawn, see [Pictures](#pictures).",
	},
	{
		Key: "traffic.probes", Kind: Switch, Default: "false", into: func(c *Config) any { return &c.Probes },
		Help: "Whether health checks, and questions for what a server speaks, are listed in the traffic, in time and in the ticker.",
	},
	{
		Key: "ask_first", Kind: Choice, Default: "destructive", choices: []string{"destructive", "writing", "none"}, into: func(c *Config) any { return &c.AskFirst },
		Help: "Which tools ask before they are called: those that their server marks as destructive, all that it does not mark as read-only (`writing`), or none.",
	},
	{
		Key: "redaction.names", Kind: Words, Without: "none", into: func(c *Config) any { return &c.RedactNames },
		Help: "Further names of headers, variables, members and parameters whose values are secrets; `*` stands for anything: `X-Corp-*`.",
	},
	{
		Key: "redaction.patterns", Kind: Patterns, Without: "none", into: func(c *Config) any { return &c.RedactPatterns },
		Help: "Regular expressions; whatever they match in a text is a secret.",
	},
	{Key: "history.enabled", Kind: Switch, Default: "true", into: func(c *Config) any { return &c.History }, Help: "Whether calls are kept."},
	{Key: "history.days", Kind: Number, Default: "90", min: 1, max: 36500, into: func(c *Config) any { return &c.HistoryDays }, Help: "For how many days."},
	{Key: "history.calls", Kind: Number, Default: "10000", min: 1, max: 10_000_000, into: func(c *Config) any { return &c.HistoryCalls }, Help: "How many calls at most."},
	{Key: "history.size", Kind: Size, Default: "100MB", into: func(c *Config) any { return &c.HistorySize }, Help: "How much of arguments and results at most, compressed."},
	{
		Key: "token_budget", Kind: Number, Without: "any number", min: 1, max: 10_000_000, into: func(c *Config) any { return &c.TokenBudget },
		Help: "How many tokens the tools of one server may take together. More is a warning above the tools, and an error of `mcphud check cost`.",
	},
	{
		Key: "registry.url", Kind: URL, Default: "https://registry.modelcontextprotocol.io", into: func(c *Config) any { return &c.RegistryURL },
		Help: "The registry in which servers are looked up.",
	},
	{
		Key: "network.proxy", Kind: Proxy, Without: "`HTTPS_PROXY`, `HTTP_PROXY`, `ALL_PROXY`", into: func(c *Config) any { return &c.Proxy },
		Help: "The proxy for whatever names none of its own: servers, their logins, registries, downloads, the language model, collectors. See `mcphud help network`.",
	},
	{
		Key: "network.ca", Kind: File, Without: "the system's alone", into: func(c *Config) any { return &c.CA },
		Help: "A file of certificates (PEM) that are trusted beside the system's, for all of these.",
	},
	{
		Key: "model.url", Kind: URL, Without: "none", into: func(c *Config) any { return &c.Model.URL },
		Help: "The OpenAI-compatible API that may answer sampling on request; its key is in `MCPHUD_MODEL_KEY`.",
	},
	{Key: "model.name", Kind: Word, Without: "the API's own", into: func(c *Config) any { return &c.Model.Name }, Help: "The model that is asked for."},
	{
		Key: "model.proxy", Kind: Proxy, Without: "`network.proxy`", into: func(c *Config) any { return &c.Model.Via.Proxy },
		Help: "How that API is reached: this and the next four say of it what they say of a server.",
	},
	{Key: "model.ca", Kind: File, Without: "the system's, and `network.ca`", into: func(c *Config) any { return &c.Model.Via.CA }, Help: "Certificates (PEM) by which it is trusted instead."},
	{Key: "model.client_cert", Kind: File, Without: "none", into: func(c *Config) any { return &c.Model.Via.ClientCert }, Help: "The certificate (PEM) that is shown to it."},
	{Key: "model.client_key", Kind: File, Without: "in the file of the certificate", into: func(c *Config) any { return &c.Model.Via.ClientKey }, Help: "The private key of that."},
	{Key: "model.insecure", Kind: Switch, Default: "false", into: func(c *Config) any { return &c.Model.Via.Insecure }, Help: "Take whatever certificate it shows: for tests only. The inbox says so."},
	{
		Key: "format", Kind: Choice, Without: "`text` on a terminal, else `json`", choices: []string{"text", "json", "jsonl", "raw"}, into: func(c *Config) any { return &c.Format },
		Help: "How commands print.",
	},
	{Key: "linear", Kind: Switch, Default: "false", into: func(c *Config) any { return &c.Linear }, Help: "Plain lines instead of a full screen."},
	{Key: "timeout", Kind: Duration, Default: config.DefaultTimeout.String(), into: func(c *Config) any { return &c.Timeout }, Help: "Time limit of a request; progress restarts it. A server's own comes first."},
	{Key: "max_timeout", Kind: Duration, Default: "5m", into: func(c *Config) any { return &c.MaxTimeout }, Help: "Time limit of a request, whatever its progress."},
	{Key: "connect_timeout", Kind: Duration, Without: "15s to a URL, 2m to a command", into: func(c *Config) any { return &c.ConnectTimeout }, Help: "Time limit of connecting."},
}

// Table is every setting, in the order of the reference.
func Table() []Setting { return slices.Clone(table) }

// Find is the setting of a key, nil if there is none.
func Find(key string) *Setting {
	for i := range table {
		if table[i].Key == key {
			return &table[i]
		}
	}
	return nil
}

// Choices are the words that a Choice can be.
func (s *Setting) Choices() []string { return slices.Clone(s.choices) }

// name is the key without the block.
func (s *Setting) name() string { return s.Key[strings.LastIndexByte(s.Key, '.')+1:] }

// List reports whether the value may be several texts.
func (s *Setting) List() bool { return s.Kind == Words || s.Kind == Patterns }

// instead says what holds in place of a value that is wrong.
func (s *Setting) instead() string {
	if s.List() {
		return "it is ignored"
	}
	return "the default is used"
}

// Expected completes "it must be …".
func (s *Setting) Expected() string {
	switch s.Kind {
	case Choice:
		return "one of " + joinOr(s.choices)
	case Word:
		return "a word"
	case Command:
		return "a command line such as " + `"emacs -nw"`
	case Number:
		return fmt.Sprintf("a whole number from %d to %d", s.min, s.max)
	case Switch:
		return "true or false"
	case Duration:
		return "a duration such as 30s or 300ms"
	case Size:
		return "a size such as 100MB"
	case URL:
		return "an http or https URL"
	case Proxy:
		return "the URL of a proxy such as http://host:port, or none"
	case File:
		return "the name of a file"
	case Words:
		return "a list of texts"
	case Patterns:
		return "a list of regular expressions"
	}
	return "an object of keys by action"
}

// Check reports whether the texts of a value are valid.
func (s *Setting) Check(texts ...string) error {
	var c Config
	if err := s.set(&c, texts); err != nil {
		return errors.New("must be " + s.Expected())
	}
	return nil
}

// set takes over a value. Its error is the text that is wrong.
func (s *Setting) set(c *Config, texts []string) error {
	if s.Kind == Bindings {
		return nil
	}
	if s.List() {
		return setList(s.into(c), texts)
	}
	if len(texts) != 1 {
		return errors.New(joinOr(texts))
	}
	t := texts[0]
	wrong := errors.New(t)
	switch p := s.into(c).(type) {
	case *string:
		switch s.Kind {
		case Choice:
			if !slices.Contains(s.choices, t) {
				return wrong
			}
		case Command:
			if argv, err := text.Words(t); err != nil || len(argv) == 0 {
				return wrong
			}
		case URL:
			if u, err := url.Parse(t); err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
				return wrong
			}
			t = strings.TrimRight(t, "/")
		case Proxy:
			if t == "" || config.CheckProxy(t) != nil {
				return wrong
			}
		case File:
			if strings.TrimSpace(t) == "" {
				return wrong
			}
			if !filepath.IsAbs(t) && c.File != "" {
				t = filepath.Join(filepath.Dir(c.File), t)
			}
		default:
			if strings.TrimSpace(t) == "" {
				return wrong
			}
		}
		*p = t
	case *bool:
		if t != "true" && t != "false" {
			return wrong
		}
		*p = t == "true"
	case *int:
		n, err := strconv.Atoi(t)
		if err != nil || n < s.min || n > s.max {
			return wrong
		}
		*p = n
	case *int64:
		n, err := config.ParseSize(t)
		if err != nil {
			return wrong
		}
		*p = n
	case *time.Duration:
		d, err := time.ParseDuration(t)
		if err != nil || d < 0 || d == 0 && !s.noSeconds || d > 365*24*time.Hour {
			return wrong
		}
		*p = d
	}
	return nil
}

func setList(into any, texts []string) error {
	switch p := into.(type) {
	case *[]string:
		for _, t := range texts {
			if strings.Trim(t, "* ") == "" { // would hide everything
				return errors.New(t)
			}
		}
		*p = texts
	case *[]*regexp.Regexp:
		var all []*regexp.Regexp
		for _, t := range texts {
			re, err := regexp.Compile(t)
			if err != nil || re.MatchString("") {
				return errors.New(t)
			}
			all = append(all, re)
		}
		*p = all
	}
	return nil
}

// block reports whether settings have a key that begins with it and a dot.
func block(key string) bool { return len(names(key+".")) > 0 }

// names are the keys of the file (prefix ""), or of a block of it, without the block.
func names(prefix string) (all []string) {
	for i := range table {
		if rest, ok := strings.CutPrefix(table[i].Key, prefix); ok {
			name, _, _ := strings.Cut(rest, ".")
			if !slices.Contains(all, name) {
				all = append(all, name)
			}
		}
	}
	return all
}

func joinOr(words []string) string {
	if len(words) < 2 {
		return strings.Join(words, "")
	}
	return strings.Join(words[:len(words)-1], ", ") + " or " + words[len(words)-1]
}
