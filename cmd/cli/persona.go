package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mcphud/mcphud/cmd/cli/output"
	"github.com/mcphud/mcphud/session"
	"github.com/mcphud/mcphud/session/base/failure"
	"github.com/mcphud/mcphud/session/base/jsonrpc"
	"github.com/mcphud/mcphud/session/client/persona"
)

// capabilityNames are what --capabilities takes.
var capabilityNames = []string{"elicitation", "elicitation.form", "elicitation.url", "sampling", "sampling.tools", "sampling.context", "roots"}

// presented is what --as and --capabilities say of us to servers; nil where neither was given. The persona's version is not spoken
// where --protocol names one.
func (o *Options) presented(capabilitiesGiven bool) (*session.Client, error) {
	if o.as == "" && !capabilitiesGiven {
		return nil, nil
	}
	c := &session.Client{}
	if o.as != "" {
		p, err := findPersona(o.as)
		if err != nil {
			return nil, err
		}
		c = p.Client()
	}
	if capabilitiesGiven {
		raw, err := capabilitiesOf(o.capabilities)
		if err != nil {
			return nil, err
		}
		c.Capabilities = raw
	}
	if o.Protocol != "" {
		c.Protocol = o.Protocol
	}
	return c, nil
}

// findPersona is a known persona, or that of a file.
func findPersona(name string) (persona.Persona, error) {
	if p, ok := persona.Find(name); ok {
		return p, nil
	}
	p, err := persona.Read(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return p, failure.UsageError(fmt.Sprintf("--as %s: there is no such client, and no such file", name), output.DidYouMean(name, persona.Names())+"the clients are "+strings.Join(persona.Names(), ", "))
	case err != nil:
		return p, &failure.Error{Kind: failure.Usage, Message: "--as " + err.Error(), Err: err, Next: "correct the file, or name one of " + strings.Join(persona.Names(), ", ")}
	}
	return p, nil
}

// capabilitiesOf makes the object of a list of names such as "elicitation.url,roots".
func capabilitiesOf(list string) ([]byte, error) {
	var names []string
	for name := range strings.SplitSeq(list, ",") {
		if name = strings.TrimSpace(name); name != "" {
			names = append(names, name)
		}
	}
	var set []jsonrpc.Change
	for _, name := range names {
		if !slices.Contains(capabilityNames, name) {
			return nil, failure.UsageError(fmt.Sprintf("--capabilities: %q is not a capability of clients", name), output.DidYouMean(name, capabilityNames)+"they are "+strings.Join(capabilityNames, ", "))
		}
		capability, part, divided := strings.Cut(name, ".")
		if name == "elicitation" && slices.Contains(names, "elicitation.url") {
			part, divided = "form", true // an object with url alone would leave forms out
		}
		path := []string{capability}
		if divided {
			path = append(path, part)
		}
		set = append(set, jsonrpc.Default([]byte("{}"), path...))
	}
	out := []byte("{}")
	for _, change := range set { // one after the other: the first makes the object that the next is put into
		var err error
		if out, err = jsonrpc.Update(out, change); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// completeCapabilities completes the last name of the list.
func completeCapabilities(_ *cobra.Command, _ []string, typed string) ([]string, cobra.ShellCompDirective) {
	before := typed[:strings.LastIndexByte(typed, ',')+1]
	var out []string
	for _, name := range capabilityNames {
		if !slices.Contains(strings.Split(before, ","), name) {
			out = append(out, before+name)
		}
	}
	return out, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
}
