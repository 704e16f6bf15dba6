// Package contract keeps what a server offers in a file of a project, mcphud.lock, and says what each change of it means: for who calls
// the server, and for the model that reads it. What clients really sent is evidence: it is checked against what the server takes now.
package contract

import (
	"github.com/mcphud/mcphud/session/check"
	"github.com/mcphud/mcphud/session/offer"
)

// Contract is what one server offers, in canonical JSON. All texts are clean: secrets hidden, valid UTF-8. So two contracts of one offer are equal
// byte by byte, however the server ordered it.
type Contract struct {
	Name         string // the server's own, "" for none
	Version      string // of the server
	Protocol     string // version that was spoken
	Capabilities string // an object, "" for none
	Instructions string
	// Lists are the definitions of a list by their keys (offer.Kind.Key). nil where the server has no such list; one that it has may be empty.
	Lists map[offer.Kind]map[string]string
	// Unknown has the error of each list that could not be read: it is not compared, and a contract with one cannot be accepted. The file has none.
	Unknown map[offer.Kind]error
}

// kinds are the lists of a contract, in the order in which they are compared and written.
func kinds() []offer.Kind {
	return []offer.Kind{offer.Tools, offer.Prompts, offer.Resources, offer.Templates}
}

// member is the name of a list in the file.
func member(k offer.Kind) string {
	if k == offer.Templates {
		return "templates"
	}
	return k.String()
}

// Of is the contract of what a server offers now. Items without a key are left out, for nobody can call them.
func Of(o *check.Offer) *Contract {
	c := &Contract{
		Name: clean(o.Name), Version: clean(o.Version), Protocol: clean(o.Protocol), Instructions: clean(o.Instructions), Lists: map[offer.Kind]map[string]string{}, Unknown: o.Failed,
	}
	if len(o.Capabilities) > 0 {
		c.Capabilities = Canonical(o.Capabilities)
	}
	for _, k := range kinds() {
		items := o.Items(k)
		if len(items) == 0 && o.Lists[k] == nil {
			continue
		}
		list := make(map[string]string, len(items))
		for _, it := range items {
			if key := clean(k.Key(it)); key != "" {
				if _, twice := list[key]; !twice { // clients take the first
					list[key] = Canonical(it.Raw)
				}
			}
		}
		c.Lists[k] = list
	}
	return c
}
