package form

import (
	"strings"
	"testing"
)

// parents is what a well-known server asks for: a choice in a choice, and two branches that say the same.
const parents = `{"type":"object","required":["parent","properties"],"properties":{
	"parent":{"anyOf":[{"$ref":"#/$defs/parentRequest"},{"type":"string"},{"type":"string"}]},
	"properties":{"anyOf":[{"type":"object","additionalProperties":true},{"type":"string"}]},
	"icon":{"anyOf":[{"type":"string"},{"type":"integer"}]}},
	"$defs":{"page":{"type":"object","properties":{"page_id":{"type":"string","format":"uuid"}},"required":["page_id"],"additionalProperties":true},
	"source":{"type":"object","properties":{"type":{"const":"data_source_id"},"data_source_id":{"type":"string","format":"uuid"}},"required":["data_source_id"]},
	"parentRequest":{"oneOf":[{"$ref":"#/$defs/page"},{"$ref":"#/$defs/source"},{"type":"object","properties":{"type":{"const":"workspace"}},"required":["type"]}]}}}`

func TestUnionsAreFlat(t *testing.T) {
	f := open(t, parents)
	if s := screen(f); !strings.Contains(s, "one of: page_id, data_source_id, workspace, string") || !strings.Contains(s, "‹ unset ▾ ›") || strings.Count(s, "‹ choose ▾ ›") != 2 {
		t.Errorf("before anything is chosen:\n%s", s)
	}
	press(t, f, "space", "enter", "text:abc")
	if got := string(f.JSON()); got != `{"parent":{"page_id":"abc"}}` {
		t.Errorf("the variant holds %s", got)
	}
	s := screen(f)
	if strings.Contains(s, "value") || strings.Contains(s, "alternatives") || f.row().ptr != "/parent/page_id" || f.row().problems != 1 {
		t.Errorf("the problem is not at its field:\n%s", s)
	}
	press(t, f, "tab", "space", "enter", "text:title", "enter", "text:Hello")
	if got := string(f.JSON()); got != `{"parent":{"page_id":"abc"},"properties":{"title":"Hello"}}` {
		t.Errorf("%s\n%s", got, screen(f))
	}
	// a variant of one line is edited where it was chosen, and can be another again
	f.Focus("/parent")
	press(t, f, "space", "text:str", "enter", "text:x")
	if got := string(f.JSON()); !strings.HasPrefix(got, `{"parent":"x",`) || f.row().ptr != "/parent" || !f.row().textual() || len(f.Problems()) != 0 {
		t.Errorf("%s with %v\n%s", got, f.Problems(), screen(f))
	}
	press(t, f, "ctrl+o", "down", "down", "down", "down", "enter")
	if got := string(f.JSON()); !strings.HasPrefix(got, `{"parent":{"type":"workspace"},`) {
		t.Errorf("%s\n%s", got, screen(f))
	}
}

// What is chosen is what is checked, also where another variant comes nearer.
func TestTheChosenVariantIsChecked(t *testing.T) {
	f := open(t, parents)
	press(t, f, "space", "down", "enter", "tab")
	ps := f.Problems()
	if len(ps) != 2 || ps[0].Pointer != "/parent/data_source_id" || ps[0].Keyword != "required" {
		t.Errorf("an empty data source has the problems %v", ps)
	}
}

// A tool with two unions in a row takes no more than nine keys from its list, besides what is typed.
func TestNestedUnionsTakeFewKeys(t *testing.T) {
	f := open(t, parents)
	keys := []string{"space", "enter", "text:123e4567-e89b-12d3-a456-426614174000", "tab", "space", "enter", "text:title", "enter", "text:Hello"}
	press(t, f, keys...)
	if ps := f.Check(); len(ps) != 0 {
		t.Errorf("%s has %v", f.JSON(), ps)
	}
	pressed := 1 // enter in the list
	for _, k := range keys {
		if !strings.HasPrefix(k, "text:") {
			pressed++
		}
	}
	if pressed+1 > 9 { // and sending
		t.Errorf("%d keys", pressed+1)
	}
}

// What does not fit beside a field loses whole parts, not the ends of words.
func TestTypesAreNotCut(t *testing.T) {
	f := open(t, `{"type":"object","properties":{"first":{},"path_of_repo":{"type":"string","minLength":1,"pattern":"^/[a-z]+(/[a-z]+)*$"},
		"parent":{"enum":["first_choice","second_choice","third_choice","fourth_choice"]}}}`)
	f.SetSize(78, 10)
	if s := screen(f); strings.Contains(s, "…") || !strings.Contains(s, "string · at least 1") || !strings.Contains(s, "one of 4") {
		t.Error(s)
	}
}
