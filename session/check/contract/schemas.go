package contract

import (
	"strings"

	"github.com/mcphud/mcphud/session/base/text"
	"github.com/mcphud/mcphud/session/check"
	"github.com/mcphud/mcphud/session/offer/schema"
)

// input compares what a tool takes: callers are hurt where less is accepted than before.
func (c *comparison) input(at check.Place, a, b *schema.Value) {
	changes := schema.Changes(schema.Parse([]byte(str(a))), schema.Parse([]byte(str(b))))
	for _, ch := range changes {
		c.schema(at, ch, a, b, inputRule(ch), changes)
	}
}

// inputRule is the rule of a change of an input schema. A property that is gone is always breaking, though an open schema still accepts it: who says
// something with it is not heard. A default breaks no call, but changes what one means.
func inputRule(ch schema.Change) string {
	narrows := ch.Effect&schema.Narrows != 0
	switch {
	case ch.Kind == schema.PropertyRemoved:
		return "parameter-removed"
	case ch.Kind == schema.PropertyAdded && narrows:
		return "constraint-review"
	case ch.Kind == schema.PropertyAdded:
		return "parameter-added"
	case ch.Kind == schema.DefaultChanged:
		return "default-changed"
	case ch.Kind == schema.TextChanged && ch.Keyword == "description":
		return "parameter-description"
	case ch.Kind == schema.TextChanged:
		return "metadata"
	case narrows && !ch.Sure:
		return "constraint-review"
	case narrows && ch.Keyword == "required":
		return "parameter-required"
	case narrows:
		return "input-narrowed"
	}
	return "input-widened"
}

// output compares what a tool answers: readers are hurt where results may be more than before, the other way round than with input.
func (c *comparison) output(at check.Place, a, b *schema.Value) {
	switch {
	case !b.IsSet():
		c.add("output-removed", at, "the output schema was removed", str(a), "")
		return
	case !a.IsSet():
		c.add("output-added", at, "an output schema was added", "", str(b))
		return
	}
	changes := schema.Changes(schema.Parse([]byte(str(a))), schema.Parse([]byte(str(b))))
	for _, ch := range changes {
		c.schema(at, ch, a, b, outputRule(ch), changes)
	}
}

// outputRule is the rule of a change of an output schema.
func outputRule(ch schema.Change) string {
	widens := ch.Effect&schema.Widens != 0
	switch {
	case ch.Kind == schema.PropertyRemoved:
		return "output-removed"
	case ch.Kind == schema.PropertyAdded && widens && ch.Sure: // of a closed object: readers that validate by the old schema refuse it
		return "output-widened"
	case ch.Kind == schema.PropertyAdded && widens:
		return "constraint-review"
	case ch.Kind == schema.PropertyAdded:
		return "output-added"
	case ch.Kind == schema.DefaultChanged, ch.Kind == schema.TextChanged && ch.Keyword == "description":
		return "parameter-description"
	case ch.Kind == schema.TextChanged:
		return "metadata"
	case widens && !ch.Sure:
		return "constraint-review"
	case widens:
		return "output-widened"
	}
	return "output-narrowed"
}

// schema adds a change of a schema. at is the place of the schema, a and b are all of it before and after, id is the rule without "contract/", and all
// are the changes beside ch.
func (c *comparison) schema(at check.Place, ch schema.Change, a, b *schema.Value, id string, all []schema.Change) {
	msg := ch.Message
	switch {
	case ch.Path != "":
		msg = "`" + ch.Path + "` " + msg
	case at.Pointer == "/outputSchema":
		msg = "the result: " + msg
	default:
		msg = "the arguments: " + msg
	}
	was, is := valueAt(a, ch.Pointer), valueAt(b, ch.Pointer)
	if ch.Kind == schema.PropertyRemoved {
		if to := renamedProperty(was, b, ch, all); to != "" {
			msg += "; `" + text.Clip(to, 60) + "` has the same schema: was it renamed?"
		}
	}
	c.add(id, check.Place{Kind: at.Kind, Name: at.Name, Pointer: at.Pointer + ch.Pointer}, msg, str(was), str(is))
}

// valueAt is the value at a JSON pointer, nil for none.
func valueAt(v *schema.Value, pointer string) *schema.Value {
	path, ok := schema.SplitPointer(pointer)
	if !ok {
		return nil
	}
	return v.At(path...)
}

// renamedProperty is which of the added properties beside one that is gone has its schema, "" for none; an empty schema is like many others. One that
// was added as required may be a change of "required" and not of a property, so that it is looked for there too.
func renamedProperty(was, b *schema.Value, gone schema.Change, all []schema.Change) string {
	parent := gone.Pointer[:strings.LastIndexByte(gone.Pointer, '/')]
	props := valueAt(b, parent)
	old := strings.TrimPrefix(gone.Pointer, parent+"/")
	if was.Len() == 0 {
		return ""
	}
	for _, ch := range all {
		name := ""
		if strings.HasPrefix(ch.Pointer, parent+"/") && ch.Kind == schema.PropertyAdded {
			name = strings.TrimPrefix(ch.Pointer, parent+"/")
		} else if ch.Keyword == "required" && strings.Contains(ch.Message, "added") { // its path is the name, or ends with it
			name = ch.Path[strings.LastIndexByte(ch.Path, '.')+1:]
		}
		if name != "" && name != old && schema.Equal(was, props.Get(name)) {
			return name
		}
	}
	return ""
}
