package rewrite

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"
)

// Files are read before anybody trusts the folder that they are in: what they cost grows with their size, not with its square.
func TestCostOfHostileFiles(t *testing.T) {
	var bad *SyntaxError
	if _, err := TOML([]byte(strings.Repeat("a.", 30_000) + "a = 1\n")); !errors.As(err, &bad) || !strings.Contains(bad.Message, "more than 200 parts") {
		t.Errorf("a key of many parts: %v", err)
	}
	if _, err := TOML([]byte("x = {" + strings.Repeat("a.", 30_000) + "a = 1}\n")); !errors.As(err, &bad) {
		t.Errorf("in brackets: %v", err)
	}
	began := time.Now()
	pairs := []byte("[" + strings.Repeat("a.", 199) + "a]\n")
	for i := range 50_000 {
		pairs = fmt.Appendf(pairs, "k%d = 1\n", i)
	}
	if root, err := TOML(pairs); err != nil || len(root.items) != 1 {
		t.Errorf("pairs of a deep table: %v", err)
	}
	v, err := YAML([]byte("["+strings.Repeat("1,", 100_000)+"1]\n"), 1<<20)
	if err != nil || len(v.items) != 100_001 {
		t.Errorf("one long line: %v", err)
	}
	if took := time.Since(began); took > 20*time.Second {
		t.Errorf("reading took %v", took)
	}
}
