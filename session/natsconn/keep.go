package natsconn

import (
	"context"
	"errors"
	"time"

	"github.com/nats-io/nats.go/jetstream"
)

// BucketOptions are what a bucket that does not exist yet is made with.
type BucketOptions struct {
	TTL      time.Duration // after which a value is gone; 0 for never
	MaxBytes int64         // of all values; 0 for no limit
	Replicas int           // servers of a cluster that keep it; 1
	Memory   bool          // nothing of it outlives the server
}

// Bucket opens a key-value bucket, which it makes if there is none.
func (c *Conn) Bucket(ctx context.Context, name string, o BucketOptions) (kv jetstream.KeyValue, err error) {
	storage := jetstream.FileStorage
	if o.Memory {
		storage = jetstream.MemoryStorage
	}
	err = c.Try(ctx, "use the bucket "+name, func(ctx context.Context) error {
		if kv, err = c.js.KeyValue(ctx, name); !errors.Is(err, jetstream.ErrBucketNotFound) {
			return err
		}
		kv, err = c.js.CreateKeyValue(ctx, jetstream.KeyValueConfig{Bucket: name, TTL: o.TTL, MaxBytes: o.MaxBytes, Replicas: max(o.Replicas, 1), Storage: storage})
		if errors.Is(err, jetstream.ErrBucketExists) { // another replica was quicker
			kv, err = c.js.KeyValue(ctx, name)
		}
		return err
	})
	return kv, err
}

// Objects opens an object store, for values that no message can hold, and makes it if there is none.
func (c *Conn) Objects(ctx context.Context, name string) (store jetstream.ObjectStore, err error) {
	err = c.Try(ctx, "use the object store "+name, func(ctx context.Context) error {
		if store, err = c.js.ObjectStore(ctx, name); !errors.Is(err, jetstream.ErrBucketNotFound) {
			return err
		}
		store, err = c.js.CreateObjectStore(ctx, jetstream.ObjectStoreConfig{Bucket: name})
		if errors.Is(err, jetstream.ErrBucketExists) {
			store, err = c.js.ObjectStore(ctx, name)
		}
		return err
	})
	return store, err
}
