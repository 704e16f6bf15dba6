package config

import (
	"strings"

	"github.com/mcphud/mcphud/session/base/mask"
)

// Destination is the command line or the URL of s, with its secrets: see [Server.Masked].
func (s Server) Destination() string {
	if s.Command != "" {
		return strings.Join(append([]string{s.Command}, s.Args...), " ")
	}
	return s.URL
}

// Masked is a copy of s that may be shown or printed.
func (s Server) Masked() Server {
	sent := s
	s.Command = s.hide(mask.Text(s.Command))
	s.Args = s.maskArgs(s.Args)
	s.HeadersHelper = s.maskArgs(s.HeadersHelper)
	s.Env = s.maskMap(s.Env)
	s.Headers = s.maskMap(s.Headers)
	s.URL = s.hide(mask.URL(s.URL))
	s.Proxy = s.hide(mask.URL(s.Proxy))
	if s.OAuth != nil {
		s.OAuth = s.OAuth.maskCopy(s.hide)
	}
	s.secrets, s.token = nil, ""
	sent.origin.show(sent, &s)
	return s
}

func (s Server) maskArgs(args []string) []string {
	if args == nil {
		return nil
	}
	out := mask.Args(args)
	for i := range out {
		out[i] = s.hide(out[i])
	}
	return out
}

func (s Server) maskMap(m map[string]string) map[string]string {
	if m == nil {
		return nil
	}
	out := make(map[string]string, len(m))
	for k, v := range m {
		out[k] = s.hide(mask.Value(k, v))
	}
	return out
}

// hide replaces the values of secret variables that were expanded into s. One
// of a character or two would only riddle the text.
func (s Server) hide(v string) string {
	for _, secret := range s.secrets {
		if len(secret) > 3 {
			v = strings.ReplaceAll(v, secret, mask.Hidden)
		}
	}
	return v
}
