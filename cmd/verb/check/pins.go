package check

import (
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"path/filepath"
	"slices"
	"strings"

	"github.com/mcphud/mcphud/cmd/cli"
	"github.com/mcphud/mcphud/proxy"
	"github.com/mcphud/mcphud/proxy/policy/toolpin"
	"github.com/mcphud/mcphud/session/base/failure"
	"github.com/mcphud/mcphud/session/base/text"
	"github.com/mcphud/mcphud/session/check/safety"
	"github.com/mcphud/mcphud/session/config"
)

// pinsOf is what routers remember of a server's tools: the one whose file of pins is given, else all of this user that reach the same
// command or URL, or are how it is reached. notes say which files could not be read.
func pinsOf(s config.Server, file string) (pins []safety.Pins, notes []string, err error) {
	if file != "" {
		known, err := toolpin.Read(file)
		if err != nil {
			return nil, nil, &failure.Error{Kind: failure.Usage, Message: "--pins: " + err.Error(), Err: err, Next: "name the file that a router keeps with --pins"}
		}
		k, err := agentOf(s, known)
		if err != nil {
			return nil, nil, &failure.Error{Kind: failure.Usage, Message: "--pins " + file + " " + err.Error(), Err: err, Next: "give the server the agent's name in a config, or reach it by the router: --agent NAME"}
		}
		return []safety.Pins{pinsIn(k, file)}, nil, nil
	}
	folder := cli.StateFile("routers")
	if folder == "" {
		return nil, nil, nil
	}
	files, _ := filepath.Glob(filepath.Join(escapeGlob(folder), "*.json")) // the pattern is in order
	here := cli.DefaultPins(proxy.DefaultRoutes)
	target := s.Target()
	for _, file := range files {
		known, err := toolpin.Read(file)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			notes = append(notes, "cannot read what a router remembers: "+err.Error())
			continue
		}
		for _, k := range known {
			if slices.Contains(k.Targets, target) || file == here && k.Agent == agentIn(s) {
				pins = append(pins, pinsIn(k, file))
			}
		}
	}
	return pins, notes, nil
}

// escapeGlob is a path in which nothing stands for something else.
func escapeGlob(path string) string {
	if filepath.Separator == '\\' { // where it cannot be escaped
		return path
	}
	return strings.NewReplacer(`\`, `\\`, "*", `\*`, "?", `\?`, "[", `\[`).Replace(path)
}

// agentIn is the agent that a server is, where it is reached by a router; "" for none.
func agentIn(s config.Server) string {
	u, err := url.Parse(s.URL)
	if err != nil {
		return ""
	}
	rest, ok := strings.CutPrefix(u.Path, "/mcps/")
	name, end, _ := strings.Cut(rest, "/")
	if !ok || end != "mcp" {
		return ""
	}
	return name
}

// agentOf is which of the agents of a file a server is: by what it is, how it is reached, or its name; else the only one.
func agentOf(s config.Server, all []toolpin.Known) (toolpin.Known, error) {
	target := s.Target()
	for _, is := range []func(k toolpin.Known) bool{
		func(k toolpin.Known) bool { return slices.Contains(k.Targets, target) },
		func(k toolpin.Known) bool { return k.Agent == agentIn(s) },
		func(k toolpin.Known) bool { return k.Agent == s.Name },
		func(toolpin.Known) bool { return len(all) == 1 },
	} {
		if i := slices.IndexFunc(all, is); i >= 0 {
			return all[i], nil
		}
	}
	names := make([]string, len(all))
	for i, k := range all {
		names[i] = k.Agent
	}
	return toolpin.Known{}, fmt.Errorf("has no agent that is this server; it has %s", text.Clip(strings.Join(names, ", "), 200))
}

func pinsIn(k toolpin.Known, file string) safety.Pins {
	return safety.Pins{By: "a router (agent " + k.Agent + " in " + file + ")", Of: k.Pin}
}
