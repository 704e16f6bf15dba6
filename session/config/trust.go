package config

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"time"

	"github.com/mcphud/mcphud/session/base/confine"
	"github.com/mcphud/mcphud/session/base/files"
)

// Fingerprint is a hash of everything that decides what starting s would run or contact, as its file has it: variables
// are pinned by name, so that a renewed token needs no new trust.
func (s Server) Fingerprint() string {
	if s.written != "" {
		return s.written
	}
	return s.fingerprint()
}

// fingerprint is that of what s has now; presets are what its inputs are unless somebody says otherwise.
func (s Server) fingerprint(presets ...string) string {
	b, err := json.Marshal(struct { // maps are written with sorted keys
		Transport, Command string
		Args               []string
		Env                map[string]string
		Cwd, URL           string
		Headers            map[string]string
		Roots              []string
		OAuth              *OAuth
		HeadersHelper      []string `json:",omitempty"`

		CA, Proxy, ClientCert, ClientKey string `json:",omitempty"`
		Insecure, Launch                 bool   `json:",omitempty"`

		Presets []string       `json:",omitempty"`
		Sandbox *confine.Rules `json:",omitempty"`
	}{s.Transport, s.Command, norm(s.Args), normMap(s.Env), s.Cwd, s.URL, normMap(s.Headers), norm(s.Roots), s.OAuth, s.HeadersHelper, s.CA, s.Proxy, s.ClientCert, s.ClientKey, s.Insecure, s.Launch, presets, s.Sandbox})
	if err != nil { // strings only: cannot happen
		return ""
	}
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}

// norm is a list as it is hashed: an empty one says the same as none.
func norm(s []string) []string {
	if len(s) == 0 {
		return nil
	}
	return s
}

// normMap is norm for a map.
func normMap(m map[string]string) map[string]string {
	if len(m) == 0 {
		return nil
	}
	return m
}

// Trust remembers which entries that somebody else wrote the user allowed to start. Each permission is a file of its own (mode
// 0600), so that two mcphuds at once cannot lose one another's. Nothing is kept in memory: what another process allows counts at once.
type Trust struct{ dir string }

// OpenTrust keeps permissions below dir, a state folder; see Options.StateDir.
func OpenTrust(dir string) *Trust { return &Trust{dir: under(dir, "trust")} }

// permission is the content of one file; its name is what counts, the content is for the person who reads it.
type permission struct {
	Server      string    `json:"server"`
	File        string    `json:"file"`
	Fingerprint string    `json:"fingerprint"`
	At          time.Time `json:"at"`
}

// path pins the entry to its file as well: a relative command means something else in another folder.
func (t *Trust) path(s Server) string {
	sum := sha256.Sum256([]byte(s.Source.File + "\x00" + s.givenName() + "\x00" + s.Fingerprint()))
	return filepath.Join(t.dir, hex.EncodeToString(sum[:])+".json")
}

// Trusted reports whether s may be started: nobody else wrote it, or the user has trusted exactly this
// content. A permission that other users could have written counts for nothing. A nil Trust trusts nothing that needs it.
func (t *Trust) Trusted(s Server) bool {
	if !s.Source.NeedsTrust() {
		return true
	}
	if t == nil || t.dir == "" {
		return false
	}
	path := t.path(s)
	info, err := os.Lstat(path)
	if err != nil || !info.Mode().IsRegular() || runtime.GOOS != "windows" && info.Mode().Perm()&0o077 != 0 {
		return false
	}
	b, err := readFile(path, 64<<10)
	if err != nil {
		return false
	}
	var p permission
	return json.Unmarshal(b, &p) == nil && p.Fingerprint == s.Fingerprint()
}

// Trust allows s to be started from now on, until its entry changes.
func (t *Trust) Trust(s Server) error {
	if !s.Source.NeedsTrust() {
		return nil
	}
	if t.dir == "" {
		return errors.New("cannot remember trust: there is no home folder; set XDG_STATE_HOME")
	}
	fail := func(err error) error { return fmt.Errorf("cannot remember trust in %s: %w", t.dir, err) }
	if err := os.MkdirAll(t.dir, 0o700); err != nil {
		return fail(err)
	}
	b, err := json.MarshalIndent(permission{s.givenName(), s.Source.File, s.Fingerprint(), time.Now().UTC()}, "", "  ")
	if err != nil {
		return fail(err)
	}
	if err := files.Write(t.path(s), append(b, '\n')); err != nil {
		return fail(err)
	}
	return nil
}
