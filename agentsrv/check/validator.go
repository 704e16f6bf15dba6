package check

import (
	"bytes"
	"log/slog"
	"strconv"
	"strings"

	lru "github.com/hashicorp/golang-lru/v2"

	"github.com/mcphud/mcphud/agentsrv/kit"
	"github.com/mcphud/mcphud/session/base/jsonrpc"
	"github.com/mcphud/mcphud/session/offer/schema"
	"github.com/mcphud/mcphud/session/serve/ingress"
)

// maxValidators bounds how many compiled schemas are kept.
const maxValidators = 512

// maxDetails bounds how many further problems an answer lists.
const maxDetails = 10

// validators keeps what schemas were compiled to, by the name of the tool.
type validators struct {
	cache *lru.Cache[string, *validator]
	log   *slog.Logger
}

// validator checks arguments by one schema.
type validator struct {
	schema []byte
	fast   *flat // nil if the schema is not of that form
	full   *schema.Schema
	names  *names
}

// names are the properties that a schema knows, and those of their values and items.
type names struct {
	folded map[string]string // by their case fold
	of     map[string]*names
	items  *names
}

// maxNames bounds how deep a schema's properties are read.
const maxNames = 32

func newValidators(log *slog.Logger) *validators {
	cache, _ := lru.New[string, *validator](maxValidators) // fails for sizes below 1 only
	return &validators{cache, log}
}

// of gives the validator of a tool whose schema is now raw.
func (v *validators) of(tool string, raw []byte) *validator {
	if known, ok := v.cache.Get(tool); ok && bytes.Equal(known.schema, raw) {
		return known
	}
	made := &validator{schema: raw, fast: newFlat(raw), full: schema.Parse(raw), names: namesOf(raw, maxNames)}
	if left := made.full.Unchecked(); len(left) > 0 {
		v.log.Warn("arguments are not fully validated: unsupported parts of the input schema", "tool", tool, "why", strings.Join(left, "; "))
	}
	v.cache.Add(tool, made)
	return made
}

// check says what is wrong with arguments, nil if nothing is.
func (v *validator) check(args []byte) *jsonrpc.RequestError {
	if args == nil {
		args = []byte("{}")
	}
	if v.fast != nil && v.fast.allows(args) {
		return nil
	}
	if bad := v.names.lookalike("", args); bad != nil {
		return bad
	}
	problems, _ := v.full.ValidateJSON(args)
	if len(problems) == 0 {
		return nil
	}
	f := failure(problems[0])
	if more := problems[1:]; len(more) > 0 {
		var details []string
		for _, p := range more[:min(len(more), maxDetails)] {
			details = append(details, failure(p).Message)
		}
		f = f.With("details", details)
	}
	return f
}

func failure(p schema.Problem) *jsonrpc.RequestError {
	field := strings.TrimPrefix(p.Pointer, "/")
	if path, ok := schema.SplitPointer(p.Pointer); ok && len(path) == 1 {
		field = path[0] // without the escapes of a pointer
	}
	if p.Keyword == "required" {
		return kit.Invalid(field, kit.Required)
	}
	if p.Keyword == "" && p.Pointer != "" { // the one problem without a keyword
		return kit.Invalid(field, "is given more than once")
	}
	return kit.Invalid(field, p.Message)
}

func namesOf(schema []byte, deep int) *names {
	n := &names{folded: map[string]string{}, of: map[string]*names{}}
	each(schema, func(key string, value []byte) bool {
		switch {
		case key == "properties" && deep > 0:
			each(value, func(name string, s []byte) bool {
				n.folded[ingress.Fold(name)], n.of[name] = name, namesOf(s, deep-1)
				return true
			})
		case key == "items" && deep > 0:
			n.items = namesOf(value, deep-1)
		}
		return true
	})
	return n
}

// lookalike finds a member, however deep, that some decoders take for a property of the schema although it is spelt in another letter
// case. The validator would take it for one that the schema does not know.
func (n *names) lookalike(at string, value []byte) (bad *jsonrpc.RequestError) {
	if len(n.of) > 0 {
		each(value, func(key string, v []byte) bool {
			if in, known := n.of[key]; known {
				bad = in.lookalike(at+key+"/", v)
			} else if name, ok := n.folded[ingress.Fold(key)]; ok {
				bad = kit.Invalid(at+key, "differs from "+name+" only in letter case")
			}
			return bad == nil
		})
	}
	if i := -1; n.items != nil {
		_ = jsonrpc.Elements(value, func(v []byte) bool { // the validator says what is malformed
			i++
			bad = n.items.lookalike(at+strconv.Itoa(i)+"/", v)
			return bad == nil
		})
	}
	return bad
}
