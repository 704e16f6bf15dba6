package main

import (
	"context"

	"github.com/mcphud/mcphud/proxy"
	"github.com/mcphud/mcphud/proxy/cluster"

	"github.com/mcphud/mcphud/session/base/failure"
	"github.com/mcphud/mcphud/session/serve/natsconn"
)

// join opens what the router shares with others, if it does. leave ends it, after the router.
func (s *routerSettings) join(ctx context.Context, o *proxy.Options) (leave func(), err error) {
	server, bucket := s.cluster, cluster.DefaultBucket
	if cluster.IsNATS(s.routes) {
		if server, bucket, err = cluster.Bucket(s.routes); err != nil {
			return nil, natsError(err, "correct --routes")
		}
		o.Routes, o.RoutesMust = "", false
	}
	if server == "" {
		return func() {}, nil
	}
	at := natsconn.Options{URL: server, Creds: s.clusterCreds, CA: s.clusterCA, Name: "mcphud router", Logger: o.Logger}
	const next = "start the NATS server, or correct --cluster, --cluster-creds and --cluster-ca"
	keys, err := cluster.OpenRoutes(ctx, at, bucket)
	if err != nil {
		return nil, natsError(err, next)
	}
	o.Keys = keys
	if s.cluster == "" {
		return keys.Close, nil
	}
	at.URL = s.cluster
	shared, err := cluster.Open(ctx, at)
	if err != nil {
		keys.Close()
		return nil, natsError(err, next)
	}
	o.Cluster = shared
	return func() {
		shared.Close()
		keys.Close()
	}, nil
}

func natsError(err error, next string) error {
	return &failure.Error{Kind: failure.Usage, Message: err.Error(), Err: err, Next: next}
}
