package calls

import (
	"strings"

	"github.com/mcphud/mcphud/session/base/jsonrpc"
	"github.com/mcphud/mcphud/session/config"
)

// inArguments begins the pointers of secrets that are in the arguments, inMeta of those in the metadata; inURI is the one of a resource's URI.
const (
	inArguments = "/arguments"
	inMeta      = "/meta"
	inURI       = "/uri"
)

// Unmasked is the arguments without what was hidden in them: an array that had a secret in it goes as a whole. What is missing has to be
// given again.
func (c Call) Unmasked() []byte { return removeMembers(c.Arguments, c.Secrets, inArguments) }

// UnmaskedMeta is the same of the metadata.
func (c Call) UnmaskedMeta() []byte { return removeMembers(c.Meta, c.Secrets, inMeta) }

// removeMembers returns an object without the members that pointers below a prefix lead to.
func removeMembers(value []byte, pointers []string, prefix string) []byte {
	for _, p := range pointers {
		rest, ok := strings.CutPrefix(p, prefix)
		switch {
		case !ok:
			continue
		case rest == "":
			return nil
		}
		var path []string
		at := value
		for token := range strings.SplitSeq(strings.TrimPrefix(rest, "/"), "/") {
			if len(at) == 0 || at[0] != '{' {
				break
			}
			name := jsonrpc.UnescapeToken(token)
			path = append(path, name)
			at = jsonrpc.Get(at, name)
		}
		if out, err := jsonrpc.Update(value, jsonrpc.Delete(path...)); err == nil && len(path) > 0 {
			value = out
		} else {
			return nil
		}
	}
	return value
}

// Saved is a call as a file of a project has it. Its secrets are not in it.
func (c Call) Saved(file, name string) Call {
	out := Call{
		Name: name, File: file, Server: c.Server, Method: c.Method, Target: c.Target, Arguments: c.Arguments, Meta: c.UnmaskedMeta(), Timeout: c.Timeout, Note: c.Note,
	}
	if _, whole := c.Server.Config(); c.Server.Unnamed && (!whole || c.Server.Sandbox != nil) { // which a file has no place for; without it, something else would be called
		out.Server = Server{}
	}
	for _, p := range c.Secrets {
		if strings.HasPrefix(p, inArguments+"/") {
			out.Secrets = append(out.Secrets, p)
		}
	}
	return out
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
