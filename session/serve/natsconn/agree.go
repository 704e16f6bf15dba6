package natsconn

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"

	"github.com/nats-io/nats.go/jetstream"
)

const (
	keySize    = 32
	keyFormat  = 1 // of a value of keys
	maxSecrets = 16
)

// secrets are keys that processes share: the first seals, all of them open.
type secrets struct {
	Version int      `json:"v"`
	Keys    [][]byte `json:"keys"` // base64 in JSON
}

// Agree has all who call it use the same keys, the first to seal and all of them to open: those that a bucket has under a name,
// or else one that whoever is first makes.
func (c *Conn) Agree(ctx context.Context, bucket, name string) ([][]byte, error) {
	kv, err := c.Bucket(ctx, bucket, BucketOptions{MaxBytes: 1 << 20})
	if err != nil {
		return nil, err
	}
	key := make([]byte, keySize)
	_, _ = rand.Read(key) // never fails, says its documentation
	text, err := json.Marshal(secrets{keyFormat, [][]byte{key}})
	if err != nil {
		return nil, err
	}
	var s secrets
	err = c.Try(ctx, "use the "+name+" key in the bucket "+bucket, func(ctx context.Context) error {
		e, err := kv.Get(ctx, name)
		if errors.Is(err, jetstream.ErrKeyNotFound) {
			if _, err = kv.Create(ctx, name, text); err != nil && !errors.Is(err, jetstream.ErrKeyExists) {
				return err
			}
			e, err = kv.Get(ctx, name)
		}
		if err != nil {
			return err
		}
		if err := json.Unmarshal(e.Value(), &s); err != nil || s.Version != keyFormat || len(s.Keys) == 0 || len(s.Keys) > maxSecrets {
			return errors.New("its value is of another version, or is not valid")
		}
		return nil
	})
	return s.Keys, err
}
