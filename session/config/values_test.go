package config

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestReadValues(t *testing.T) {
	for _, c := range []struct {
		name, file, body string
		want, warns, err string
	}{
		{name: "yaml", file: "a.yaml", body: "# ours\nport: 7001\nname: \"my agent\"\nmaxRequestSize: 10mb\nephemeral: true\n", want: `[{port 7001 2 1} {name my agent 3 1} {maxRequestSize 10mb 4 1} {ephemeral true 5 1}]`},
		{name: "json with comments", file: "a.json", body: "{\n  // ours\n  \"port\": 7001,\n  \"timeout\": 3e4,\n}", want: `[{port 7001 3 3} {timeout 3e4 4 3}]`},
		{name: "only comments", file: "a.yaml", body: "# nothing yet\n", want: `[]`},
		{name: "null is not given", file: "a.yaml", body: "port:\n", want: `[]`},
		{name: "twice", file: "a.yaml", body: "port: 1\nport: 2\n", want: `[{port 2 2 1}]`, warns: `:2:1: "port" is given twice`},
		{name: "no plain value", file: "a.yaml", body: "port: [1]\nname: x\n", want: `[{name x 2 1}]`, warns: `:1:1: "port" is a list`},
		{name: "a list where one may be", file: "a.yaml", body: "many:\n- a\n- {x: [1, true, 0x1f], y: \"1\", z: }\n- [b]\n-\n", want: `[{many a 2 3} {many {"x":[1,true,"0x1f"],"y":"1","z":null} 3 3}]`, warns: `:4:3: "many" is a list`},
		{name: "one where a list may be", file: "a.json", body: `{"many": "a"}`, want: `[{many a 1 2}]`},
		{name: "a list", file: "a.json", body: `[1]`, err: "is a list"},
		{name: "broken", file: "a.json", body: "{\n\"port\": }", err: ":2:"},
		{name: "too large", file: "a.yaml", body: strings.Repeat("#", maxYAML+1), err: "larger than the limit of 65.5 kB"},
	} {
		t.Run(c.name, func(t *testing.T) {
			values, warns, err := ReadValues(write(t, filepath.Join(t.TempDir(), c.file), c.body), "many")
			if c.err != "" {
				if err == nil || !strings.Contains(err.Error(), c.err) {
					t.Fatalf("error %v, want one with %q", err, c.err)
				}
				return
			}
			if got := fmt.Sprint(values); err != nil || got != c.want {
				t.Errorf("%s, %v, want %s", got, err, c.want)
			}
			if got := fmt.Sprint(warns); (c.warns == "") != (len(warns) == 0) || !strings.Contains(got, c.warns) {
				t.Errorf("warnings %s, want %q", got, c.warns)
			}
		})
	}
	if _, _, err := ReadValues(filepath.Join(t.TempDir(), "none.yaml")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a file that is not there: %v", err)
	}
}
