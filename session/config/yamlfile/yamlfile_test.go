package yamlfile_test

import (
	"strings"
	"testing"

	"github.com/mcphud/mcphud/session/config"
	"github.com/mcphud/mcphud/session/config/yamlfile"
	"github.com/mcphud/mcphud/session/test/require"
)

func root(t *testing.T, text string) (yamlfile.Reader, []yamlfile.Member, error) {
	t.Helper()
	n, err := config.YAML("x.yaml", []byte(text))
	require.NoError(t, err)
	r := yamlfile.Reader{File: "x.yaml"}
	all, ok, err := r.Mapping(n)
	if !ok {
		t.Fatalf("%q is not a mapping", text)
	}
	return r, all, err
}

// Values are what JSON has, in the order and with the digits of the file.
func TestValues(t *testing.T) {
	r, all, err := root(t, "b: {z: 1.50, a: [yes, null, ~, 1e400, -7, 0x10]}\n'a':\n  - x: |\n      line\n")
	if err != nil || len(all) != 2 || all[0].Key != "b" || all[1].Key != "a" || all[1].Pos.Line != 2 || all[1].Pos.Column != 1 {
		t.Fatalf("%v %+v", err, all)
	}
	for i, want := range []string{`{"z":1.50,"a":["yes",null,null,1e400,-7,16]}`, `[{"x":"line\n"}]`} {
		if got, err := r.JSON(all[i].Value); string(got) != want || err != nil {
			t.Errorf("got %s, %v; want %s", got, err, want)
		}
	}
	if items, ok := yamlfile.Items(all[1].Value); !ok || len(items) != 1 {
		t.Error("not a list of one")
	}
	if _, ok := yamlfile.Items(all[0].Value); ok {
		t.Error("a mapping is a list")
	}
}

// What is wrong is said with its line and column.
func TestWrong(t *testing.T) {
	if _, _, err := root(t, "a: 1\na: 2\n"); err == nil || !strings.HasPrefix(err.Error(), `x.yaml:2:1: "a" is there twice`) {
		t.Error(err)
	}
	for text, want := range map[string]string{
		"k: 5":                    "x.yaml:1:1: k must be a text: put it in quotes",
		"\nk: ''":                 "x.yaml:2:1: k must be a text: put it in quotes",
		"k: &a b":                 "x.yaml:1:4: anchors, aliases and tags are not read",
		"k: .inf":                 "x.yaml:1:4: .inf is not a value of JSON",
		"k: {x: 1, y: 2, x: 3}":   `x.yaml:1:17: "x" is there twice`,
		"k: [1, {a: !!str text}]": "x.yaml:1:12: anchors, aliases and tags are not read",
	} {
		r, all, err := root(t, text)
		require.NoError(t, err)
		if _, err := r.Text(all[0]); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%q: %v; want %s", text, err, want)
		}
	}
	r, all, _ := root(t, "k: some words")
	if got, err := r.Text(all[0]); got != "some words" || err != nil {
		t.Error(got, err)
	}
}
