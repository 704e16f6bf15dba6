package config_test

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/mcphud/mcphud/session/config"
	"github.com/mcphud/mcphud/session/config/setup"
	"github.com/mcphud/mcphud/session/test/require"
)

// Each template, with a value for each input and without those that can be left out, is a valid entry of mcphud's own file.
func TestTemplatesGiveValidEntries(t *testing.T) {
	names := map[string]bool{}
	for _, tmpl := range config.Templates() {
		if names[tmpl.Name] || tmpl.Title == "" || tmpl.Description == "" {
			t.Errorf("%+v", tmpl)
		}
		names[tmpl.Name] = true
		for _, all := range []bool{true, false} {
			given := map[string]string{}
			for _, in := range tmpl.Inputs {
				if all || in.Required {
					given[in.Name] = "value-of-" + in.Name
				}
			}
			values, err := setup.Read(tmpl.Inputs, given)
			if err != nil {
				t.Fatal(tmpl.Name, err)
			}
			s := tmpl.Fill("mine", values)
			o := config.Options{Cwd: t.TempDir(), LookupEnv: environment}
			to, err := o.Destination(filepath.Join(o.Cwd, "mcphud.yaml"))
			require.NoError(t, err)
			change, err := o.AddEntry(to, s)
			if err != nil {
				t.Fatal(tmpl.Name, err)
			}
			secret := slices.ContainsFunc(tmpl.Inputs, func(in setup.Input) bool { return in.Secret && given[in.Name] != "" })
			for _, n := range change.Notes {
				if !secret || !strings.HasPrefix(n, "what the diff hides is in the file") {
					t.Errorf("%s: %q", tmpl.Name, n)
				}
			}
			if secret && tmpl.Name == "github" && len(change.Notes) != 1 {
				t.Errorf("nobody is told that the token is in the file: %q", change.Notes)
			}
			if _, err := change.Save(); err != nil {
				t.Fatal(err)
			}
			set, err := config.Load(o)
			if err != nil || len(set.Warnings) > 0 || len(set.Servers) != 1 || set.Servers[0].Problem != nil {
				t.Fatalf("%s: %v, %+v\n%s", tmpl.Name, err, set, change.After)
			}
			got := set.Servers[0]
			said := strings.Join(got.Args, " ") + got.URL
			for _, m := range []map[string]string{got.Env, got.Headers} {
				for _, v := range m {
					said += " " + v
				}
			}
			if strings.Contains(said, "{") {
				t.Errorf("%s: an input was not filled in: %s", tmpl.Name, said)
			}
			for _, in := range tmpl.Inputs {
				switch {
				case given[in.Name] != "" && !strings.Contains(said, given[in.Name]):
					t.Errorf("%s: %s is not in it: %s", tmpl.Name, in.Name, said)
				case in.Secret && !all && !strings.Contains(said, "from-the-environment"):
					t.Errorf("%s: %s is not taken from the environment: %s", tmpl.Name, in.Name, said)
				}
			}
		}
	}
	for _, name := range []string{"filesystem", "github", "postgres", "slack", "memory"} {
		if !names[name] {
			t.Errorf("there is no template %s", name)
		}
	}
}

func TestTemplateOfSeveralFolders(t *testing.T) {
	tmpl, err := config.TemplateNamed("filesystem")
	require.NoError(t, err)
	s := tmpl.Fill("", setup.Values{"folder": {"/a", "/b c"}})
	if s.Name != "filesystem" || strings.Join(s.Args, "|") != "-y|@modelcontextprotocol/server-filesystem|/a|/b c" {
		t.Errorf("%+v", s)
	}
}

// environment has the secrets of templates.
func environment(name string) (string, bool) {
	if strings.HasSuffix(name, "_TOKEN") || strings.HasSuffix(name, "_KEY") || name == "DATABASE_URI" {
		return "from-the-environment", true
	}
	return "", false
}

// A value that has another input in braces is taken as it is, in whatever order inputs are filled in.
func TestTemplateValuesAreNotFilledIn(t *testing.T) {
	tmpl := config.Template{Name: "x", Server: config.Server{Command: "run", Args: []string{"{a}:{b}:${c}"}}, Inputs: []setup.Input{{Name: "a"}, {Name: "b"}, {Name: "c"}}}
	for range 10 {
		s := tmpl.Fill("", setup.Values{"a": {"{b}"}, "b": {"{a}"}, "c": {"no"}})
		if want := "{b}:{a}:${c}"; s.Args[0] != want {
			t.Fatalf("%q, want %q", s.Args[0], want)
		}
	}
}
