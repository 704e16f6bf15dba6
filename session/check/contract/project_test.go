package contract_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/mcphud/mcphud/session/check"
	"github.com/mcphud/mcphud/session/check/contract"
	"github.com/mcphud/mcphud/session/test/require"
)

// Of a change that somebody else saw first, because the file was read, whoever follows is told too.
func TestFollowAfterRead(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), contract.FileName)
	var p *contract.Project
	reads := false
	p = contract.NewProject(func() string {
		if reads { // between two looks of Follow
			reads = false
			if _, err := p.Read(); err != nil {
				t.Error(err)
			}
		}
		return file
	})
	other := contract.NewProject(func() string { return file })
	if _, err := other.Accept(&check.Offer{Server: "one"}); err != nil {
		t.Fatal(err)
	}
	reads = true
	ctx, end := context.WithTimeout(t.Context(), time.Minute) // of a failure alone
	calls := 0
	p.Follow(ctx, func() { calls++; end() })
	if _, there, _ := p.State(); !there || calls != 1 {
		t.Errorf("there %v, called %d times", there, calls)
	}
}

// A lock that another program makes, changes, breaks and removes is noticed, by whoever reads it and by whoever only asks for its state.
func TestProjectFollowsItsFile(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), contract.FileName)
	p := contract.NewProject(func() string { return file })
	ctx, end := context.WithCancel(t.Context())
	changed, over := make(chan struct{}, 100), make(chan struct{})
	go func() {
		defer close(over)
		p.Follow(ctx, func() { changed <- struct{}{} })
	}()
	defer func() { end(); <-over }()
	if at, there, _ := p.State(); at != file || there {
		t.Errorf("%s %v", at, there)
	}
	if l, err := p.Read(); l != nil || err != nil {
		t.Errorf("%+v %v", l, err)
	}
	until := func(what string, ok func() bool) {
		t.Helper()
		limit := time.After(30 * time.Second)
		for !ok() {
			select {
			case <-changed:
			case <-limit:
				t.Fatal("never noticed: " + what)
			}
		}
	}
	there := func() bool { _, there, _ := p.State(); return there }
	other := contract.NewProject(func() string { return file })
	for _, server := range []string{"one", "two"} {
		taken, err := other.Accept(&check.Offer{Server: server})
		if err != nil || len(taken) != 1 || !strings.Contains(taken[0], "made the contract of "+server) {
			t.Fatalf("%v %q", err, taken)
		}
		until("a new lock", there)
		if l, err := p.Read(); err != nil || l.Servers[server] == nil {
			t.Errorf("%+v %v", l, err)
		}
	}
	require.NoError(t, os.WriteFile(file, []byte("{\n  \"version\": 2,\n  \"servers\": {}\n}\n"), 0o600))
	if _, err := p.Read(); err == nil || !strings.Contains(err.Error(), ":2:3: version is 2") {
		t.Error(err)
	}
	if _, err := p.Accept(&check.Offer{Server: "three"}); err == nil {
		t.Error("a lock of another version was written over")
	}
	require.NoError(t, os.Remove(file))
	until("that it went", func() bool { return !there() })
	if l, err := p.Read(); l != nil || err != nil {
		t.Errorf("%+v %v", l, err)
	}
}
