package credstore

import (
	"context"
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/zalando/go-keyring"

	"github.com/mcphud/mcphud/session/auth"
	"github.com/mcphud/mcphud/session/base/text"
)

// service is what the keychain shows the key under; the account is the file that it is for.
const service = "mcphud"

// again is how long a keychain that failed is not asked again: it may show a prompt each time.
const again = 30 * time.Second

// keychain has the key of the file, once it was asked for. A keychain may ask the user first, for as long as that takes: after the
// patience it counts as locked, and its answer is good when it comes.
type keychain struct {
	account  string
	patience time.Duration
	always   bool // also where none seems to be; for tests

	mu     sync.Mutex
	have   []byte
	asking *question // the last one; nil for none
}

// question is one exchange with the keychain.
type question struct {
	done chan struct{}
	key  []byte    // valid once done; nil if there is none
	err  error     // valid once done
	at   time.Time // valid once done
	late bool      // it took longer than the patience
}

// key is the key of the file, nil if the keychain has none.
func (k *keychain) key(ctx context.Context) ([]byte, error) {
	k.mu.Lock()
	if k.have != nil {
		defer k.mu.Unlock()
		return k.have, nil
	}
	q := k.asking
	if q != nil && q.isDone() && (q.err == nil || time.Since(q.at) > again) {
		q = nil
	}
	if q == nil {
		q = k.ask(k.get)
	}
	k.mu.Unlock()
	return k.wait(ctx, q)
}

// create puts a new key into the keychain if there still is none. No other process must do the same.
func (k *keychain) create(ctx context.Context) ([]byte, error) {
	k.mu.Lock()
	q := k.ask(func() ([]byte, error) {
		if key, err := k.get(); key != nil || err != nil {
			return key, err
		}
		key := make([]byte, 32)
		_, _ = rand.Read(key) // never fails
		if err := keyring.Set(service, k.account, base64.StdEncoding.EncodeToString(key)); err != nil {
			return nil, err
		}
		return k.get() // what it really keeps
	})
	k.mu.Unlock()
	key, err := k.wait(ctx, q)
	if err == nil && key == nil {
		err = fmt.Errorf("%w: it did not keep what it was given", auth.ErrLocked)
	}
	return key, err
}

// get asks the keychain for the key.
func (k *keychain) get() ([]byte, error) {
	s, err := keyring.Get(service, k.account)
	if errors.Is(err, keyring.ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	key, err := base64.StdEncoding.DecodeString(s)
	if err != nil || len(key) != 32 {
		return nil, errors.New("what it holds for " + k.account + " is not a key of mcphud")
	}
	return key, nil
}

// ask starts a question. The caller holds k.mu.
func (k *keychain) ask(f func() ([]byte, error)) *question {
	q := &question{done: make(chan struct{})}
	k.asking = q
	if !k.always {
		if q.err = keychainError(); q.err != nil {
			q.at = time.Now()
			close(q.done)
			return q
		}
	}
	go func() {
		key, err := f()
		k.mu.Lock()
		defer k.mu.Unlock()
		if q.key, q.err, q.at = key, err, time.Now(); err == nil {
			k.have = key
		}
		close(q.done)
	}()
	return q
}

func (q *question) isDone() bool {
	select {
	case <-q.done:
		return true
	default:
		return false
	}
}

// wait waits for an answer, as long as there is patience.
func (k *keychain) wait(ctx context.Context, q *question) ([]byte, error) {
	k.mu.Lock()
	patience := k.patience
	if q.late {
		patience = 0
	}
	k.mu.Unlock()
	timer := time.NewTimer(patience)
	defer timer.Stop()
	select {
	case <-q.done:
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-timer.C:
		if !q.isDone() {
			k.mu.Lock()
			q.late = true
			k.mu.Unlock()
			return nil, fmt.Errorf("%w: it did not answer within %s", auth.ErrLocked, text.Duration(k.patience))
		}
	}
	if q.err != nil {
		return nil, fmt.Errorf("%w: %w", auth.ErrLocked, q.err)
	}
	return q.key, nil
}

// keyID tells keys apart.
func keyID(key []byte) string {
	sum := sha256.Sum256(key)
	return hex.EncodeToString(sum[:4])
}

func sealer(key []byte) cipher.AEAD {
	block, err := aes.NewCipher(key)
	if err != nil {
		panic(err) // keys have 32 bytes
	}
	gcm, err := cipher.NewGCMWithRandomNonce(block)
	if err != nil {
		panic(err) // AES has blocks of 16 bytes
	}
	return gcm
}

// seal encrypts b, and binds it to what it is for.
func seal(key []byte, at auth.Key, b []byte) []byte { return sealer(key).Seal(nil, nil, b, bound(at)) }

func unseal(key []byte, at auth.Key, b []byte) ([]byte, error) {
	return sealer(key).Open(nil, nil, b, bound(at))
}

func bound(at auth.Key) []byte { return []byte(at.Resource + "\x00" + at.Issuer) }
