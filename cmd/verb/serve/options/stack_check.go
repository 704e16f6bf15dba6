package options

import (
	"slices"

	"github.com/spf13/pflag"

	"github.com/mcphud/mcphud/cmd/cli/settings"
	"github.com/mcphud/mcphud/proxy/stack"
)

// AgentChecker validates the agent's settings by their keys.
func AgentChecker() stack.Checker {
	var s Agent
	f := pflag.NewFlagSet("agent", pflag.ContinueOnError)
	s.Register(f)
	// The keys of an agent in a stack file differ a little from those of agent.yaml.
	known := slices.DeleteFunc(slices.Clone(AgentSources), func(s settings.Setting) bool { return s.Key == "host" })
	known = append(known, settings.Setting{Key: "env"}, settings.Setting{Key: "route"})
	return func(key, value string) (flag, unknown string, err error) {
		for _, setting := range AgentSources {
			if setting.Key == key && key != "" {
				if err := f.Lookup(setting.Flag).Value.Set(value); err != nil {
					return "", "", settings.Plain(err)
				}
				return setting.Flag, "", nil
			}
		}
		return "", settings.UnknownKey(known, key), nil
	}
}
