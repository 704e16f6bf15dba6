package sessions

import (
	"bytes"
	"crypto/aes"
	"crypto/cipher"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/mcphud/mcphud/session/base/files"
)

// prefix marks sealed ids, and their format.
const prefix = "mcphud1."

// minKey is the shortest secret that is taken for a key.
const minKey = 32

// Sealer makes ids that carry what they stand for, encrypted and authenticated with AES-256-GCM, and with the time at which
// they expire. It keeps nothing: routers with the same key are interchangeable.
type Sealer struct {
	keys []cipher.AEAD // the first seals, all open
	ttl  time.Duration
}

// NewSealer makes a sealer of secrets; the first seals, and the others still open what they sealed, so that keys can be
// changed. Ids last for ttl, default 24 h, whether they are used or not.
func NewSealer(ttl time.Duration, secrets ...[]byte) (*Sealer, error) {
	if ttl <= 0 {
		ttl = 24 * time.Hour
	}
	if len(secrets) == 0 {
		return nil, errors.New("no key")
	}
	s := &Sealer{ttl: ttl}
	for i, secret := range secrets {
		if len(secret) < minKey {
			return nil, fmt.Errorf("key %d has %d bytes; at least %d are required, such as `openssl rand -hex 32` prints", i+1, len(secret), minKey)
		}
		key := sha256.Sum256(append([]byte("mcphud session key\x00"), secret...))
		block, err := aes.NewCipher(key[:])
		if err != nil {
			return nil, err
		}
		gcm, err := cipher.NewGCMWithRandomNonce(block)
		if err != nil {
			return nil, err
		}
		s.keys = append(s.keys, gcm)
	}
	return s, nil
}

// LoadSealer reads secrets from a file, one a line, for NewSealer. shared reports that other users can read the file,
// which they should not.
func LoadSealer(path string, ttl time.Duration) (s *Sealer, shared bool, err error) {
	text, err := files.Read(path, 64<<10)
	if err != nil {
		return nil, false, fmt.Errorf("session keys: %w; write one key a line to a file", err)
	}
	var secrets [][]byte
	for line := range bytes.Lines(text) {
		if line = bytes.TrimSpace(line); len(line) > 0 {
			secrets = append(secrets, line)
		}
	}
	if s, err = NewSealer(ttl, secrets...); err != nil {
		return nil, false, fmt.Errorf("session keys: %s: %w", path, err)
	}
	return s, files.StampOf(path).Mode().Perm()&0o077 != 0, nil
}

// Sealed reports whether an id has the form of one that a Sealer made.
func Sealed(id string) bool { return strings.HasPrefix(id, prefix) }

// Mint makes an id of a binding.
func (s *Sealer) Mint(p Binding) (string, error) {
	if err := Check(p.Upstream); err != nil {
		return "", err
	}
	plain := binary.BigEndian.AppendUint64(nil, uint64(time.Now().Add(s.ttl).Unix()))
	for _, f := range []string{p.Agent, p.Principal, p.Endpoint, p.Upstream, p.Version} {
		plain = append(binary.AppendUvarint(plain, uint64(len(f))), f...)
	}
	return prefix + base64.RawURLEncoding.EncodeToString(s.keys[0].Seal(nil, nil, plain, []byte(prefix))), nil
}

// Use opens an id of that agent and caller.
func (s *Sealer) Use(id, agent, principal string) (*Session, error) {
	text, ok := strings.CutPrefix(id, prefix)
	if !ok {
		return nil, ErrUnknown
	}
	sealed, err := base64.RawURLEncoding.Strict().DecodeString(text)
	if err != nil {
		return nil, ErrUnknown
	}
	for _, key := range s.keys {
		plain, err := key.Open(nil, nil, sealed, []byte(prefix))
		if err != nil {
			continue
		}
		p, ok := open(plain, time.Now())
		if !ok {
			return nil, ErrUnknown
		}
		if err := p.check(agent, principal); err != nil {
			return nil, err
		}
		return &Session{Binding: p, ID: id, Short: Short(id)}, nil
	}
	return nil, ErrUnknown
}

// open reads what Mint wrote; false after its time, or if it is of another make.
func open(plain []byte, now time.Time) (p Binding, ok bool) {
	if len(plain) < 8 || now.Unix() >= int64(binary.BigEndian.Uint64(plain)) {
		return p, false
	}
	plain = plain[8:]
	for _, f := range []*string{&p.Agent, &p.Principal, &p.Endpoint, &p.Upstream, &p.Version} {
		n, size := binary.Uvarint(plain)
		if size <= 0 || n > uint64(len(plain)-size) {
			return p, false
		}
		*f, plain = string(plain[size:size+int(n)]), plain[size+int(n):]
	}
	return p, len(plain) == 0
}
