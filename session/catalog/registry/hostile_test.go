package registry

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/mcphud/mcphud/session/config"
	"github.com/mcphud/mcphud/session/config/setup"
	"github.com/mcphud/mcphud/session/test/require"
	"github.com/mcphud/mcphud/session/test/require/assert"
)

func described(t *testing.T, more string) *Document {
	t.Helper()
	d, err := Parse([]byte(`{"name":"com.example/x","version":"1.0.0"` + more + `}`))
	if err != nil {
		t.Fatalf("%s: %v", more, err)
	}
	return d
}

func TestParseRefuses(t *testing.T) {
	for what, raw := range map[string]string{
		"nothing":       ``,
		"a list":        `[]`,
		"two values":    `{"name":"a/b"} {}`,
		"no name":       `{}`,
		"an option":     `{"name":"--help/x"}`,
		"a path":        `{"name":"../../etc/passwd"}`,
		"an escape":     `{"name":"a/b\u001b[2J"}`,
		"depth":         `{"name":"a/b","x":` + strings.Repeat("[", 100_000) + strings.Repeat("]", 100_000) + `}`,
		"size":          `{"name":"a/b","x":"` + strings.Repeat("x", 2<<20) + `"}`,
		"many packages": `{"name":"a/b","packages":[` + strings.Repeat(`{},`, 100) + `{}]}`,
		"arguments":     `{"name":"a/b","packages":[{"packageArguments":[` + strings.Repeat(`{"type":"positional","value":"x"},`, 400) + `{}]}]}`,
		"a wrong type":  `{"name":"a/b","packages":"x"}`,
		"a wrong value": `{"name":"a/b","packages":[{"packageArguments":[{"value":{}}]}]}`,
	} {
		if d, err := Parse([]byte(raw)); err == nil {
			t.Errorf("%s: %+v", what, d)
		} else if len(err.Error()) > 300 || strings.Contains(err.Error(), "\x1b") {
			t.Errorf("%s: %q", what, err)
		}
	}
}

// No identifier, version, address or hint becomes an option, a path, a URL or a command of its own.
func TestInjection(t *testing.T) {
	for _, p := range []string{
		`"registryType":"npm","identifier":"--prefix=/tmp","version":"1"`,
		`"registryType":"npm","identifier":"-c","version":"1"`,
		`"registryType":"npm","identifier":"git+ssh://evil/x","version":"1"`,
		`"registryType":"npm","identifier":"file:/tmp/x","version":"1"`,
		`"registryType":"npm","identifier":"../x","version":"1"`,
		`"registryType":"npm","identifier":"x y","version":"1"`,
		`"registryType":"npm","identifier":"x","version":"1 --call evil"`,
		`"registryType":"npm","identifier":"x","version":"-1"`,
		`"registryType":"npm","identifier":"x","version":"npm:evil@1"`,
		`"registryType":"npm","identifier":"x","version":"^1.0.0"`,
		`"registryType":"npm","identifier":"x","version":"https://evil/x.tgz"`,
		`"registryType":"npm","identifier":"x","version":"1","registryBaseUrl":"http://evil.example.com"`,
		`"registryType":"npm","identifier":"x","version":"1","registryBaseUrl":"file:///tmp"`,
		`"registryType":"pypi","identifier":"-r/etc/passwd","version":"1"`,
		`"registryType":"pypi","identifier":"x @ https://evil/x.whl","version":"1"`,
		`"registryType":"oci","identifier":"--privileged","version":"1"`,
		`"registryType":"oci","identifier":"x","version":"1 -v /:/host"`,
		`"registryType":"oci","identifier":"-v"`,
		`"registryType":"nuget","identifier":"--source","version":"1"`,
		`"registryType":"sh","identifier":"x","version":"1","runtimeHint":"sh"`,
		`"registryType":"cargo","identifier":"x","version":"1"`,
		`"registryType":"npm","identifier":"x","version":"1","environmentVariables":[{"name":"--rm","value":"x"}]`,
		`"registryType":"npm","identifier":"x","version":"1","environmentVariables":[{"name":"A=B","value":"x"}]`,
		`"registryType":"mcpb","identifier":"file:///tmp/x.mcpb","fileSha256":"` + strings.Repeat("a", 64) + `"`,
		`"registryType":"mcpb","identifier":"https://h/x.mcpb"`,
		`"registryType":"npm","identifier":"x","version":"1","transport":{"type":"streamable-http","url":"http://h.example:1/mcp"}`,
		`"registryType":"npm","identifier":"x","version":"1","transport":{"type":"streamable-http","url":"http://localhost:{port}/mcp"}`,
		`"registryType":"npm","identifier":"x","version":"1","transport":{"type":"streamable-http","url":"file:///etc/passwd"}`,
		`"registryType":"npm","identifier":"x","version":"1","transport":{"type":"grpc","url":"http://localhost:1/mcp"}`,
	} {
		for _, c := range described(t, `,"packages":[{`+p+`}]`).Candidates(has("npx", "uvx", "docker", "dnx", "sh")) {
			if _, err := c.Server(nil); c.Refused == nil || err == nil {
				t.Errorf("%s can be run", p)
			}
		}
	}
	for _, r := range []string{"file:///etc/passwd", "data:text/plain,x", "javascript:alert(1)", "https://user:pw@h/mcp", "//h/mcp", "-x", "https://", "{x}/mcp"} {
		if c := described(t, fmt.Sprintf(`,"remotes":[{"type":"streamable-http","url":%q}]`, r)).Candidates(has())[0]; c.Refused == nil {
			t.Errorf("%s can be contacted", r)
		}
	}
	hint := described(t, `,"packages":[{"registryType":"npm","identifier":"x","version":"1","runtimeHint":"/bin/sh"}]`).Candidates(has("npx", "/bin/sh"))[0]
	if s, err := hint.Server(nil); err != nil || s.Command != "npx" {
		t.Errorf("the hint runs %s, %v", s.Command, err)
	}
}

// A value is one argument, whatever is in it, and a header is one line.
func TestValuesDoNotSpread(t *testing.T) {
	c := described(t, `,"packages":[{"registryType":"npm","identifier":"x","version":"1","packageArguments":[{"type":"named","name":"--url","value":"http://h/{a}/{b}","variables":{"a":{},"b":{}}},{"type":"positional","value":"{a} {undeclared}"}]}]`).Candidates(has("npx"))[0]
	s, err := c.Server(setup.Values{"a": {`x" --evil $(id)`}, "b": {"{a}"}})
	if want := []string{"-y", "x@1", "--url", `http://h/x" --evil $(id)/{a}`, "{a} {undeclared}"}; err != nil || !slices.Equal(s.Args, want) {
		t.Errorf("%q, %v", s.Args, err)
	}
	h := described(t, `,"remotes":[{"type":"streamable-http","url":"https://h/mcp","headers":[{"name":"X-Key","isRequired":true}]}]`).Candidates(has())[0]
	if _, err := h.Server(setup.Values{"X-Key": {"a\r\nHost: evil"}}); err == nil {
		t.Error("a header has two lines")
	}
	u := described(t, `,"remotes":[{"type":"streamable-http","url":"{base}/mcp","variables":{"base":{"isRequired":true}}}]`).Candidates(has())[0]
	if s, err := u.Server(setup.Values{"base": {"file:///etc"}}); err == nil {
		t.Errorf("contacts %s", s.URL)
	}
}

// What a container may do to this machine is said in words.
func TestContainerWarnings(t *testing.T) {
	for args, want := range map[string]string{
		`{"type":"named","name":"-v","value":"/:/host"}`:                                   "the whole file system",
		`{"type":"named","name":"--volume=/:/host"}`:                                       "the whole file system",
		`{"type":"positional","value":"-v/:/host"}`:                                        "the whole file system",
		`{"type":"positional","value":"-v"},{"type":"positional","value":"/:/host"}`:       "the whole file system",
		`{"type":"named","name":"--mount","value":"type=bind,source=/etc,dst=/x"}`:         "mounts /etc",
		`{"type":"named","name":"-v","value":"../x:/x"}`:                                   "mounts ../x:/x of this machine, seen from the folder",
		`{"type":"named","name":"-v","value":"/var/run/docker.sock:/var/run/docker.sock"}`: "controls the container engine",
		`{"type":"named","name":"--privileged"}`:                                           "all rights",
		`{"type":"named","name":"--network","value":"host"}`:                               "uses the network",
		`{"type":"positional","value":"--pid=host"}`:                                       "sees the processes",
		`{"type":"named","name":"--cap-add","value":"SYS_ADMIN"}`:                          "further rights",
		`{"type":"named","name":"--entrypoint","value":"sh"}`:                              "another program",
	} {
		c := described(t, `,"packages":[{"registryType":"oci","identifier":"x/y:1","runtimeArguments":[`+args+`]}]`).Candidates(has("docker"))[0]
		if !slices.ContainsFunc(c.Warnings, func(w string) bool { return strings.Contains(w, want) }) {
			t.Errorf("%s: %q", args, c.Warnings)
		}
		if s, err := c.Server(nil); err != nil || !strings.Contains(strings.Join(s.Args, " "), "x/y:1") {
			t.Errorf("%s: %v, %v", args, s.Args, err)
		}
	}
	plain := described(t, `,"packages":[{"registryType":"oci","identifier":"x/y:1","runtimeArguments":[{"type":"named","name":"-v","value":"data:/data"}]}]`).Candidates(has("docker"))[0]
	if len(plain.Warnings) > 0 {
		t.Errorf("%q", plain.Warnings)
	}
	loader := described(t, `,"packages":[{"registryType":"npm","identifier":"x","version":"latest","registryBaseUrl":"https://evil.example.com","environmentVariables":[{"name":"NODE_OPTIONS","value":"--require /tmp/x"}]}]`).Candidates(has("npx"))[0]
	assert.Contains(t, strings.Join(loader.Warnings, "; "), "not pinned", "evil.example.com", "NODE_OPTIONS")
}

// Whatever a description holds, the question of trust shows the command as it is, on lines of its own, and no secret.
func TestDescriptionOfPublished(t *testing.T) {
	d := described(t, `,"packages":[{"registryType":"npm","identifier":"x","version":"1","packageArguments":[{"type":"named","name":"--key","isSecret":true}]}]`)
	s, err := d.Candidates(has("npx"))[0].Server(setup.Values{"key": {"hunter2hunter2"}})
	require.NoError(t, err)
	s.Source.Published = &config.Published{Name: "com.example/x", Version: "1", Status: "deprecated", Message: "gone\n\x1b[2Jruns nothing", Repository: "https://h/r\nruns nothing"}
	var b strings.Builder
	for _, f := range config.Describe(s) {
		fmt.Fprintf(&b, "%s %s\n", f.Label, f.Value)
	}
	if got := b.String(); strings.Contains(got, "hunter2") || strings.Contains(got, "\x1b") || strings.Contains(got, "\nruns nothing") || !strings.Contains(got, "runs npx -y x@1 --key") || !strings.Contains(got, "publisher com.example") {
		t.Error(got)
	}
}
