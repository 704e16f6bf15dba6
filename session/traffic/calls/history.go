package calls

import (
	"strings"

	"github.com/mcphud/mcphud/session/config"
	"github.com/mcphud/mcphud/session/traffic/history"
)

// Of is a call that was made, as a file. Its secrets are not in it.
func Of(k history.Call, file, name string) Call {
	c := Call{
		Name: name, File: file, Method: k.Method, Target: k.Target, Arguments: k.Arguments, Meta: k.UnmaskedMeta(),
		Timeout: k.Timeout, Note: k.Note,
	}
	switch srv, ok := k.Server.Of(); {
	case !k.Server.Unnamed:
		c.Server = k.Server.Name
	case !ok, srv.Sandbox != nil: // which such a file has no place for; without it, something else would be called
	case srv.Command != "":
		c.Command = append([]string{srv.Command}, srv.Args...)
	default:
		c.URL = srv.URL
	}
	for _, p := range k.Secrets {
		if below, ok := strings.CutPrefix(p, "/arguments/"); ok {
			c.Secrets = append(c.Secrets, "/"+below)
		}
	}
	return c
}

// Trust lets what a file describes start without a question, after a call that was made at the same server was written to it: by the same
// command, in the same folder where that matters, or at the same URL. Of a file that describes something else it trusts nothing.
func Trust(t *config.Trust, file string, made config.Server) error {
	f, _, err := Read(file)
	if err != nil {
		return err
	}
	s, ok := f.Calls[0].Config()
	if !ok || made.Target() == "" || s.Target() != made.Target() {
		return nil
	}
	return t.Trust(s)
}
