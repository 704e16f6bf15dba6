package credstore

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/zalando/go-keyring"

	"github.com/mcphud/mcphud/session/auth"
	"github.com/mcphud/mcphud/session/test/leaktest"
	"github.com/mcphud/mcphud/session/test/require"
	"github.com/mcphud/mcphud/session/test/require/assert"
)

// asWriter makes the test binary a process that puts credentials into the folder that it names.
const asWriter = "MCPHUD_TEST_CREDSTORE"

func TestMain(m *testing.M) {
	if dir := os.Getenv(asWriter); dir != "" {
		s := Open(File, dir)
		for i := range 20 {
			if err := s.Put(context.Background(), login(fmt.Sprintf("https://%s-%d", os.Args[1], i), "https://issuer", "token")); err != nil {
				fmt.Fprintln(os.Stderr, err)
				os.Exit(1)
			}
		}
		os.Exit(0)
	}
	for _, name := range []string{"DBUS_SESSION_BUS_ADDRESS"} {
		_ = os.Unsetenv(name) // no test asks the keychain of whoever runs it
	}
	leaktest.Main(m)
}

func login(resource, issuer, token string) auth.Credentials {
	return auth.Credentials{
		Key: auth.Key{Resource: resource, Issuer: issuer}, Client: auth.Client{ID: "me", Secret: "s3cret-of-client"},
		Token: auth.Token{Access: token, Refresh: "refresh-" + token, Type: "Bearer", Obtained: time.Unix(1_800_000_000, 0).UTC()},
	}
}

// withKeychain is a store on the library's keychain in memory.
func withKeychain(t *testing.T, mode, dir string) *store {
	s := Open(mode, dir).(*store)
	s.keychain.always = true
	return s
}

func find(t *testing.T, s auth.Store, resource string) []auth.Credentials {
	t.Helper()
	found, err := s.Find(t.Context(), resource)
	require.NoError(t, err)
	return found
}

func put(t *testing.T, s auth.Store, all ...auth.Credentials) {
	t.Helper()
	for _, c := range all {
		require.NoError(t, s.Put(t.Context(), c))
	}
}

func content(t *testing.T, dir string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(dir, name))
	require.NoError(t, err)
	return string(b)
}

// What was put is found by a later program: by resource, the newest first, one per issuer.
func TestStore(t *testing.T) {
	keyring.MockInit()
	for _, mode := range Modes() {
		t.Run(mode, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "not", "there")
			var s, later auth.Store
			if s = Open(mode, dir); mode == Memory {
				later = s
			} else {
				s, later = withKeychain(t, mode, dir), withKeychain(t, mode, dir)
			}
			if got := find(t, s, ""); got != nil {
				t.Fatalf("found %v in nothing", got)
			}
			if err := s.Delete(t.Context(), auth.Key{Resource: "a", Issuer: "b"}); err != nil {
				t.Errorf("deleting nothing: %v", err)
			}
			if _, err := os.Stat(dir); err == nil {
				t.Errorf("looking made the folder")
			}
			long := strings.Repeat("a token that no keychain takes ", 2000)
			put(t, s, login("https://a", "https://one", "old"), login("https://a", "https://two", long), login("https://b", "https://one", "b"), login("https://a", "https://one", "new"))
			got := find(t, later, "https://a")
			if len(got) != 2 || got[0].Token.Access != "new" || got[1].Token.Access != long || got[0].Client.Secret != "s3cret-of-client" || !got[0].Token.Obtained.Equal(time.Unix(1_800_000_000, 0)) {
				t.Errorf("found %+.200v", got)
			}
			require.NoError(t, later.Delete(t.Context(), got[0].Key))
			if got := find(t, s, ""); len(got) != 2 || got[0].Resource != "https://b" {
				t.Errorf("after a deletion: %+.200v", got)
			}
		})
	}
	assert.Contains(t, Open(Auto, "").Where(), "memory")
}

// The file is of its owner alone, and with a keychain it holds no secret; where says which.
func TestFile(t *testing.T) {
	keyring.MockInit()
	for mode, want := range map[string]struct {
		where string
		plain bool
	}{Auto: {"encrypted with a key in the keychain", false}, Keychain: {"encrypted with a key in the keychain", false}, File: {"not encrypted", true}} {
		dir := filepath.Join(t.TempDir(), "mcphud")
		s := withKeychain(t, mode, dir)
		put(t, s, login("https://a", "https://one", "a-token-of-a"))
		if got := content(t, dir); strings.Contains(got, "a-token-of-a") != want.plain || strings.Contains(got, "s3cret") != want.plain || !strings.Contains(got, "https://one") {
			t.Errorf("%s: the file is %s", mode, got)
		}
		if got := s.Where(); !strings.Contains(got, want.where) || !strings.HasPrefix(got, filepath.Join(dir, name)) {
			t.Errorf("%s: kept in %s", mode, got)
		}
		if runtime.GOOS == "windows" {
			continue
		}
		for path, perm := range map[string]os.FileMode{dir: 0o700, filepath.Join(dir, name): 0o600, filepath.Join(dir, name+".lock"): 0o600} {
			if info, err := os.Stat(path); err != nil || info.Mode().Perm() != perm {
				t.Errorf("%s: %v, %v", path, info.Mode(), err)
			}
		}
	}
}

// An entry is worth nothing under another key, with another key of the keychain, or to who must not use the keychain.
func TestSealed(t *testing.T) {
	keyring.MockInit()
	dir := t.TempDir()
	put(t, withKeychain(t, Auto, dir), login("https://a", "https://one", "a-token-of-a"))
	path := filepath.Join(dir, name)
	whole := content(t, dir)
	broken := func(what string, s *store, want string, locked bool) {
		t.Helper()
		got, err := s.Find(t.Context(), "")
		if err == nil || !strings.Contains(err.Error(), want) || errors.Is(err, auth.ErrLocked) != locked {
			t.Errorf("%s: %v", what, err)
		}
		if len(got) != 1 || got[0].Token.Access != "" {
			t.Errorf("%s: found %+v", what, got)
		}
	}
	broken("file only", withKeychain(t, File, dir), "not used by this setting", true)
	require.NoError(t, os.WriteFile(path, []byte(strings.Replace(whole, "https://a", "https://b", 1)), 0o600))
	broken("another resource", withKeychain(t, Auto, dir), "is damaged", false)
	require.NoError(t, os.WriteFile(path, []byte(whole), 0o600))
	keyring.MockInit() // all forgotten
	s := withKeychain(t, Auto, dir)
	broken("no key", s, "not in the keychain any more", false)
	put(t, s, login("https://b", "https://one", "a-token-of-b"))
	if got, err := s.Find(t.Context(), "https://b"); err != nil || len(got) != 1 || got[0].Token.Access != "a-token-of-b" {
		t.Errorf("after a login with a new key: %v, %v", got, err)
	}
	assert.Contains(t, content(t, dir), "https://a")
	if err := s.Delete(t.Context(), auth.Key{Resource: "https://a", Issuer: "https://one"}); err != nil || len(find(t, s, "")) != 1 {
		t.Errorf("what cannot be read cannot be deleted: %v", err)
	}
}

// Without a keychain that answers there is the file, which says so; where only the keychain will do there is an error.
func TestNoKeychain(t *testing.T) {
	keyring.MockInitWithError(errors.New("collection is locked"))
	t.Cleanup(keyring.MockInit)
	dir := t.TempDir()
	if err := withKeychain(t, Keychain, dir).Put(t.Context(), login("https://a", "https://one", "t")); !errors.Is(err, auth.ErrLocked) || !strings.Contains(err.Error(), "collection is locked") {
		t.Errorf("the keychain only: %v", err)
	}
	if got := find(t, Open(Auto, dir), ""); got != nil {
		t.Errorf("the refused login was kept: %v", got)
	}
	s := withKeychain(t, Auto, dir)
	put(t, s, login("https://a", "https://one", "t"))
	assert.Contains(t, s.Where(), "not encrypted", "collection is locked")
	if got := find(t, withKeychain(t, Keychain, dir), "https://a"); len(got) != 1 {
		t.Errorf("what is in plain text needs no keychain: %v", got)
	}
}

// Nothing starts a message bus to look for a keychain, and the keychain is not asked where nothing is encrypted.
func TestAbsent(t *testing.T) {
	if keychainError() == nil {
		t.Skip("there may be a real keychain here")
	}
	keyring.MockInitWithError(errors.New("must not be asked"))
	t.Cleanup(keyring.MockInit)
	s := Open(Auto, t.TempDir())
	put(t, s, login("https://a", "https://one", "t"))
	assert.Contains(t, s.Where(), "no D-Bus session runs here")
	asked := withKeychain(t, Auto, t.TempDir())
	put(t, Open(File, filepath.Dir(asked.path)), login("https://a", "https://one", "t"))
	if find(t, asked, "https://b"); asked.keychain.asking != nil {
		t.Errorf("the keychain was asked about a login that is not there")
	}
}

// A keychain that waits for its user holds up nothing for long, and its answer is good when it comes.
func TestLateKeychain(t *testing.T) {
	keyring.MockInit()
	dir := t.TempDir()
	put(t, withKeychain(t, Auto, dir), login("https://a", "https://one", "t"))
	s := withKeychain(t, Auto, dir)
	s.keychain.patience = time.Millisecond
	answer := make(chan struct{})
	get := s.keychain.get
	s.keychain.mu.Lock()
	q := s.keychain.ask(func() ([]byte, error) { <-answer; return get() })
	s.keychain.mu.Unlock()
	for range 2 {
		if _, err := s.Find(t.Context(), "https://a"); !errors.Is(err, auth.ErrLocked) || !strings.Contains(err.Error(), "did not answer") {
			t.Errorf("while it waits: %v", err)
		}
	}
	put(t, s, login("https://b", "https://one", "t"))
	assert.Contains(t, s.Where(), "not encrypted: the keychain cannot be used")
	close(answer)
	<-q.done
	if got := find(t, s, "https://a"); len(got) != 1 || got[0].Token.Access != "t" {
		t.Errorf("after its answer: %v", got)
	}
}

// The same with a message bus that takes the connection and says nothing.
func TestSilentBus(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("the keychain is behind a message bus on Linux")
	}
	l, err := net.Listen("unix", filepath.Join(t.TempDir(), "bus"))
	require.NoError(t, err)
	said := make(chan struct{})
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		c, err := l.Accept()
		if err != nil {
			t.Error(err)
			return
		}
		_, _ = bufio.NewReader(c).ReadByte()
		close(said)
		<-t.Context().Done()
		_ = c.Close()
	}()
	cmd := exec.Command(os.Args[0], "-test.run=^TestSilentBusChild$", "-test.v")
	cmd.Env = append(os.Environ(), "MCPHUD_TEST_BUS=unix:path="+l.Addr().String(), "MCPHUD_TEST_DIR="+t.TempDir())
	out, err := cmd.CombinedOutput()
	if err != nil || !strings.Contains(string(out), "did not answer within") {
		t.Errorf("%v: %s", err, out)
	}
	<-said // the library really asked
	t.Cleanup(func() { _ = l.Close(); <-ended })
}

// TestSilentBusChild is the other process of TestSilentBus: the library's goroutine waits for ever.
func TestSilentBusChild(t *testing.T) {
	bus := os.Getenv("MCPHUD_TEST_BUS")
	if bus == "" {
		t.Skip("run by TestSilentBus")
	}
	t.Setenv("DBUS_SESSION_BUS_ADDRESS", bus)
	s := Open(Auto, os.Getenv("MCPHUD_TEST_DIR")).(*store)
	s.keychain.patience = 200 * time.Millisecond
	put(t, s, login("https://a", "https://one", "t"))
	fmt.Println(s.Where())
	os.Exit(0) // with that goroutine
}

// A file that is damaged, open to others or of a later version is an error, and stays as it is.
func TestBadFile(t *testing.T) {
	for what, c := range map[string]struct {
		text string
		mode os.FileMode
		want string
	}{
		"half written": {`{"version":1,"credentials":[{"resource":"https://a"`, 0o600, "is damaged"},
		"empty":        {"", 0o600, "is damaged"},
		"version":      {`{"version":2,"credentials":[]}`, 0o600, "has version 2"},
		"open":         {`{"version":1,"credentials":[]}`, 0o644, "is open to other users (mode 0644)"},
		"under others": {`{"version":1,"credentials":[{"resource":"https://a","issuer":"https://one","plain":{"resource":"https://b","issuer":"https://one"}}]}`, 0o600, "under the key of another"},
	} {
		if what == "open" && runtime.GOOS == "windows" {
			continue
		}
		dir := t.TempDir()
		path := filepath.Join(dir, name)
		require.NoError(t, os.WriteFile(path, []byte(c.text), c.mode))
		s := Open(File, dir)
		if _, err := s.Find(t.Context(), ""); err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), path) {
			t.Errorf("%s: Find: %v", what, err)
		}
		if what == "under others" {
			continue
		}
		if err := s.Put(t.Context(), login("https://a", "https://one", "t")); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: Put: %v", what, err)
		}
		if got := content(t, dir); got != c.text {
			t.Errorf("%s: it became %s", what, got)
		}
	}
}

// Processes that write at once lose nothing of each other.
func TestProcesses(t *testing.T) {
	dir := t.TempDir()
	var all []*exec.Cmd
	for i := range 4 {
		cmd := exec.Command(os.Args[0], fmt.Sprint(i))
		cmd.Env = append(os.Environ(), asWriter+"="+dir)
		cmd.Stderr = os.Stderr
		require.NoError(t, cmd.Start())
		all = append(all, cmd)
	}
	for _, cmd := range all {
		assert.NoError(t, cmd.Wait())
	}
	if got := find(t, Open(File, dir), ""); len(got) != 80 {
		t.Errorf("%d of 80 were kept", len(got))
	}
}

// A kill at any moment leaves the file whole, with all that was in it before.
func TestKilledWhileItWrites(t *testing.T) {
	dir, kills, before := t.TempDir(), 0, 0
	for i := range 30 {
		cmd := exec.Command(os.Args[0], fmt.Sprint("p", i))
		cmd.Env = append(os.Environ(), asWriter+"="+dir)
		require.NoError(t, cmd.Start())
		late := time.AfterFunc(time.Duration(i)*2*time.Millisecond, func() { _ = cmd.Process.Kill() })
		if err := cmd.Wait(); err != nil {
			kills++
		}
		late.Stop()
		now := len(find(t, Open(File, dir), "")) // which fails where the file is damaged
		if now < before {
			t.Fatalf("round %d: %d credentials are left of %d", i, now, before)
		}
		before = now
	}
	if kills < 5 {
		t.Errorf("only %d were killed", kills)
	}
}

// Who renews a token keeps other processes from renewing the same one, and from nothing else.
func TestLockKeepsOthersOut(t *testing.T) {
	dir, key := t.TempDir(), auth.Key{Resource: "https://mcp.example.com/mcp", Issuer: "https://login.example.com"}
	a, b := Open(File, dir).(auth.Locker), Open(File, dir).(auth.Locker)
	unlock, err := a.Lock(t.Context(), key)
	require.NoError(t, err)
	assert.NoError(t, b.(auth.Store).Put(t.Context(), auth.Credentials{Key: key}))
	other, err := b.Lock(t.Context(), auth.Key{Resource: key.Resource, Issuer: "https://other.example.com"})
	require.NoError(t, err)
	other()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	if _, err := b.Lock(ctx, key); err == nil {
		t.Error("two have the lock")
	}
	unlock()
	unlock, err = b.Lock(t.Context(), key)
	require.NoError(t, err)
	unlock()
}
