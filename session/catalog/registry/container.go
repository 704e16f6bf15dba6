package registry

import (
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/mcphud/mcphud/session/base/text"
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

// containerWarning says in words what an option of a container allows it; known is false where nothing is known of the option.
func containerWarning(o option, own []string) (warning string, known bool) {
	switch o.name {
	case "-v", "--volume":
		from, _, mounts := strings.Cut(o.value, ":")
		if !mounts || plainVolume.MatchString(from) { // a volume of its own
			return "", true
		}
		return mountWarning(from, o.value), true
	case "--mount":
		return mountOptionWarning(o.value)
	case "-e", "--env":
		name, _, set := strings.Cut(o.value, "=")
		if set || slices.Contains(own, name) {
			return "", true
		}
		return "the container gets " + text.Clip(name, 60) + " of your environment", plainVariable.MatchString(name)
	case "-p", "--publish":
		for _, here := range []string{"127.0.0.1:", "localhost:", "[::1]:"} {
			if strings.HasPrefix(o.value, here) {
				return "", true
			}
		}
		return "the container is open to the network of this machine, at port " + text.Clip(o.value, 60), true
	}
	for _, p := range powers {
		if o.name == p.option && (p.value == "" || o.value == p.value) {
			return p.what, true
		}
	}
	return "", false
}

var (
	plainVolume   = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_.-]+$`) // one letter is a drive
	plainVariable = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)
)

// mountOptionWarning is containerWarning for the fields of --mount.
func mountOptionWarning(value string) (warning string, known bool) {
	fields := map[string]string{}
	for _, f := range strings.Split(value, ",") {
		k, v, _ := strings.Cut(strings.Trim(f, `" `), "=")
		k = strings.ToLower(strings.Trim(k, `" `))
		if k == "src" {
			k = "source"
		}
		fields[k] = strings.Trim(v, `" `)
	}
	_, opt := fields["volume-opt"]
	switch from, kind := fields["source"], strings.ToLower(fields["type"]); {
	case opt: // by which a volume is any folder of this machine
		return "", false
	case kind == "tmpfs", (kind == "volume" || kind == "") && (from == "" || plainVolume.MatchString(from)):
		return "", true
	case from != "":
		return mountWarning(from, from), true
	}
	return "", false
}

// mountWarning says what of this machine a container sees; shown is what to call it.
func mountWarning(from, shown string) string {
	clean := path.Clean(strings.ReplaceAll(strings.TrimSpace(from), `\`, "/"))
	switch {
	case clean == "/":
		return "the container mounts the whole file system of this machine"
	case strings.HasSuffix(from, "docker.sock") || strings.HasSuffix(from, "podman.sock"):
		return "the container controls the container engine, and with it this machine"
	case clean == "." || clean == ".." || strings.HasPrefix(clean, "../"):
		return "the container mounts " + text.Clip(shown, 200) + " of this machine, seen from the folder that mcphud runs in"
	}
	return "the container mounts " + text.Clip(shown, 200) + " of this machine"
}
