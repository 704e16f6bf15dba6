package config

import "encoding/json"

// Entry is the server as a file with one entry, in the dialect of mcpServers, secrets masked.
func (s Server) Entry() string {
	m := s.Masked()
	type entry struct {
		Type    string            `json:"type,omitempty"`
		Command string            `json:"command,omitempty"`
		Args    []string          `json:"args,omitempty"`
		Env     map[string]string `json:"env,omitempty"`
		Cwd     string            `json:"cwd,omitempty"`
		URL     string            `json:"url,omitempty"`
		Headers map[string]string `json:"headers,omitempty"`
		Helper  string            `json:"headersHelper,omitempty"`
		OAuth   *OAuth            `json:"oauth,omitempty"`
	}
	e := entry{Helper: commandLine(m.HeadersHelper), OAuth: m.OAuth, Command: m.Command, Args: m.Args, Env: m.Env, Cwd: m.Cwd, URL: m.URL, Headers: m.Headers}
	if m.URL != "" {
		e.Type = "http"
		if m.Transport == SSE || m.Transport == WS {
			e.Type = m.Transport
		}
	}
	out, err := json.MarshalIndent(map[string]any{"mcpServers": map[string]entry{s.Name: e}}, "", "  ")
	if err != nil { // strings only: cannot happen
		return ""
	}
	return string(out)
}
