package offer

import "testing"

func TestHints(t *testing.T) {
	for annotations, want := range map[string][2]bool{
		``:                          {false, false},
		`{}`:                        {false, false},
		`{"destructiveHint":true}`:  {true, false},
		`{"destructiveHint":false}`: {false, false},
		`{"destructiveHint":false,"destructiveHint":true}`:  {true, false},
		`{"readOnlyHint":true,"destructiveHint":"true"}`:    {false, true},
		`{"readOnlyHint": true , "destructiveHint" : true}`: {true, false},
		`[]`: {false, false},
	} {
		it := Item{Annotations: []byte(annotations)}
		if got := [2]bool{it.Destructive(), it.ReadOnly()}; got != want {
			t.Errorf("%s: destructive and read-only are %v, want %v", annotations, got, want)
		}
	}
}
