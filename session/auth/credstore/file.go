package credstore

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"runtime"

	"github.com/mcphud/mcphud/session/auth"
	"github.com/mcphud/mcphud/session/base/files"
	"github.com/mcphud/mcphud/session/base/text"
)

const (
	version = 1
	maxFile = 4 << 20 // bytes
)

// document is the content of the file.
type document struct {
	Version     int     `json:"version"`
	Credentials []entry `json:"credentials"` // the newest first
}

// entry is what one key has: in plain text, or encrypted.
type entry struct {
	auth.Key
	Plain  json.RawMessage `json:"plain,omitempty"`  // auth.Credentials
	KeyID  string          `json:"keyId,omitempty"`  // which key of the keychain it is encrypted with
	Sealed []byte          `json:"sealed,omitempty"` // nonce and AES-256-GCM of auth.Credentials, bound to Key
}

// read returns the entries of the file, none if there is no file. What is not as it was written is an error, never a reason to start
// anew.
func (s *store) read() ([]entry, error) {
	info, err := os.Stat(s.path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	if mode := info.Mode().Perm(); runtime.GOOS != "windows" && mode&0o077 != 0 {
		return nil, fmt.Errorf("%s is open to other users (mode %04o): set it to 0600, and log in again where tokens may have been read", s.path, mode)
	}
	b, err := files.Read(s.path, maxFile)
	if err != nil {
		return nil, err
	}
	var d document
	if err := json.Unmarshal(b, &d); err != nil {
		return nil, fmt.Errorf("%s is damaged: %w; correct the file, or remove it and log in again", s.path, err)
	}
	if d.Version != version {
		return nil, fmt.Errorf("%s has version %d, and %d is known here: use the mcphud that wrote it, or remove it and log in again", s.path, d.Version, version)
	}
	return d.Credentials, nil
}

func tooMuch(path string) error {
	return fmt.Errorf("%s would be larger than %s: log out where a login is not needed any more", path, text.Bytes(maxFile))
}

// open is what an entry holds.
func (s *store) open(ctx context.Context, e entry) (c auth.Credentials, err error) {
	b := []byte(e.Plain)
	if e.Sealed != nil {
		if s.mode == File {
			return c, fmt.Errorf("%w: they are encrypted with a key in the keychain, which is not used by this setting", auth.ErrLocked)
		}
		key, err := s.keychain.key(ctx)
		if err != nil {
			return c, err
		}
		if key == nil || keyID(key) != e.KeyID {
			return c, errors.New("the key that it is encrypted with is not in the keychain any more: log in again")
		}
		if b, err = unseal(key, e.Key, e.Sealed); err != nil {
			return c, fmt.Errorf("%s is damaged: %w; log in again", s.path, err)
		}
		s.setWhere(sealedWith)
	} else {
		s.setWhere(inPlain)
	}
	if err := json.Unmarshal(b, &c); err != nil {
		return c, fmt.Errorf("%s is damaged: %w; log in again", s.path, err)
	}
	if c.Key != e.Key {
		return c, fmt.Errorf("%s is damaged: an entry is under the key of another; log in again", s.path)
	}
	return c, nil
}

// How entries are kept, for Where.
const (
	sealedWith = ", encrypted with a key in the keychain"
	inPlain    = ", not encrypted"
)

// close makes an entry of c.
func (s *store) close(ctx context.Context, c auth.Credentials) (entry, error) {
	b, err := json.Marshal(c)
	if err != nil {
		return entry{}, err
	}
	if s.mode == File {
		s.setWhere(inPlain)
		return entry{Key: c.Key, Plain: b}, nil
	}
	key, err := s.keychain.key(ctx)
	if err == nil && key == nil {
		key, err = s.newKey(ctx)
	}
	switch {
	case err == nil:
		s.setWhere(sealedWith)
		return entry{Key: c.Key, KeyID: keyID(key), Sealed: seal(key, c.Key, b)}, nil
	case s.mode == Keychain || ctx.Err() != nil:
		return entry{}, err
	}
	s.setWhere(inPlain + ": " + err.Error())
	return entry{Key: c.Key, Plain: b}, nil
}

// newKey makes the key, unless another process was faster.
func (s *store) newKey(ctx context.Context) (key []byte, err error) {
	unlock, err := s.lock(ctx)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, unlock()) }()
	return s.keychain.create(ctx)
}
