package stack

import (
	"crypto/rand"
	"fmt"
	"strings"
)

const (
	tokenEnv     = "AGENT_TOKEN"
	anonymousEnv = "AGENT_TOKEN_ANONYMOUS" // says that the token names nobody: the router speaks for all its callers
)

// tokens are those that a stack makes, by the name of the route. They are in the memory of the supervisor, of the agent and of
// the router, in their private folder, and never in arguments, which every user of the machine can see.
type tokens map[string]string

// makeTokens makes a token for each agent that would take calls of everybody, if there is a router that can hand it on.
func makeTokens(f *File) tokens {
	made := tokens{}
	if f.Open || f.Router == nil {
		return made
	}
	for _, a := range f.Agents {
		if made[a.Of] == "" && a.open() && !ownCredentials(a.Route) {
			made[a.Of] = rand.Text()
		}
	}
	return made
}

// open reports whether the file lets an agent take calls without a token.
func (a *AgentEntry) open() bool { return a.Env[tokenEnv] == "" && a.flag("jwks") == "" }

// ownCredentials reports whether the file says how the router proves itself to an agent.
func ownCredentials(route map[string]any) bool {
	headers, _ := route["headers"].(map[string]any)
	for name := range headers {
		if strings.EqualFold(name, "Authorization") {
			return true
		}
	}
	return false
}

// openNotes warn of agents that take calls of everybody on this machine.
func (f *File) openNotes(made tokens) (notes []string) {
	var names []string
	for _, a := range f.Agents {
		if a.open() && made[a.Of] == "" {
			names = append(names, a.Name)
		}
	}
	if len(names) == 0 {
		return nil
	}
	why, next := "auth is off", "remove auth: off"
	switch {
	case f.Open:
	case f.Router == nil:
		why, next = "without a router nobody could hand a token on", "set env: {AGENT_TOKEN: ${NAME}}"
	default:
		why, next = "its route has credentials of its own", "set env: {AGENT_TOKEN: ${NAME}} to what they are"
	}
	return []string{fmt.Sprintf("warning: %s: every program and user of this machine may call %s; to require a token, %s", why, strings.Join(names, ", "), next)}
}
