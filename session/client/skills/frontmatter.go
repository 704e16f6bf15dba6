package skills

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"regexp"
	"strconv"
	"strings"

	"github.com/mcphud/mcphud/session/base/jsonrpc"
	"github.com/mcphud/mcphud/session/base/text"
	"github.com/mcphud/mcphud/session/config"
)

// FrontMatter splits a SKILL.md into its YAML front matter and the text after it; false if it does not begin with any.
func FrontMatter(file string) (yaml, body string, ok bool) {
	file = strings.TrimPrefix(file, "\ufeff")
	first, rest, ok := strings.Cut(file, "\n")
	if !ok || strings.TrimRight(first, " \t\r") != "---" {
		return "", file, false
	}
	for at := 0; at < len(rest); {
		line, _, _ := strings.Cut(rest[at:], "\n")
		if strings.TrimRight(line, " \t\r") == "---" {
			return rest[:at], rest[min(len(rest), at+len(line)+1):], true
		}
		at += len(line) + 1
	}
	return "", file, false
}

// Difference is one way in which the front matter of a SKILL.md is not that of the skill's entry.
type Difference struct {
	Kind DifferenceKind
	What string
}

// DifferenceKind is what a Difference is about.
type DifferenceKind int

// Kinds of a Difference.
const (
	FrontMatterAbsent     DifferenceKind = iota // the file has none
	FrontMatterUnreadable                       // that of the file is not a YAML mapping that JSON could have
	FieldDiffers                                // a field has two values, or is in one of the two only
)

// Differences compares the front matter of a SKILL.md with the entry's, and names each field that differs; nil for none. The entry's
// is an object.
func Differences(entry json.RawMessage, file string) []Difference {
	yaml, _, ok := FrontMatter(file)
	if !ok {
		return []Difference{{FrontMatterAbsent, "SKILL.md has none"}}
	}
	unreadable := func(what string) []Difference { return []Difference{{FrontMatterUnreadable, what}} }
	tree, err := config.ParseTree("front-matter.yaml", []byte(yaml))
	var w config.Warning
	switch {
	case errors.As(err, &w) && w.Line == 0:
		return unreadable("that of SKILL.md " + w.Message)
	case errors.As(err, &w):
		return unreadable("line " + strconv.Itoa(w.Line+1) + " of SKILL.md " + w.Message)
	case err != nil:
		return unreadable(err.Error())
	case len(tree.Warnings) > 0: // a name given twice, an alias without anchor …
		w := tree.Warnings[0]
		return unreadable(fmt.Sprintf("line %d of SKILL.md: %s", w.Line+1, w.Message))
	}
	root := tree.Root
	if root.Shape == config.Null && strings.TrimSpace(comments.ReplaceAllString(yaml, "")) == "" {
		root.Shape = config.Object // nothing between its two lines
	}
	if root.Shape != config.Object {
		return unreadable("that of SKILL.md is not a mapping: " + describeNode(root))
	}
	var all []Difference
	for _, what := range differObject("", root, entry) {
		all = append(all, Difference{FieldDiffers, what})
	}
	return all
}

var comments = regexp.MustCompile(`(?m)^\s*#.*$`)

// compare says how the front matter of a SKILL.md differs first from the entry's, "" if it does not.
func compare(entry json.RawMessage, file string) string {
	if all := Differences(entry, file); len(all) > 0 {
		return all[0].What
	}
	return ""
}

// differ compares a value of the file with one of the entry, and names the first place where they differ.
func differ(at string, n config.Node, v json.RawMessage) string {
	v = bytes.TrimSpace(v)
	same := false
	switch n.Shape {
	case config.Object:
		if len(v) > 0 && v[0] == '{' {
			return strings.Join(differObject(at, n, v), ", ")
		}
	case config.List:
		if len(v) > 0 && v[0] == '[' {
			return differList(at, n, v)
		}
	case config.Text:
		s, ok := jsonrpc.String(v)
		same = ok && s == n.Text
	case config.Scalar:
		same = sameScalar(n.Text, v)
	case config.Null:
		same = string(v) == "null"
	}
	if same {
		return ""
	}
	return fmt.Sprintf("%s is %s in SKILL.md, %s in the entry", name(at), describeNode(n), text.Clip(string(v), 80))
}

// differObject names each member that differs.
func differObject(at string, n config.Node, v json.RawMessage) (all []string) {
	seen := map[string]bool{}
	_ = jsonrpc.Members(v, func(key string, value []byte) bool { // an entry that is not JSON was refused before
		seen[key] = true
		if m, ok := n.Get(key); !ok {
			all = append(all, name(join(at, key))+" is in the entry only")
		} else if what := differ(join(at, key), m, value); what != "" {
			all = append(all, what)
		}
		return true
	})
	for _, m := range n.Members {
		if !seen[m.Key] {
			all = append(all, name(join(at, m.Key))+" is in SKILL.md only")
		}
	}
	return all
}

func differList(at string, n config.Node, v json.RawMessage) (what string) {
	i := 0
	_ = jsonrpc.Elements(v, func(value []byte) bool {
		if i < len(n.Items) {
			what = differ(join(at, strconv.Itoa(i)), n.Items[i], value)
		}
		i++
		return what == ""
	})
	if what == "" && i != len(n.Items) {
		what = fmt.Sprintf("%s has %d items in SKILL.md, %d in the entry", name(at), len(n.Items), i)
	}
	return what
}

func join(at, key string) string {
	if at == "" {
		return key
	}
	return at + "." + key
}

func name(at string) string {
	if at == "" {
		return "it"
	}
	return text.Clip(at, 80)
}

func describeNode(n config.Node) string {
	switch n.Shape {
	case config.Object, config.List:
		return string(n.Shape)
	case config.Null:
		return "null"
	case config.Text:
		return text.Clip(strconv.Quote(n.Text), 80)
	}
	return text.Clip(n.Text, 80)
}

// Numbers of YAML 1.2's core schema, as far as JSON has them too.
var (
	yamlInt   = regexp.MustCompile(`^[-+]?[0-9]+$`)
	yamlBased = regexp.MustCompile(`^0(o[0-7]+|x[0-9a-fA-F]+)$`)
	yamlFloat = regexp.MustCompile(`^[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?$`)
)

// sameScalar compares a plain scalar of YAML with a JSON value. What YAML 1.2 takes for neither number nor boolean is a string.
func sameScalar(plain string, v json.RawMessage) bool {
	switch plain {
	case "true", "True", "TRUE":
		return string(v) == "true"
	case "false", "False", "FALSE":
		return string(v) == "false"
	}
	number := len(v) > 0 && (v[0] == '-' || v[0] >= '0' && v[0] <= '9')
	switch {
	case yamlInt.MatchString(plain), yamlBased.MatchString(plain):
		base := 10
		if yamlBased.MatchString(plain) {
			base = 0
		}
		if a, ok := new(big.Int).SetString(plain, base); ok && number {
			if b, ok := new(big.Int).SetString(string(v), 10); ok {
				return a.Cmp(b) == 0
			}
		}
		return number && base == 10 && sameFloat(plain, string(v))
	case yamlFloat.MatchString(plain):
		return number && sameFloat(plain, string(v))
	}
	s, ok := jsonrpc.String(v)
	return ok && s == plain
}

func sameFloat(a, b string) bool {
	x, err1 := strconv.ParseFloat(a, 64)
	y, err2 := strconv.ParseFloat(b, 64)
	return err1 == nil && err2 == nil && x == y
}
