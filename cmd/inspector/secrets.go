package inspector

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/mcphud/mcphud/session/auth"
	"github.com/mcphud/mcphud/session/auth/credstore"
	"github.com/mcphud/mcphud/session/base/jsonrpc"
	"github.com/mcphud/mcphud/session/config/setup"
)

var empty = quote("")

// scope is what the values of an entry's environment belong to where they are kept: the file and the entry, so that no other file
// gets them by an entry of the same name.
func scope(file, name string) string { return file + "#" + name }

// lasting refuses a store that ends with the program.
func lasting(kept credstore.Inputs) error {
	if _, shared := kept.Store.(auth.Locker); shared { // by several processes, one after the other too
		return nil
	}
	return fail("values of -e would be lost when the command ends, because secrets are kept in " + kept.Store.Where() + "; set MCPHUD_CREDENTIALS=keychain or file to keep them")
}

// secrets are what a change of an entry does to the values of its environment that are kept.
type secrets struct {
	kept    credstore.Inputs
	was, is string            // what they belong to before and after, "" for an entry that is not there
	values  map[string]string // after
}

// around writes the file with the values beside it. The file never refers to a value that is not kept: what is new comes before
// it, and is taken back where it cannot be written; what is not needed any more goes after it.
func (s secrets) around(ctx context.Context, write func() error) error {
	var had map[string]string
	var err error
	switch {
	case s.is == "":
	case s.is == s.was:
		had, err = s.kept.Recall(ctx, s.is)
	default: // of an entry that is gone
		_, err = s.kept.Forget(ctx, s.is)
	}
	if err != nil {
		return err
	}
	if err = s.keep(ctx, s.values); err == nil {
		err = write()
	}
	if err != nil {
		ctx := context.WithoutCancel(ctx)
		return errors.Join(err, s.drop(ctx, s.values, had), s.keep(ctx, had))
	}
	if err = s.drop(ctx, had, s.values); err == nil && s.was != "" && s.was != s.is {
		_, err = s.kept.Forget(ctx, s.was)
	}
	if err != nil {
		return fmt.Errorf("the file is changed, but values that nothing refers to any more are still kept: %w", err)
	}
	return nil
}

func (s secrets) keep(ctx context.Context, values map[string]string) error {
	var in []setup.Input
	for _, name := range slices.Sorted(maps.Keys(values)) {
		in = append(in, setup.Input{Name: name, Secret: true})
	}
	return s.kept.Keep(ctx, s.is, in, values)
}

// drop forgets the values among some that are not among others.
func (s secrets) drop(ctx context.Context, some, others map[string]string) (err error) {
	for name := range some {
		if _, stays := others[name]; !stays {
			err = errors.Join(err, s.kept.Store.Delete(ctx, auth.Key{Resource: auth.InputsOf(s.is), Issuer: name}))
		}
	}
	return err
}

// apart is an environment with empty values, and the values.
func apart(env Pairs) (names Pairs, values map[string]string) {
	values = map[string]string{}
	for _, v := range env {
		if text, ok := jsonrpc.String(v.Value); ok {
			if text != "" {
				values[v.Key] = text
			}
			v.Value = empty
		}
		names = append(names, v)
	}
	return names, values
}

// filled is an environment with the values that are kept in the place of empty ones.
func filled(env Pairs, kept map[string]string) (out Pairs) {
	for _, v := range env {
		if value, ok := kept[v.Key]; ok && string(v.Value) == string(empty) {
			v.Value = quote(value)
		}
		out = append(out, v)
	}
	return out
}

// fill gives an entry of a file the values of its environment that are kept. Where none are missing nothing is read.
func (e *entry) fill(ctx context.Context, kept credstore.Inputs) error {
	env := members(e.config.get("env"))
	if e.file == "" || !slices.ContainsFunc(env, func(v Pair) bool { return string(v.Value) == string(empty) }) {
		return nil
	}
	values, err := kept.Recall(ctx, scope(e.file, e.name))
	if err != nil {
		return fail(err.Error())
	}
	e.config.Set("env", json.RawMessage(filled(env, values).JSON()))
	return nil
}
