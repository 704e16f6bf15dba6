package config

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mcphud/mcphud/session/test/require"
)

func TestTree(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.yaml")
	text := "# a comment\na: &x\n  b: [1, two, true]\nc: *x\nd: null\n\"e\": \"1\"\ne: 2\n"
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	tree, err := ReadTree(path)
	if err != nil || string(tree.Raw) != text || tree.File != path {
		t.Fatal(tree, err)
	}
	a, _ := tree.Root.Get("a")
	b, _ := a.Get("b")
	if b.Line != 3 || len(b.Items) != 3 || b.Items[0].Shape != Scalar || b.Items[1].Shape != Text || b.Items[2].Text != "true" {
		t.Errorf("%+v", b)
	}
	c, _ := tree.Root.Get("c")
	if again, ok := c.Get("b"); !ok || len(again.Items) != 3 {
		t.Errorf("the alias: %+v", c)
	}
	e, _ := tree.Root.Get("e")
	if e.Text != "2" || len(tree.Warnings) != 1 || tree.Warnings[0].Line != 7 {
		t.Errorf("%+v, warnings %v", e, tree.Warnings)
	}
	if wide, err := ParseTree("/x.yaml", []byte("日本: {b: 1}\n")); err != nil || wide.Root.Members[0].Value.Members[0].Col != 10 {
		t.Errorf("columns are not in bytes: %+v, %v", wide.Root, err)
	}
	if _, ok := tree.Root.Get("f"); ok {
		t.Error("there is no f")
	}
}

func TestTreeOfHostileFiles(t *testing.T) {
	bomb := "a: &a [x, x, x, x, x, x, x, x, x]\n"
	for c := 'b'; c < 'j'; c++ {
		bomb += string(c) + ": &" + string(c) + " [" + strings.Repeat("*"+string(c-1)+",", 8) + "*" + string(c-1) + "]\n"
	}
	for name, text := range map[string]string{"bomb": bomb, "circle": "a: &a {b: *a}\n", "list circle": "a: &a [*a, *a]\n"} {
		tree, err := ParseTree("/x.yaml", []byte(text))
		if err != nil || len(tree.Warnings) == 0 {
			t.Errorf("%s: %v, warnings %v", name, err, tree.Warnings)
		}
	}
	if _, err := ParseTree("/x.yaml", []byte("a: [\n")); err == nil || !strings.Contains(err.Error(), "/x.yaml") {
		t.Error(err)
	}
}

func TestExpand(t *testing.T) {
	env := func(n string) (string, bool) { return "v", n == "A" }
	if got, err := (&Variables{Lookup: env}).Expand("x${A}${B:-d}$A${}"); got != "xvd$A${}" || err != nil {
		t.Error(got, err)
	}
	if _, err := (&Variables{Lookup: env}).Expand("${B}"); err == nil || !strings.Contains(err.Error(), "B is not set") {
		t.Error(err)
	}
}
