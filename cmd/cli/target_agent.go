package cli

import (
	"context"
	"fmt"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/mcphud/mcphud/cmd/cli/flags"
	"github.com/mcphud/mcphud/session/base/failure"
	"github.com/mcphud/mcphud/session/config"
	"github.com/mcphud/mcphud/session/serve/agentclient"
)

// routerClient is a client of the router that the environment names: ROUTER_HOST, ROUTER_PORT, ROUTER_CA and AGENT_TOKEN.
func routerClient() (*agentclient.Client, error) {
	o := agentclient.Options{RouterHost: os.Getenv("ROUTER_HOST"), RouterCA: os.Getenv("ROUTER_CA"), AuthToken: os.Getenv("AGENT_TOKEN")}
	if port := os.Getenv("ROUTER_PORT"); port != "" {
		if err := (&flags.Number{Value: &o.RouterPort, Least: 1, Most: 65535}).Set(port); err != nil {
			return nil, failure.UsageError(fmt.Sprintf("ROUTER_PORT is %q: %v", port, err), "correct or unset ROUTER_PORT")
		}
	}
	c, err := agentclient.New(o)
	if err != nil {
		return nil, &failure.Error{Kind: failure.Usage, Message: err.Error(), Err: err, Next: "correct or unset ROUTER_HOST, ROUTER_CA and AGENT_TOKEN"}
	}
	return c, nil
}

// AgentServer is an agent behind the router.
func AgentServer(name string) (config.Server, error) {
	if !config.ValidName(name) {
		return config.Server{}, failure.UsageError(fmt.Sprintf("--agent %q is not a valid agent name", name), "a name has "+config.NameRule)
	}
	c, err := routerClient()
	if err != nil {
		return config.Server{}, err
	}
	s := config.Server{Name: name, Transport: config.HTTP, URL: c.AgentURL(name), CA: os.Getenv("ROUTER_CA")}
	if token := os.Getenv("AGENT_TOKEN"); token != "" {
		s.Headers = map[string]string{"Authorization": "Bearer " + token}
	}
	return s, nil
}

// completeAgents offers the names of the router's agents.
func completeAgents(cmd *cobra.Command, _ []string, _ string) ([]string, cobra.ShellCompDirective) {
	c, err := routerClient()
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	defer c.Close()
	ctx, cancel := context.WithTimeout(cmd.Context(), ShellTimeout)
	defer cancel()
	names, _ := c.Agents(ctx) // no router, no completions
	return names, cobra.ShellCompDirectiveNoFileComp
}

// ShellTimeout bounds what a press of the tab key may take.
const ShellTimeout = 3 * time.Second
