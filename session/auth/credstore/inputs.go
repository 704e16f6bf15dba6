package credstore

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/mcphud/mcphud/session/auth"
	"github.com/mcphud/mcphud/session/config/setup"
)

// Inputs keeps the secrets that inputs of servers were given, among the logins of a store, which does not list them as such.
type Inputs struct{ Store auth.Store }

// Recall is what is kept of the secrets of a scope, by input. A scope is whatever the inputs belong to, by what nobody else can
// claim: a registry and a name in it, the hash of a file that describes a server, the file and the entry of a configuration.
func (i Inputs) Recall(ctx context.Context, scope string) (map[string]string, error) {
	found, err := i.Store.Find(ctx, auth.InputsOf(scope))
	given := map[string]string{}
	for _, c := range found {
		if c.Token.Access != "" {
			given[c.Issuer] = c.Token.Access
		}
	}
	if err != nil {
		return given, fmt.Errorf("cannot read the secrets that are kept for %s: %w", scope, err)
	}
	return given, nil
}

// KeptInputs are the inputs of a scope whose secrets are kept, in alphabetical order.
type KeptInputs struct {
	Scope string
	Names []string
}

// List is what is kept of all scopes, in alphabetical order, also where the secrets themselves cannot be decrypted.
func (i Inputs) List(ctx context.Context) ([]KeptInputs, error) {
	found, err := i.Store.Find(ctx, auth.EveryInput)
	if err != nil && found == nil {
		return nil, fmt.Errorf("cannot read which secrets are kept: %w", err)
	}
	var all []KeptInputs
	for _, c := range found {
		scope := strings.TrimPrefix(c.Resource, auth.EveryInput)
		at := slices.IndexFunc(all, func(k KeptInputs) bool { return k.Scope == scope })
		if at < 0 {
			at, all = len(all), append(all, KeptInputs{Scope: scope})
		}
		all[at].Names = append(all[at].Names, c.Issuer)
	}
	slices.SortFunc(all, func(a, b KeptInputs) int { return strings.Compare(a.Scope, b.Scope) })
	for _, k := range all {
		slices.Sort(k.Names)
	}
	return all, nil
}

// Forget removes all that is kept for a scope, and returns the names of the inputs.
func (i Inputs) Forget(ctx context.Context, scope string) (names []string, err error) {
	found, err := i.Store.Find(ctx, auth.InputsOf(scope))
	if err != nil && found == nil {
		return nil, fmt.Errorf("cannot read the secrets that are kept for %s: %w", scope, err)
	}
	for _, c := range found { // also what cannot be decrypted any more
		if err := i.Store.Delete(ctx, c.Key); err != nil {
			return names, fmt.Errorf("cannot forget %s of %s: %w", c.Issuer, scope, err)
		}
		names = append(names, c.Issuer)
	}
	slices.Sort(names)
	return names, nil
}

// Keep keeps the secrets among what a scope was given.
func (i Inputs) Keep(ctx context.Context, scope string, in []setup.Input, given map[string]string) error {
	for _, input := range in {
		value := given[input.Name]
		if !input.Secret || value == "" || input.Declares(value) { // which is nobody's secret
			continue
		}
		c := auth.Credentials{Key: auth.Key{Resource: auth.InputsOf(scope), Issuer: input.Name}, Token: auth.Token{Access: value}}
		if err := i.Store.Put(ctx, c); err != nil {
			return fmt.Errorf("cannot keep %s of %s: %w", input.Name, scope, err)
		}
	}
	return nil
}
