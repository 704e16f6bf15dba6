package registry

import (
	"fmt"
	"strings"
	"testing"

	"github.com/mcphud/mcphud/session/config"
	"github.com/mcphud/mcphud/session/config/setup"
	"github.com/mcphud/mcphud/session/test/require"
	"github.com/mcphud/mcphud/session/test/require/assert"
)

// declared are descriptions in which the publisher gives a default to what it calls a secret, WORDS, in each place that takes one.
var declared = map[string]string{
	"npm, positional": `"packages":[{"registryType":"npm","identifier":"x","version":"1.0.0","runtimeArguments":[{"type":"positional","value":"{k}","variables":{"k":{"isSecret":true,"default":"WORDS"}}}]}]`,
	"npm, part":       `"packages":[{"registryType":"npm","identifier":"x","version":"1.0.0","runtimeArguments":[{"type":"positional","value":"--call={k}","isSecret":true,"variables":{"k":{"default":"WORDS"}}}]}]`,
	"npm, named":      `"packages":[{"registryType":"npm","identifier":"x","version":"1.0.0","runtimeArguments":[{"type":"named","name":"--auth-token","isSecret":true,"default":"WORDS"}]}]`,
	"npm, repeated":   `"packages":[{"registryType":"npm","identifier":"x","version":"1.0.0","runtimeArguments":[{"type":"named","name":"-c","isRepeated":true,"isSecret":true,"default":"WORDS"}]}]`,
	"docker":          `"packages":[{"registryType":"oci","identifier":"docker.io/x/y:1.0.0","runtimeArguments":[{"type":"positional","value":"{k}","variables":{"k":{"isSecret":true,"default":"WORDS"}}}]}]`,
	"docker, -e":      `"packages":[{"registryType":"oci","identifier":"docker.io/x/y:1.0.0","runtimeArguments":[{"type":"named","name":"-e","value":"NODE_OPTIONS={k}","variables":{"k":{"isSecret":true,"default":"WORDS"}}}]}]`,
	"uvx":             `"packages":[{"registryType":"pypi","identifier":"x","version":"1.0.0","runtimeArguments":[{"type":"positional","valueHint":"k","isSecret":true,"default":"WORDS"}]}]`,
	"package":         `"packages":[{"registryType":"npm","identifier":"x","version":"1.0.0","packageArguments":[{"type":"positional","valueHint":"k","isSecret":true,"default":"WORDS"}]}]`,
	"variable":        `"packages":[{"registryType":"npm","identifier":"x","version":"1.0.0","environmentVariables":[{"name":"NODE_OPTIONS","isSecret":true,"default":"WORDS"}]}]`,
	"API_KEY":         `"packages":[{"registryType":"npm","identifier":"x","version":"1.0.0","environmentVariables":[{"name":"API_KEY","isSecret":true,"default":"WORDS"}]}]`,
	"API_KEY, fixed":  `"packages":[{"registryType":"npm","identifier":"x","version":"1.0.0","environmentVariables":[{"name":"API_KEY","isSecret":true,"value":"WORDS"}]}]`,
	"header":          `"remotes":[{"type":"streamable-http","url":"https://h.example.com/mcp","headers":[{"name":"Authorization","isSecret":true,"default":"WORDS"}]}]`,
	"path":            `"remotes":[{"type":"streamable-http","url":"https://h.example.com/{k}","variables":{"k":{"isSecret":true,"default":"WORDS"}}}]`,
	"query":           `"remotes":[{"type":"streamable-http","url":"https://h.example.com/?token={k}","variables":{"k":{"isSecret":true,"default":"WORDS"}}}]`,
}

// wayOf is the only way of a description, its words put in.
func wayOf(t *testing.T, what, words string) Candidate {
	t.Helper()
	d, err := Parse([]byte(`{"name":"com.example/x","version":"1.0.0",` + strings.ReplaceAll(what, "WORDS", words) + `}`))
	require.NoError(t, err)
	all := d.Candidates(has("npx", "uvx", "docker"))
	if len(all) != 1 || all[0].Refused != nil {
		t.Fatalf("%+v", all)
	}
	return all[0]
}

// serverOf is what the way becomes with what was given.
func serverOf(t *testing.T, c Candidate, given map[string]string) config.Server {
	t.Helper()
	values, err := setup.Read(c.Inputs, given)
	require.NoError(t, err)
	s, err := c.Server(values)
	require.NoError(t, err)
	return s
}

// What a publisher wrote is public, whatever it calls it: it is shown, and other words of it need another yes.
func TestDeclaredDefaultsAreShownAndPinned(t *testing.T) {
	for name, what := range declared {
		good, evil := serverOf(t, wayOf(t, what, "tame-words"), nil), serverOf(t, wayOf(t, what, "evil-words"), nil)
		if good.Fingerprint() == evil.Fingerprint() {
			t.Errorf("%s: other words of the publisher are trusted too", name)
		}
		for shown, in := range map[string]string{"asked about": fmt.Sprint(config.Describe(evil)), "printed": fmt.Sprint(evil.Masked()), "printed twice": fmt.Sprint(config.Describe(evil.Masked()))} {
			if !strings.Contains(in, "evil-words") || strings.Contains(in, "***") {
				t.Errorf("%s, %s: %s", name, shown, in)
			}
		}
	}
}

// What somebody typed in place of the publisher's words is masked wherever it gets to, and another one needs no new trust.
func TestTypedSecretsAreMasked(t *testing.T) {
	for name, what := range declared {
		way := wayOf(t, what, "evil-words")
		if len(way.Inputs) == 0 {
			continue // its value is fixed
		}
		one, two := serverOf(t, way, map[string]string{way.Inputs[0].Name: "hunter2"}), serverOf(t, way, map[string]string{way.Inputs[0].Name: "h3"})
		if one.Fingerprint() != two.Fingerprint() {
			t.Errorf("%s: another secret needs new trust", name)
		}
		for _, in := range []string{fmt.Sprint(config.Describe(one)), fmt.Sprint(one.Masked()), fmt.Sprint(config.Describe(one.Masked())), fmt.Sprint(config.Describe(two))} {
			if strings.Contains(in, "hunter2") || strings.Contains(in, "h3") || strings.Contains(in, "evil-words") || !strings.Contains(in, "***") {
				t.Errorf("%s: %s", name, in)
			}
		}
		if one.Fingerprint() == serverOf(t, way, nil).Fingerprint() {
			t.Errorf("%s: trust in a typed secret is trust in the publisher's words", name)
		}
	}
}

// A secret that somebody typed does not hide words that the publisher wrote, though they are the same.
func TestTypedSecretsHideNothingElse(t *testing.T) {
	way := wayOf(t, `"packages":[{"registryType":"npm","identifier":"x","version":"1.0.0","runtimeArguments":[{"type":"positional","value":"--call=evil-words"}],"environmentVariables":[{"name":"API_KEY","isSecret":true}]}]`, "")
	s := serverOf(t, way, map[string]string{"API_KEY": "evil-words"})
	assert.Contains(t, fmt.Sprint(config.Describe(s)), "--call=evil-words", "API_KEY=***")
}

// A choice that the publisher offers is its own words, also where somebody took it.
func TestChoicesAreThePublishers(t *testing.T) {
	what := `"packages":[{"registryType":"npm","identifier":"x","version":"1.0.0","runtimeArguments":[{"type":"positional","valueHint":"k","isSecret":true,"isRequired":true,"choices":["WORDS","other"]}]}]`
	s := serverOf(t, wayOf(t, what, "evil-words"), map[string]string{"k": "evil-words"})
	assert.Contains(t, fmt.Sprint(config.Describe(s)), "evil-words")
}

// Whatever is secret of a URL, the host that is contacted is shown.
func TestHostsFromInputsAreShown(t *testing.T) {
	for url, want := range map[string]string{
		"{k}/mcp":                 "https://evil.example.com/mcp",
		"https://{host}/mcp":      "https://evil.example.com/mcp",
		"https://{host}:8443/{k}": "https://evil.example.com:8443/***",
	} {
		what := `"remotes":[{"type":"streamable-http","url":"` + url + `","variables":{"k":{"isSecret":true,"isRequired":true},"host":{"isSecret":true,"isRequired":true}}}]`
		way := wayOf(t, what, "")
		given := map[string]string{}
		for _, i := range way.Inputs {
			given[i.Name] = map[string]string{"k": "https://evil.example.com", "host": "evil.example.com"}[i.Name]
		}
		if len(given) == 2 {
			given["k"] = "hunter2"
		}
		s := serverOf(t, way, given)
		got := map[string]string{}
		for _, f := range config.Describe(s) {
			got[f.Label] = f.Value
		}
		if got["connects to"] != want || s.Masked().URL != want {
			t.Errorf("%s: asked about %s, printed %s, want %s", url, got["connects to"], s.Masked().URL, want)
		}
	}
}
