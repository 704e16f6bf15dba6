package registry

import (
	"slices"
	"strings"
)

// withoutRun leaves out what some write into the arguments of docker although it is there anyway: the command run, the options by
// which the container talks over stdio, and the image at the end.
func withoutRun(list []Argument, p Package, spec string) []Argument {
	constant := func(a Argument) string {
		if a.Type == "named" || a.Value == nil {
			return ""
		}
		return string(*a.Value)
	}
	if len(list) > 0 && constant(list[0]) == "run" {
		list = list[1:]
	}
	bare, _, _ := strings.Cut(p.Identifier, "@")
	if at := strings.LastIndexByte(bare, ':'); at > strings.LastIndexByte(bare, '/') {
		bare = bare[:at]
	}
	return slices.DeleteFunc(slices.Clone(list), func(a Argument) bool {
		v := constant(a)
		if a.Type == "named" && slices.Contains([]string{"-i", "--interactive", "--rm"}, a.Name) && (a.Value == nil || *a.Value == "true" || *a.Value == "") {
			return true
		}
		return v != "" && (v == bare || v == p.Identifier || v == spec) || v == "-i" || v == "--rm" || v == "--interactive"
	})
}

// secretVariable reports whether an argument sets a variable of the container to a secret.
func secretVariable(a argument, values []string) (name, value string, ok bool) {
	if !a.secret || a.flag != "-e" && a.flag != "--env" || len(values) != 1 {
		return "", "", false
	}
	name, value, ok = strings.Cut(values[0], "=")
	return name, value, ok && name != "" && !strings.ContainsAny(name, "{} \t")
}

// powers are options by which a container gets at what it was to be kept from.
var powers = []struct{ option, value, what string }{
	{"--privileged", "", "the container has all rights on this machine"},
	{"--cap-add", "", "the container has further rights on this machine"},
	{"--device", "", "the container uses a device of this machine"},
	{"--security-opt", "", "the container changes how it is shut in"},
	{"--pid", "host", "the container sees the processes of this machine"},
	{"--ipc", "host", "the container shares memory with this machine"},
	{"--uts", "host", "the container can rename this machine"},
	{"--userns", "host", "the container's root is the root of this machine"},
	{"--network", "host", "the container uses the network as this machine does"},
	{"--net", "host", "the container uses the network as this machine does"},
	{"--volumes-from", "", "the container mounts what another one has"},
	{"--entrypoint", "", "the container starts another program than its image's"},
	{"--env-file", "", "the container gets the variables of a file"},
}

// containerWarnings says in words what the options of a container allow it.
func containerWarnings(list []argument) (out []string) {
	say := func(w string) {
		if !slices.Contains(out, w) {
			out = append(out, w)
		}
	}
	next := "" // option that the next positional argument is the value of
	for _, a := range list {
		option, value := a.flag, strings.Join(a.pieces, "…")
		if a.flag == "" {
			option, value = value, ""
			if before, after, ok := strings.Cut(option, "="); ok && strings.HasPrefix(option, "-") {
				option, value = before, after
			}
			if !strings.HasPrefix(option, "-") {
				option, value, next = next, option, ""
			} else {
				next = option
			}
		}
		if before, after, ok := strings.Cut(option, "="); ok {
			option, value = before, after
		}
		if strings.HasPrefix(option, "-v") && !strings.HasPrefix(option, "--") && len(option) > 2 {
			option, value = "-v", option[2:]
		}
		for _, p := range powers {
			if option == p.option && (p.value == "" || value == p.value) {
				say(p.what)
			}
		}
		if w := mountWarning(option, value); w != "" {
			say(w)
		}
	}
	return out
}

// mountWarning says what of this machine an option shows to a container.
func mountWarning(option, value string) string {
	from := ""
	switch option {
	case "-v", "--volume":
		from, _, _ = strings.Cut(value, ":")
	case "--mount":
		for _, field := range strings.Split(value, ",") {
			if k, v, _ := strings.Cut(field, "="); k == "src" || k == "source" {
				from = v
			}
		}
	}
	switch {
	case from == "":
		return ""
	case from == "/":
		return "the container mounts the whole file system of this machine"
	case strings.HasSuffix(from, "docker.sock") || strings.HasSuffix(from, "podman.sock"):
		return "the container controls the container engine, and with it this machine"
	case strings.HasPrefix(from, "/") || strings.HasPrefix(from, "~") || strings.HasPrefix(from, "$"):
		return "the container mounts " + from + " of this machine"
	}
	return ""
}

// loaderWarning says of a variable that it makes a program run code from elsewhere.
func loaderWarning(name string) string {
	switch strings.ToUpper(name) {
	case "LD_PRELOAD", "LD_LIBRARY_PATH", "DYLD_INSERT_LIBRARIES", "DYLD_LIBRARY_PATH", "NODE_OPTIONS", "NODE_PATH", "PYTHONPATH", "PYTHONSTARTUP", "PATH", "BASH_ENV",
		"NPM_CONFIG_REGISTRY", "UV_INDEX_URL", "UV_DEFAULT_INDEX", "PIP_INDEX_URL", "DOCKER_HOST", "DOTNET_STARTUP_HOOKS":
		return name + " decides which code runs"
	}
	return ""
}
