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

// Objects opens an object store, for values that no message can hold, and makes it if there is none. After ttl an object is gone; 0 is never.
func (c *Conn) Objects(ctx context.Context, name string, ttl time.Duration) (store jetstream.ObjectStore, err error) {
	cfg := jetstream.ObjectStoreConfig{Bucket: name, TTL: ttl}
	err = c.Try(ctx, "use the object store "+name, func(ctx context.Context) error {
		if store, err = c.js.ObjectStore(ctx, name); err == nil {
			return c.limit(ctx, store, cfg)
		}
		if !errors.Is(err, jetstream.ErrBucketNotFound) {
			return err
		}
		store, err = c.js.CreateObjectStore(ctx, cfg)
		if errors.Is(err, jetstream.ErrBucketExists) {
			store, err = c.js.ObjectStore(ctx, name)
		}
		return err
	})
	return store, err
}

// limit gives a store that was made without one the time to live that it should have.
func (c *Conn) limit(ctx context.Context, store jetstream.ObjectStore, cfg jetstream.ObjectStoreConfig) error {
	s, err := store.Status(ctx)
	if err != nil {
		return err
	}
	if cfg.TTL == 0 || s.TTL() > 0 {
		return nil
	}
	cfg.Description, cfg.Storage, cfg.Replicas, cfg.Metadata, cfg.Compression = s.Description(), s.Storage(), s.Replicas(), s.Metadata(), s.IsCompressed()
	_, err = c.js.UpdateObjectStore(ctx, cfg)
	return err
}
