package main

import (
	"cmp"
	"context"
	"time"

	"github.com/mcphud/mcphud/agentsrv"
	"github.com/mcphud/mcphud/proxy/cluster"
	"github.com/mcphud/mcphud/session/base/failure"
	"github.com/mcphud/mcphud/session/serve/natsconn"
)

// unregisterTime is how long an agent that is no longer registered serves on, for routers to notice.
const unregisterTime = 500 * time.Millisecond

// registered says where the agent is to routers, if it is to be registered; withdraw takes that back, and gives them the time to notice.
func (s *agentSettings) registered(ctx context.Context, agent *agentsrv.Agent, o agentsrv.Options) (withdraw func(), err error) {
	if s.registerAt == "" {
		return func() {}, nil
	}
	url := s.registerAs
	if url == "" {
		url = agent.URL()
	}
	r, err := cluster.OpenRegistration(ctx, cluster.RegistrationOptions{
		Target: s.registerAt, NATS: natsconn.Options{
			Creds: cmp.Or(s.registerCreds, s.queue.Creds), CA: cmp.Or(s.registerCA, s.queue.CA), Cert: s.queue.Cert, Key: s.queue.Key, Name: "mcphud agent " + s.registerName(),
		},
		Name: s.registerName(), URL: url, Token: s.token, Logger: o.Logger,
	})
	if err != nil {
		return nil, &failure.Error{Kind: failure.Usage, Message: err.Error(), Err: err, Next: "correct --register, or give another address with --register-as"}
	}
	return func() {
		if err := r.Close(); err != nil {
			o.Logger.Warn("the registration is left behind", "error", err.Error())
		}
		time.Sleep(unregisterTime)
	}, nil
}

// registerName is the name of the route that the agent is registered for.
func (s *agentSettings) registerName() string {
	if s.name == "" {
		return "agent"
	}
	return s.name
}

// checkRegister refuses settings that cannot be together.
func (s *agentSettings) checkRegister() error {
	switch {
	case s.registerAt == "" && s.registerAs != "":
		return usageError("--register-as says where a registered agent is, and nothing registers it", "give --register too, or leave it out")
	case s.registerAt != "" && s.stdio:
		return usageError("--register does not apply with --stdio: no router reaches an agent on stdin and stdout", "leave one of them out")
	case s.registerAt == "" || !cluster.IsNATS(s.registerAt):
		return nil
	}
	if _, _, err := cluster.Bucket(s.registerAt); err != nil {
		return &failure.Error{Kind: failure.Usage, Message: err.Error(), Err: err, Next: "correct --register"}
	}
	return nil
}
