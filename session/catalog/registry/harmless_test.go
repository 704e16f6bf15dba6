package registry

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/mcphud/mcphud/session/config/setup"
)

// runnerArgs is the way of a package that has words for its runner, each an argument of its own.
func runnerArgs(t *testing.T, kind string, words ...string) Candidate {
	t.Helper()
	identifier := `"identifier":"x","version":"1.0.0"`
	if kind == "oci" {
		identifier = `"identifier":"docker.io/x/y:1.0.0"`
	}
	var args []string
	for _, w := range words {
		args = append(args, fmt.Sprintf(`{"type":"positional","value":%q}`, w))
	}
	return described(t, `,"packages":[{"registryType":"`+kind+`",`+identifier+`,"runtimeArguments":[`+strings.Join(args, ",")+`]}]`).Candidates(has("npx", "uvx", "docker", "dnx"))[0]
}

// Whatever is not known to be harmless gets a warning, in every spelling.
func TestOptionsWithAWarning(t *testing.T) {
	for kind, lines := range map[string][]string{
		"oci": {
			"-itv /:/host", "-itv/:/host", "-it -v=/:/h", "-v ./:/h", "-v ..:/h", "-v .:/h", `-v C:\:/h`, "-v ~/:/h", "-v $HOME:/h", "--volume //:/h", "-v /var/run/docker.sock:/s",
			`--mount "type=bind","source=/",dst=/h`, "--mount TYPE=bind,SOURCE=/,dst=/h", "--mount type=volume,dst=/h,volume-opt=device=/,volume-opt=type=none,volume-opt=o=bind", "--mount type=bind,dst=/h",
			"--use-api-socket", "--pid container:x", "--pid=host", "--cgroupns host", "--gpus all", "--device-cgroup-rule a", "--runtime evil", "--cidfile /x", "--sysctl a=b", "-P", "-p 80:80",
			"-p 0.0.0.0:80:80", "--publish=80:80", "--add-host a:1.2.3.4", "--dns 1.2.3.4", "--network x", "--net=host", "--security-opt seccomp=unconfined", "-e AWS_SECRET_ACCESS_KEY", "--env HOME",
			"--restart always", "-d", "--rm=false", "evil/image", "--rm evil/image", "--name x evil/image", "--label a=b", "--group-add 0", "--cap-add=ALL", "-l a", "-a stdout", "--privileged=true",
		},
		"npm": {
			"-c evil", "--call evil", "--call=evil", "--package evil", "-p evil", "--registry https://evil.example", "--registry=https://evil.example", "--node-options=--require=/x", "--script-shell /x",
			"--userconfig /x", "--prefix /x", "evil", "-y evil", "--yes=evil", "-yc evil", "--pack evil", "--", "--loglevel silly evil",
		},
		"pypi": {
			"--from git+https://evil.example/x", "--with evil", "--index-url https://evil.example", "--find-links /x", "--python /x", "--python=/x", "--allow-insecure-host evil.example", "evil", "--index=x",
			"--default-index x", "--extra-index-url x", "--config-file x", "--env-file x", "--from evil --from",
		},
		"nuget": {"--source https://evil.example", "--configfile x", "evil"},
	} {
		for _, line := range lines {
			if c := runnerArgs(t, kind, strings.Fields(line)...); len(c.Warnings) == 0 {
				t.Errorf("%s %s: no warning", kind, line)
			}
		}
	}
}

func TestOptionsThatAreHarmless(t *testing.T) {
	for kind, lines := range map[string][]string{
		"oci": {
			"-i --rm", "-it", "--init", "-e A=b", "--env=A=b", "-v data:/data", "-v /data", "--name x", "--read-only", "--memory 1g", "-m1g", "--cpus=1", "--network none", "--cap-drop ALL", "-u 1000:1000",
			"--security-opt no-new-privileges", "-p 127.0.0.1:80:80", "--mount type=tmpfs,dst=/x", "--mount type=volume,src=data,dst=/x", "--tmpfs /tmp", "-w /x", "--pull always", "--rm=true",
		},
		"npm":   {"-y", "--yes", "--quiet", "--prefer-offline", "--ignore-scripts", "--loglevel error"},
		"pypi":  {"--isolated", "--python 3.12", "--python=3.12", "-q", "--from"},
		"nuget": {"--prerelease", "--yes"},
	} {
		for _, line := range lines {
			if c := runnerArgs(t, kind, strings.Fields(line)...); len(c.Warnings) > 0 {
				t.Errorf("%s %s: %q", kind, line, c.Warnings)
			}
		}
	}
}

// A default counts as what it is, and so does a choice once it is taken; a variable of the description is its own.
func TestWarningsOfValues(t *testing.T) {
	way := func(arg string) Candidate {
		return described(t, `,"packages":[{"registryType":"oci","identifier":"x/y:1","environmentVariables":[{"name":"OWN"}],"runtimeArguments":[`+arg+`]}]`).Candidates(has("docker"))[0]
	}
	preset := way(`{"type":"named","name":"-v","value":"{p}:/h","variables":{"p":{"default":"/","isSecret":true}}}`)
	if !strings.Contains(fmt.Sprint(preset.Warnings), "whole file system") {
		t.Errorf("a default: %q", preset.Warnings)
	}
	word := way(`{"type":"positional","value":"{k}","variables":{"k":{"default":"--privileged"}}}`)
	if !strings.Contains(fmt.Sprint(word.Warnings), "all rights") {
		t.Errorf("an option by default: %q", word.Warnings)
	}
	choice := way(`{"type":"named","name":"-v","value":"{p}:/h","variables":{"p":{"isRequired":true,"choices":["/"]}}}`)
	if got := fmt.Sprint(choice.WarningsFor(setup.Values{"p": {"/"}})); !strings.Contains(got, "whole file system") || !strings.Contains(fmt.Sprint(choice.Warnings), "{p}") {
		t.Errorf("a choice: %s, before: %q", got, choice.Warnings)
	}
	if got := fmt.Sprint(way(`{"type":"named","name":"-v","value":"{p}:/h","variables":{"p":{"isSecret":true}}}`).WarningsFor(setup.Values{"p": {"/hunter2"}})); strings.Contains(got, "hunter2") {
		t.Error(got)
	}
	if c := way(`{"type":"named","name":"-e","value":"OWN"}`); len(c.Warnings) > 0 {
		t.Errorf("its own variable: %q", c.Warnings)
	}
	npx := described(t, `,"packages":[{"registryType":"npm","identifier":"x","version":"1","runtimeArguments":[{"type":"positional","value":"{k}","variables":{"k":{"isSecret":true,"isRequired":true}}}]}]`).Candidates(has("npx"))[0]
	if len(npx.Warnings) == 0 {
		t.Error("a word that anybody may type before the package has no warning")
	}
}

func TestVariablesWithAWarning(t *testing.T) {
	warned := func(name string) bool {
		c := described(t, `,"packages":[{"registryType":"npm","identifier":"x","version":"1","environmentVariables":[{"name":"`+name+`","value":"x"}]}]`).Candidates(has("npx"))[0]
		return slices.ContainsFunc(c.Warnings, func(w string) bool { return strings.HasPrefix(w, name+" ") })
	}
	for _, name := range strings.Fields(`LD_AUDIT LD_PRELOAD DYLD_INSERT_LIBRARIES GCONV_PATH NPM_CONFIG_SCRIPT_SHELL npm_config_userconfig NPM_CONFIG_REGISTRY UV_INDEX UV_EXTRA_INDEX_URL PIP_EXTRA_INDEX_URL
		DOCKER_CONFIG DOCKER_CONTEXT DOCKER_HOST CONTAINER_HOST GIT_SSH_COMMAND JAVA_TOOL_OPTIONS NODE_TLS_REJECT_UNAUTHORIZED NODE_OPTIONS HTTPS_PROXY https_proxy HOME PATH Path PYTHONPATH PYTHONSTARTUP BASH_ENV
		XDG_CONFIG_HOME SSL_CERT_FILE DOTNET_STARTUP_HOOKS`) {
		if !warned(name) {
			t.Errorf("%s has no warning", name)
		}
	}
	for _, name := range strings.Fields("API_KEY NODE_ENV PYTHONUNBUFFERED GITHUB_TOKEN GITLAB_URL HOMEPAGE LOG_LEVEL PATHS DATABASE_URL ENVIRONMENT UVICORN_PORT") {
		if warned(name) {
			t.Errorf("%s has a warning", name)
		}
	}
}
