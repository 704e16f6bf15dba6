package calls

import (
	"strings"

	"github.com/mcphud/mcphud/session/history"
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
	case !ok:
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
