package agentclient

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"

	"github.com/mcphud/mcphud/session/config"
)

// maxList bounds the router's list of agents, in bytes.
const maxList = 4 << 20

// Agents are the names of the agents that the router lets the token call.
func (c *Client) Agents(ctx context.Context) ([]string, error) {
	fail := errorMaker{c: c}
	res, err := c.send(ctx, http.MethodGet, c.base+"/agents.json", nil)
	if err != nil {
		return nil, fail.transport(ctx, err)
	}
	defer func() { _ = res.Body.Close() }()
	var list struct{ Agents []struct{ Name string } }
	if err := json.NewDecoder(io.LimitReader(res.Body, maxList)).Decode(&list); err != nil || res.StatusCode != http.StatusOK {
		return nil, fail.protocol(res, fmt.Sprintf("cannot list the agents: HTTP status %s", res.Status), "check that a mcphud router listens at "+c.router)
	}
	var names []string
	for _, a := range list.Agents {
		if config.ValidName(a.Name) {
			names = append(names, a.Name)
		}
	}
	return names, nil
}
