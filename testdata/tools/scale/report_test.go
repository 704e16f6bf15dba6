package main

import (
	"flag"
	"os"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write what was measured to costs.json, and the tables of it into the manual")

const (
	manual = "../../../agentsrv/queue/README.md"
	begin  = "<!-- scale:begin -->\n"
	end    = "<!-- scale:end -->\n"
)

// The manual has the tables that follow from what was measured.
func TestManualHasTheTables(t *testing.T) {
	c, err := measured()
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(manual)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, ok := strings.Cut(string(text), begin)
	have, after, ok2 := strings.Cut(rest, end)
	if !ok || !ok2 {
		t.Fatal("the manual has no place for the tables")
	}
	want := report(c)
	switch {
	case have == want:
	case *update:
		if err := os.WriteFile(manual, []byte(before+begin+want+end+after), 0o600); err != nil {
			t.Fatal(err)
		}
	default:
		t.Error("the tables of the manual are not those of costs.json: go test ./testdata/tools/scale -run Manual -update writes them")
	}
}
