package rewrite

import (
	"reflect"
	"testing"
)

// Whatever a file has in it, a change of it ends, and does what it was to do or nothing.
func FuzzChange(f *testing.F) {
	for _, text := range []string{
		"a: {b: 1}\nc:\n- d\n-  - e\n- f: |\n    g\n", "a: &x\n  b: 1\nc: *x\n<<: *x\n", "? a\n: b\n", "{\"a\": [1, /* x */ {\"b\": null,},], }", "[a]\nb.c = {d = [1,\n# e\n]}\n[[f]]\ng = '''\nh'''\n",
		"a:\n  b: 1\n---\nc: 2\n", "- a\n- b: 1\n  c: 2\n", "a: !!str 5\n", "\ta: 1", "a:\r\n  b: 1\r\n", "# x\n", "", "\"a\"", "a: 'b\n  c'\n",
	} {
		for kind := range byte(3) {
			f.Add(text, kind, "a", "b")
		}
	}
	f.Fuzz(func(t *testing.T, text string, kind byte, first, second string) {
		if len(text) > 2000 {
			return
		}
		name := []string{"x.json", "x.yaml", "x.toml"}[kind%3]
		for _, change := range []func(d *Doc, path []string) error{
			func(d *Doc, path []string) error { return d.Set(path, "new: value # x") },
			func(d *Doc, path []string) error {
				return d.Set(path, Object{{"k", []any{"v", true, Object{{"w", 1}}}}})
			},
			func(d *Doc, path []string) error { return d.Set(path, []string{"x", "y"}) },
			func(d *Doc, path []string) error { return d.Delete(path) },
			func(d *Doc, path []string) error { return d.Rename(path, "new") },
		} {
			for _, path := range [][]string{{first}, {first, second}, {first, "0"}, {first, "-"}} {
				d, err := Parse(name, []byte(text))
				if err != nil {
					return
				}
				if err := change(d, path); err != nil {
					if string(d.Bytes()) != text {
						t.Fatalf("%q: refused, but changed to %q", text, d.Bytes())
					}
					continue
				}
				again, err := Parse(name, d.Bytes())
				if err != nil {
					t.Fatalf("%q became %q: %v", text, d.Bytes(), err)
				}
				if !reflect.DeepEqual(again.root.plain(), d.root.plain()) {
					t.Fatalf("%q became %q, which is read as %v, not %v", text, d.Bytes(), again.root.plain(), d.root.plain())
				}
			}
		}
	})
}
