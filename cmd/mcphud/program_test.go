package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// programEnv names the program that tests start, where it is not the test binary that runs them: one that was built with the race
// detector, so that the tests themselves need not be.
const programEnv = "MCPHUD_TEST_PROGRAM"

// raceExit is what a program with the race detector exits with once it has seen a data race.
const raceExit = 66

// raced begins the report of a data race.
const raced = "WARNING: DATA RACE"

// ownProgram is the path of the program that tests start. With [asMain] in its environment it is mcphud.
func ownProgram(t testing.TB) string {
	t.Helper()
	if path := os.Getenv(programEnv); path != "" {
		return path
	}
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return exe
}

// raceOptions has whatever is started below this process write its data races to files in home, at which [racesIn] looks: a
// test that ends a program by a signal does not see how it would have exited. Nor does it wait for a second at its exit, as it
// would by default.
func raceOptions(home string) string {
	return fmt.Sprintf("atexit_sleep_ms=0 exitcode=%d log_path=%s", raceExit, filepath.Join(home, "race"))
}

// racesIn returns all reports of data races that programs wrote to files in home.
func racesIn(home string) string {
	files, _ := filepath.Glob(filepath.Join(home, "race.*"))
	var all strings.Builder
	for _, file := range files {
		b, err := os.ReadFile(file)
		fmt.Fprintf(&all, "%s", b)
		if err != nil {
			fmt.Fprintln(&all, raced, err)
		}
	}
	return all.String()
}

// unraced fails the test if a program that got none of [raceOptions], since its environment is not ours, saw a data race.
func (o outcome) unraced(t testing.TB) outcome {
	t.Helper()
	if o.code == raceExit || strings.Contains(o.stderr, raced) {
		t.Errorf("a data race: exit %d\n%s", o.code, o.stderr)
	}
	return o
}

// What finds data races of programs finds one, whatever ends them.
func TestDataRacesOfProgramsAreSeen(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	if got := racesIn(home); got != "" {
		t.Errorf("out of nothing: %s", got)
	}
	if err := os.WriteFile(filepath.Join(home, "race.123"), []byte("==\n"+raced+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := racesIn(home); !strings.Contains(got, raced) {
		t.Errorf("%q", got)
	}
	if !strings.Contains(os.Getenv("GORACE"), "log_path=") || !strings.Contains(strings.Join(command(t).Env, "\n"), "\nGORACE="+os.Getenv("GORACE")) {
		t.Errorf("programs do not get where to write them: %s", os.Getenv("GORACE"))
	}
	for _, o := range []outcome{{code: raceExit}, {stderr: "==\n" + raced}, {}} {
		var f failing
		if o.unraced(&f); f.failed != (o != outcome{}) {
			t.Errorf("%+v: %v", o, f.failed)
		}
	}
}

// failing is a test whose verdict is only looked at.
type failing struct {
	testing.TB
	failed bool
}

func (*failing) Helper()                 {}
func (f *failing) Errorf(string, ...any) { f.failed = true }
