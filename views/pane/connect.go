package pane

import (
	"context"

	"github.com/mcphud/mcphud/session"
	"github.com/mcphud/mcphud/session/client/toolset"
)

// ConnectFrom connects a server within the limits of a pool; nil for none.
func ConnectFrom(ctx context.Context, pool *toolset.Pool, s *session.Session) error {
	if pool == nil {
		return s.Connect(ctx)
	}
	_, release, err := pool.Get(ctx, s.Name())
	if err == nil {
		release()
	}
	return err
}
