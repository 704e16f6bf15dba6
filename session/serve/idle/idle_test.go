package idle

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcphud/mcphud/session/test/leaktest"
	"github.com/mcphud/mcphud/session/test/require"
)

func TestMain(m *testing.M) { leaktest.Main(m) }

// rig is a table of values such as "ann.1": the owner, and a number.
func rig(o Options[string]) (t *Table[string], ended *[]string) {
	ended = new([]string)
	o.Ended = func(v string) { *ended = append(*ended, v) }
	o.Owner = func(v string) string { owner, _, _ := strings.Cut(v, "."); return owner }
	return New(o), ended
}

func TestUnusedValuesEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		table, ended := rig(Options[string]{TTL: time.Minute, Busy: func(v string) bool { return v == "busy" }})
		for _, v := range []string{"idle", "used", "held", "busy"} {
			e, err := table.Add(v, v)
			require.NoError(t, err)
			if v != "held" {
				e.Release()
			}
		}
		time.Sleep(59 * time.Second)
		table.Use("used").Release()
		time.Sleep(2 * time.Second)
		synctest.Wait()
		if !slices.Equal(*ended, []string{"idle"}) || table.Use("idle") != nil {
			t.Errorf("ended: %q", *ended)
		}
		time.Sleep(10 * time.Minute)
		synctest.Wait()
		if !slices.Equal(*ended, []string{"idle", "used"}) || table.Len() != 2 {
			t.Errorf("ended: %q of %d", *ended, table.Len())
		}
		if left := table.Close(); len(left) != 2 {
			t.Errorf("left: %q", left)
		}
		if _, err := table.Add("x", "x"); !errors.Is(err, ErrClosed) {
			t.Error(err)
		}
	})
}

func TestLimits(t *testing.T) {
	table, ended := rig(Options[string]{TTL: time.Hour, Max: 4, MaxOwned: 3})
	defer table.Close()
	add := func(v string) error {
		e, err := table.Add(v, v)
		if err == nil {
			e.Release()
		}
		return err
	}
	for _, v := range []string{"ann.1", "bob.1", "bob.2", "bob.3", "bob.4", "cid.1"} {
		if err := add(v); err != nil {
			t.Fatal(v, err)
		}
	}
	if !slices.Equal(*ended, []string{"bob.1", "bob.2"}) { // its owner had too many; then its owner had the most
		t.Errorf("ended: %q", *ended)
	}
	held := table.UseIf("bob.3", func(v string) bool { return v == "bob.3" })
	if held == nil || table.UseIf("bob.4", func(string) bool { return false }) != nil {
		t.Fatal("UseIf does not go by its function")
	}
	for _, v := range []string{"bob.4", "cid.1"} {
		table.Use(v)
	}
	if err := add("bob.5"); !errors.Is(err, ErrFull) { // ann's does not give way to one of bob's
		t.Error(err)
	}
	if !held.Remove() || held.Remove() || table.Use("bob.3") != nil {
		t.Error("a removed value is there")
	}
	held.Release()
	if err := add("bob.5"); err != nil || len(*ended) != 2 {
		t.Error(err, *ended)
	}
	if all := table.All(); len(all) != 4 {
		t.Errorf("%q", all)
	}
}

func TestOnesOwnGiveWay(t *testing.T) {
	table, ended := rig(Options[string]{TTL: time.Hour, Max: 4})
	defer table.Close()
	for _, v := range []string{"ann.1", "bob.1", "bob.2", "bob.3"} {
		if _, err := table.Add(v, v); err != nil {
			t.Fatal(v, err)
		}
	}
	table.byID["ann.1"].Release()
	if _, err := table.Add("bob.4", "bob.4"); !errors.Is(err, ErrFull) { // ann has fewer
		t.Error(err)
	}
	if _, err := table.Add("ann.2", "ann.2"); err != nil || !slices.Equal(*ended, []string{"ann.1"}) {
		t.Errorf("%v; ended: %q", err, *ended) // who has the most has none idle
	}
}

func TestOneInUseDoesNotDelayOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		table, ended := rig(Options[string]{TTL: time.Minute})
		defer table.Close()
		for _, v := range []string{"used", "idle"} {
			if _, err := table.Add(v, v); err != nil {
				t.Fatal(v, err)
			}
		}
		time.Sleep(time.Second)
		table.byID["idle"].Release()
		time.Sleep(time.Minute + 4*time.Second)
		synctest.Wait()
		if !slices.Equal(*ended, []string{"idle"}) {
			t.Errorf("ended: %q", *ended)
		}
	})
}
