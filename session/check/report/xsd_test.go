package report_test

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/mcphud/mcphud/session/test/require"
)

// node is an element of a document, without its text but with whether it has any.
type node struct {
	name     string
	attrs    map[string]string
	children []*node
	text     bool
}

func document(r io.Reader) (*node, error) {
	root := &node{}
	open := []*node{root}
	dec := xml.NewDecoder(r)
	for {
		tok, err := dec.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, err
		}
		at := open[len(open)-1]
		switch tok := tok.(type) {
		case xml.StartElement:
			n := &node{name: tok.Name.Local, attrs: map[string]string{}}
			for _, a := range tok.Attr {
				if a.Name.Space != "xmlns" {
					n.attrs[a.Name.Local] = a.Value
				}
			}
			at.children = append(at.children, n)
			open = append(open, n)
		case xml.EndElement:
			open = open[:len(open)-1]
		case xml.CharData:
			at.text = at.text || len(bytes.TrimSpace(tok)) > 0
		}
	}
	if len(root.children) != 1 {
		return nil, fmt.Errorf("%d roots", len(root.children))
	}
	return root.children[0], nil
}

// xsd validates documents by what of XML Schema junit-10.xsd uses; anything else in a schema fails.
type xsd struct {
	elements, types map[string]*node
	models          map[*node]*regexp.Regexp // of complex types: which children, each as NAME;
}

func readXSD(t *testing.T, path string) *xsd {
	t.Helper()
	f, err := os.Open(path)
	require.NoError(t, err)
	defer func() { _ = f.Close() }()
	root, err := document(f)
	require.NoError(t, err)
	x := &xsd{elements: map[string]*node{}, types: map[string]*node{}, models: map[*node]*regexp.Regexp{}}
	for _, n := range root.children {
		switch n.name {
		case "element":
			x.elements[n.attrs["name"]] = n
		case "complexType", "simpleType":
			x.types[n.attrs["name"]] = n
		default:
			t.Fatalf("the schema has %s", n.name)
		}
	}
	return x
}

func (x *xsd) validate(n *node) error {
	e := x.elements[n.name]
	if e == nil {
		return fmt.Errorf("<%s> is not an element", n.name)
	}
	return x.element(n, e)
}

func (x *xsd) element(n, decl *node) error {
	switch typ := decl.attrs["type"]; {
	case typ == "xs:string":
		if len(n.children) > 0 || len(n.attrs) > 0 {
			return fmt.Errorf("<%s> is a text", n.name)
		}
		return nil
	case typ != "":
		return x.complexType(n, x.types[typ])
	case len(decl.children) == 1 && decl.children[0].name == "complexType":
		return x.complexType(n, decl.children[0])
	}
	return fmt.Errorf("the schema of <%s> is not understood", n.name)
}

func (x *xsd) complexType(n, typ *node) error {
	if n.text && typ.attrs["mixed"] != "true" {
		return fmt.Errorf("<%s> has text", n.name)
	}
	attrs := map[string]*node{}
	pattern, within := "", map[string]*node{}
	for _, c := range typ.children {
		if c.name == "attribute" {
			attrs[c.attrs["name"]] = c
			continue
		}
		part, err := particle(c, within)
		if err != nil {
			return err
		}
		pattern += part
	}
	for name, a := range attrs {
		value, there := n.attrs[name]
		if !there && a.attrs["use"] == "required" {
			return fmt.Errorf("<%s> has no %s", n.name, name)
		}
		if simple := x.types[a.attrs["type"]]; there && simple != nil {
			re := simple.children[0].children[0].attrs["value"]
			if !regexp.MustCompile(`^(?:` + re + `)$`).MatchString(value) {
				return fmt.Errorf("%s=%q of <%s> does not match %s", name, value, n.name, re)
			}
		}
	}
	for name := range n.attrs {
		if attrs[name] == nil {
			return fmt.Errorf("<%s> may not have %s", n.name, name)
		}
	}
	if x.models[typ] == nil {
		x.models[typ] = regexp.MustCompile(`^(?:` + pattern + `)$`)
	}
	var names strings.Builder
	for _, c := range n.children {
		names.WriteString(c.name + ";")
	}
	if !x.models[typ].MatchString(names.String()) {
		return fmt.Errorf("<%s> has %.200s, not %s", n.name, names.String(), pattern)
	}
	for _, c := range n.children {
		var err error
		if local := within[c.name]; local != nil {
			err = x.element(c, local)
		} else {
			err = x.validate(c)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// particle is a part of a content model as a regular expression. Elements that it declares itself go into within.
func particle(n *node, within map[string]*node) (string, error) {
	var out string
	switch n.name {
	case "element":
		name := n.attrs["ref"]
		if name == "" {
			name = n.attrs["name"]
			within[name] = n
		}
		out = regexp.QuoteMeta(name) + ";"
	case "sequence", "choice":
		var parts []string
		for _, c := range n.children {
			p, err := particle(c, within)
			if err != nil {
				return "", err
			}
			parts = append(parts, p)
		}
		out = strings.Join(parts, map[string]string{"sequence": "", "choice": "|"}[n.name])
	default:
		return "", fmt.Errorf("the schema has %s", n.name)
	}
	switch [2]string{n.attrs["minOccurs"], n.attrs["maxOccurs"]} {
	case [2]string{"0", "unbounded"}:
		return "(?:" + out + ")*", nil
	case [2]string{"0", ""}:
		return "(?:" + out + ")?", nil
	case [2]string{"", ""}:
		return "(?:" + out + ")", nil
	}
	return "", fmt.Errorf("the schema has a particle %v", n.attrs)
}

// The validator refuses what the schema refuses.
func TestXSD(t *testing.T) {
	x := readXSD(t, "testdata/junit-10.xsd")
	for doc, want := range map[string]string{
		`<testsuites/>`:                         "",
		`<testsuites><testcase/></testsuites>`:  "<testsuites> has testcase;",
		`<testsuites x="1"/>`:                   "may not have x",
		`<testsuites time="soon"/>`:             "does not match",
		`<testsuites>text</testsuites>`:         "has text",
		`<testsuites><testsuite/></testsuites>`: "has no ",
		`<testsuite name="a" tests="1" failures="0" errors="0" time="1.5"><testcase name="b"><failure>c</failure><system-out>d</system-out></testcase></testsuite>`:    "",
		`<testsuite name="a" tests="1" failures="0" errors="0"><testcase name="b"><property name="x" value="y"/></testcase></testsuite>`:                               "<testcase> has property;",
		`<testsuite name="a" tests="1" failures="0" errors="0"><testcase name="b"><rerunError type="x"><stackTrace>s</stackTrace></rerunError></testcase></testsuite>`: "",
		`<testsuite name="a" tests="1" failures="0" errors="0"><testcase name="b"><rerunError/></testcase></testsuite>`:                                                "has no type",
		`<unknown/>`: "not an element",
	} {
		n, err := document(strings.NewReader(doc))
		require.NoError(t, err)
		err = x.validate(n)
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: %v, want %q", doc, err, want)
		}
	}
}
