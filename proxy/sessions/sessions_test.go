package sessions

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcphud/mcphud/session/test/leaktest"
	"github.com/mcphud/mcphud/session/test/require"
	"github.com/mcphud/mcphud/session/test/require/assert"
)

func TestMain(m *testing.M) { leaktest.Main(m) }

var ann = Binding{Agent: "a", Principal: "ann", Endpoint: "http://x/mcp", Upstream: "up", Version: "2025-06-18"}

func TestR10_AnIDIsGoodForItsAgentAndCaller(t *testing.T) {
	s := NewTable(Limits{})
	defer s.Close()
	id, err := s.Mint(ann)
	if err != nil || !regexp.MustCompile(`^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$`).MatchString(id) {
		t.Fatal(id, err)
	}
	got, err := s.Use(id, "a", "ann")
	if err != nil || got.Binding != ann {
		t.Fatalf("%+v, %v", got, err)
	}
	for _, c := range [][2]string{{"a", "bob"}, {"b", "ann"}, {"a", ""}} {
		if _, err := s.Use(id, c[0], c[1]); !errors.Is(err, ErrForeign) {
			t.Errorf("%v: %v", c, err)
		}
	}
	got.Forget()
	got.Release()
	if _, err := s.Use(id, "a", "ann"); !errors.Is(err, ErrUnknown) {
		t.Error(err)
	}
	for _, bad := range []string{strings.Repeat("x", 2000), "a\rX-Evil: 1", "a b", "\x00"} {
		if _, err := s.Mint(Binding{Upstream: bad}); !errors.Is(err, ErrNoID) {
			t.Errorf("%q: %v", bad[:1], err)
		}
	}
}

func TestIdleSessionsExpireAndUsedOnesDoNot(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		var ended []string
		s := NewTable(Limits{TTL: time.Minute, Ended: func(p Binding) {
			mu.Lock()
			defer mu.Unlock()
			ended = append(ended, p.Upstream)
		}})
		defer s.Close()
		mint := func(up string) string {
			id, err := s.Mint(Binding{Upstream: up})
			require.NoError(t, err)
			return id
		}
		mint("idle")
		touched, busy := mint("touched"), mint("busy")
		held, err := s.Use(busy, "", "")
		require.NoError(t, err)
		time.Sleep(59 * time.Second)
		v, err := s.Use(touched, "", "")
		require.NoError(t, err)
		v.Release()
		time.Sleep(59 * time.Second)
		synctest.Wait()
		if strings.Join(ended, " ") != "idle" || s.Len() != 2 {
			t.Errorf("ended %q", ended)
		}
		time.Sleep(10 * time.Minute)
		synctest.Wait()
		if strings.Join(ended, " ") != "idle touched" || s.Len() != 1 {
			t.Errorf("ended %q", ended)
		}
		held.Release()
		time.Sleep(2 * time.Minute)
		synctest.Wait()
		assert.Equalf(t, s.Len(), 0, "it never ends")
	})
}

func TestAtTheLimitTheLongestIdleGivesWay(t *testing.T) {
	s := NewTable(Limits{Max: 2})
	defer s.Close()
	one, _ := s.Mint(Binding{}) // an error shows below
	two, _ := s.Mint(Binding{})
	held, err := s.Use(one, "", "")
	require.NoError(t, err)
	three, err := s.Mint(Binding{})
	require.NoError(t, err)
	if _, err := s.Use(two, "", ""); !errors.Is(err, ErrUnknown) {
		t.Error(err)
	}
	if _, err := s.Use(three, "", ""); err != nil {
		t.Error(err)
	}
	if _, err := s.Mint(Binding{}); !errors.Is(err, ErrFull) || s.Len() != 2 {
		t.Errorf("%v, %d sessions", err, s.Len())
	}
	held.Release()
}

var secret = bytes.Repeat([]byte("0123456789abcdef"), 2)

func TestSealedIDs(t *testing.T) {
	s, err := NewSealer(time.Hour, secret)
	require.NoError(t, err)
	id, err := s.Mint(ann)
	if err != nil || !Sealed(id) || strings.Contains(id, "ann") || !regexp.MustCompile(`^[!-~]+$`).MatchString(id) {
		t.Fatal(id, err)
	}
	other, err := NewSealer(time.Hour, []byte("another secret of sufficient length!"), secret)
	require.NoError(t, err)
	for _, by := range []*Sealer{s, other} { // other only opens with it
		if got, err := by.Use(id, "a", "ann"); err != nil || got.Binding != ann {
			t.Errorf("%+v, %v", got, err)
		}
		if _, err := by.Use(id, "a", "bob"); !errors.Is(err, ErrForeign) {
			t.Error(err)
		}
		if _, err := by.Use(id, "b", "ann"); !errors.Is(err, ErrForeign) {
			t.Error(err)
		}
	}
	if again, _ := s.Mint(ann); again == id {
		t.Error("two ids are the same")
	}
	newer, err := other.Mint(ann)
	require.NoError(t, err)
	if _, err := s.Use(newer, "a", "ann"); !errors.Is(err, ErrUnknown) {
		t.Error(err)
	}
	for i := len(prefix); i < len(id); i++ {
		b := []byte(id)
		b[i] ^= 1
		if _, err := s.Use(string(b), "a", "ann"); !errors.Is(err, ErrUnknown) {
			t.Errorf("changed at %d: %v", i, err)
		}
	}
	for _, bad := range []string{"", prefix, prefix + "AA", id + "=", id + "A", id[:len(id)-4], strings.TrimPrefix(id, prefix)} {
		if _, err := s.Use(bad, "a", "ann"); !errors.Is(err, ErrUnknown) {
			t.Errorf("%q: %v", bad, err)
		}
	}
}

func TestSealedIDsExpire(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, err := NewSealer(time.Hour, secret)
		require.NoError(t, err)
		id, err := s.Mint(ann)
		require.NoError(t, err)
		time.Sleep(59 * time.Minute)
		if _, err := s.Use(id, "a", "ann"); err != nil {
			t.Error(err)
		}
		time.Sleep(2 * time.Minute)
		if _, err := s.Use(id, "a", "ann"); !errors.Is(err, ErrUnknown) {
			t.Error(err)
		}
	})
}

func TestKeysComeFromAFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "keys")
	for text, want := range map[string]string{"": "no key", "short\n": "at least 32", string(secret) + "\n\n" + string(secret) + "\n": ""} {
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
		s, shared, err := LoadSealer(path, 0)
		if want == "" && (err != nil || len(s.keys) != 2 || shared) || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%q: %v", text, err)
		}
		if err != nil && strings.Contains(err.Error(), "short\n") {
			t.Errorf("the error holds the key: %v", err)
		}
	}
	require.NoError(t, os.Chmod(path, 0o644))
	if _, shared, err := LoadSealer(path, 0); err == nil && !shared {
		t.Error("nobody says that others can read the keys")
	}
}

func FuzzSealed(f *testing.F) {
	s, err := NewSealer(time.Hour, secret)
	require.NoError(f, err)
	id, err := s.Mint(ann)
	require.NoError(f, err)
	f.Add(id)
	f.Add(prefix)
	f.Fuzz(func(t *testing.T, text string) {
		if got, err := s.Use(text, "a", "ann"); err == nil && got.Binding != ann {
			t.Errorf("%q stands for %+v", text, got)
		}
	})
}

func TestR10_NobodyThrowsOutTheSessionsOfOthers(t *testing.T) {
	var gone []string
	s := NewTable(Limits{Max: 10, Ended: func(p Binding) { gone = append(gone, p.Principal+p.Upstream) }})
	defer s.Close()
	mint := func(who, up string) string {
		t.Helper()
		id, err := s.Mint(Binding{Agent: "a", Principal: who, Upstream: up})
		require.NoError(t, err)
		return id
	}
	ann := mint("ann", "1")
	for i := range 100 {
		mint("bob", strconv.Itoa(i))
	}
	if v, err := s.Use(ann, "a", "ann"); err != nil {
		t.Errorf("ann's only session is gone: %v", err)
	} else {
		v.Release()
	}
	if len(gone) != 91 || gone[0] != "bob0" || gone[90] != "bob90" {
		t.Errorf("%d gone: %v", len(gone), gone)
	}
	// Ann gets as many as bob has, and no more than that at his cost.
	gone = nil
	for i := range 20 {
		mint("ann", strconv.Itoa(i+2))
	}
	if n := slices.IndexFunc(gone, func(w string) bool { return strings.HasPrefix(w, "ann") }); n != 4 || s.Len() != 10 {
		t.Errorf("%d sessions; gone, in this order: %v", s.Len(), gone)
	}
	// What is in use gives way to nobody.
	full := NewTable(Limits{Max: 1})
	defer full.Close()
	id, _ := full.Mint(Binding{Agent: "a"})
	if _, err := full.Use(id, "a", ""); err != nil {
		t.Fatal(err)
	}
	if _, err := full.Mint(Binding{Agent: "a"}); !errors.Is(err, ErrFull) {
		t.Error(err)
	}
}
