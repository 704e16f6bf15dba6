package natsconn

import (
	"context"
	"time"

	"github.com/nats-io/nats.go/jetstream"
)

// perSecond is how many bytes of an object go over the line in a second at least: a line that is slower counts as one that stands.
const perSecond = 64 << 10

// TransferTime is how long it may take to store or to read an object of that many bytes.
func TransferTime(bytes int) time.Duration {
	return apiTime + time.Duration(bytes)*time.Second/perSecond
}

// PutObject stores an object under a name, within TransferTime or ctx's deadline, whichever comes first. Where ctx has no deadline the client
// would give the whole object the time of one request, which some MiB do not get on a slow line or a busy machine.
func PutObject(ctx context.Context, store jetstream.ObjectStore, name string, b []byte) error {
	ctx, cancel := context.WithTimeout(ctx, TransferTime(len(b)))
	defer cancel()
	_, err := store.PutBytes(ctx, name, b)
	return err
}

// GetObject reads an object, within the same time as PutObject. How large it is comes first: an object that nobody has, and a server that
// does not answer, show within the time of one request.
func GetObject(ctx context.Context, store jetstream.ObjectStore, name string) ([]byte, error) {
	info, err := store.GetInfo(ctx, name)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, TransferTime(int(min(info.Size, 1<<40)))) //nolint:gosec // bounded
	defer cancel()
	return store.GetBytes(ctx, name)
}
