package config

import (
	"errors"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// Settings are what a mcphud.yaml or mcp.yaml says about all servers together.
// Zero stands for the default. Where several files say something the first in the order of precedence is in force; Given has them all.
type Settings struct {
	Pool         Pool  `json:"pool"`
	AutoDiscover *bool `json:"auto_discover,omitempty"` // whether a server's tools are registered when it connects; true also connects the file's servers at start, which nil does not
	// ContinueOnError lets the other servers go on when one fails; nil = true.
	ContinueOnError *bool         `json:"continue_on_error,omitempty"`
	CacheTTL        time.Duration `json:"cache_ttl,omitempty"` // how long a tool list without its own ttl may be used; 0 = until the server says it changed
	// ResultCacheTTL is how long a result of a read-only, idempotent tool may be given again for an equal call; 0 = never.
	ResultCacheTTL time.Duration `json:"result_cache_ttl,omitempty"`
	Timeouts       Timeouts      `json:"timeouts"`
	MaxRetries     int           `json:"max_retries,omitempty"`   // attempts to make a lost connection again; 0 = 10, or none where it is given
	RetryBackoff   time.Duration `json:"retry_backoff,omitempty"` // wait before the first of them, doubled for each further one; 0 = 500 ms
	// MaxConcurrentCalls bounds the tool calls that run at once, of all servers together; 0 = no limit.
	MaxConcurrentCalls int `json:"max_concurrent_calls,omitempty"`
	// AllowedToolPattern is a regular expression; a tool whose name it does not match is not called. "" = all are.
	AllowedToolPattern string `json:"allowed_tool_pattern,omitempty"`
	// ClientMetadataURL is where the client-id metadata document for logins is, an https URL; "" = there is none.
	ClientMetadataURL string `json:"client_metadata_url,omitempty"`
	// Given has where each setting was written, by its name ("pool.max_idle_time"): the one in force first, then those that it overrides.
	Given map[string][]Given `json:"given,omitempty"`
}

// Given is one place where a setting is written.
type Given struct {
	File string `json:"file"`
	Line int    `json:"line"` // 1-based
	Text string `json:"text"` // as it is written
}

// SettingNames are the names of all settings, as Given has them.
func SettingNames() []string {
	return []string{
		"auto_discover", "continue_on_error", "cache_ttl", "result_cache_ttl", "max_retries", "retry_backoff", "max_concurrent_calls", "allowed_tool_pattern", "client_metadata_url", "pool.max_idle_time", "pool.cleanup_interval", "pool.max_connections",
		"timeouts.tool_call", "timeouts.connect", "timeouts.discovery",
	}
}

// File is the file that a setting comes from, "" if none has it.
func (s *Settings) File(name string) string {
	if at := s.Given[name]; len(at) > 0 {
		return at[0].File
	}
	return ""
}

// Pool is the pool block.
type Pool struct {
	MaxIdleTime     time.Duration `json:"max_idle_time,omitempty"`    // an unused connection is closed after that time; 0 = 5 minutes
	CleanupInterval time.Duration `json:"cleanup_interval,omitempty"` // how often to look; 0 = 1 minute
	MaxConnections  int           `json:"max_connections,omitempty"`  // 0 = no limit
}

// Timeouts is the timeouts block. The first two are for the servers of the same file that say nothing themselves.
type Timeouts struct {
	ToolCall  time.Duration `json:"tool_call,omitempty"` // Server.Timeout
	Connect   time.Duration `json:"connect,omitempty"`   // Server.ConnectTimeout
	Discovery time.Duration `json:"discovery,omitempty"` // of discovering a server's tools; 0 = its own timeout
}

// apply fills in what the server says nothing about.
func (t Timeouts) apply(s *Server) {
	if s.Timeout == 0 {
		s.Timeout = t.ToolCall
	}
	if s.ConnectTimeout == 0 {
		s.ConnectTimeout = t.Connect
	}
}

// setting points to what files call by that name, such as "pool.max_connections"; nil if nothing is called so.
func (s *Settings) setting(name string) any {
	switch name {
	case "auto_discover":
		return &s.AutoDiscover
	case "continue_on_error":
		return &s.ContinueOnError
	case "cache_ttl":
		return &s.CacheTTL
	case "result_cache_ttl":
		return &s.ResultCacheTTL
	case "max_retries":
		return &s.MaxRetries
	case "retry_backoff":
		return &s.RetryBackoff
	case "max_concurrent_calls":
		return &s.MaxConcurrentCalls
	case "allowed_tool_pattern":
		return &s.AllowedToolPattern
	case "client_metadata_url":
		return &s.ClientMetadataURL
	case "pool.max_idle_time":
		return &s.Pool.MaxIdleTime
	case "pool.cleanup_interval":
		return &s.Pool.CleanupInterval
	case "pool.max_connections":
		return &s.Pool.MaxConnections
	case "timeouts.tool_call":
		return &s.Timeouts.ToolCall
	case "timeouts.connect":
		return &s.Timeouts.Connect
	case "timeouts.discovery":
		return &s.Timeouts.Discovery
	}
	return nil
}

// read takes over one member of a file or of the mcp block; false if it is not a setting.
func (s *Settings) read(d *document, m member) bool {
	if m.key == "pool" || m.key == "timeouts" {
		for _, inner := range m.value.members() {
			if !s.readOne(d, m.key+"."+inner.key, inner) {
				d.warnAt(inner.line, inner.col, "unknown key %q of %s is ignored", clip(inner.key), m.key)
			}
		}
		return true
	}
	return !strings.Contains(m.key, ".") && s.readOne(d, m.key, m) // a dot is for the names of settings in blocks
}

// nothing is a pattern that no name matches.
const nothing = `[^\s\S]`

// readOne reads the setting of that name; false if there is none. A value that does not fit is left out with a warning, but for a pattern that restricts.
func (s *Settings) readOne(d *document, name string, m member) bool {
	var err error
	switch p := s.setting(name).(type) {
	case *time.Duration:
		*p, err = parseDuration(m.value)
	case **bool:
		var v bool
		if v, err = strconv.ParseBool(m.value.text()); err == nil {
			*p = &v
		} else {
			err = errors.New("neither true nor false")
		}
	case *int:
		if *p, err = strconv.Atoi(m.value.text()); err != nil || *p < 0 {
			*p, err = 0, errors.New("not a number")
		}
	case *string:
		*p = m.value.text()
		if p == &s.ClientMetadataURL {
			if err = CheckClientMetadataURL(*p); err != nil {
				*p = ""
			}
		} else if _, wrong := regexp.Compile(*p); wrong != nil {
			*p = nothing // what restricts is not left out because of a mistake in it
			d.warnAt(m.line, m.col, "%s: %v; no tool is called until it is corrected", m.key, wrong)
		}
	default:
		return false
	}
	if err != nil {
		d.warnAt(m.line, m.col, "%s: %v; it is ignored", m.key, err)
		return true
	}
	s.give(name, Given{Line: m.line, Text: m.value.text()})
	return true
}

// CheckClientMetadataURL says why a URL cannot be that of a client-id metadata document.
// https://datatracker.ietf.org/doc/draft-ietf-oauth-client-id-metadata-document
func CheckClientMetadataURL(text string) error {
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "https" || u.Host == "" || strings.Trim(u.Path, "/") == "" || u.User != nil || u.Fragment != "" {
		return errors.New("not an https URL with a path")
	}
	return nil
}

// give notes where a setting is written.
func (s *Settings) give(name string, at Given) {
	if s.Given == nil {
		s.Given = map[string][]Given{}
	}
	s.Given[name] = append(s.Given[name], at)
}

// merge takes over what no earlier file has set, and notes the rest.
func (s *Settings) merge(o Settings, file string) {
	for name, all := range o.Given {
		_, have := s.Given[name]
		at := all[len(all)-1] // of two in one file the last is in force
		at.File = file
		if s.give(name, at); have {
			continue
		}
		switch p := s.setting(name).(type) {
		case *time.Duration:
			*p = *o.setting(name).(*time.Duration)
		case **bool:
			*p = *o.setting(name).(**bool)
		case *int:
			*p = *o.setting(name).(*int)
		case *string:
			*p = *o.setting(name).(*string)
		}
	}
}
