package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/mcphud/mcphud/session/test/budget"
	"github.com/mcphud/mcphud/session/test/require"
	"github.com/mcphud/mcphud/session/test/require/assert"
)

// programEnv names the program with the race detector, where the tests themselves have none: .ci/run builds both. It is what serves, and what
// draws; a command that ends by itself would start four times as slowly with it, and what it does at once is seen in the tests of its packages.
const programEnv = "MCPHUD_TEST_PROGRAM"

// serving are the verbs of programs that serve several at once until they are ended.
var serving = []string{"agent", "router", "up", "demo", "tap", "mock", "subscribe", "session"}

// raceExit is what a program with the race detector exits with once it has seen a data race.
const raceExit = 66

// raced begins the report of a data race.
const raced = "WARNING: DATA RACE"

// ownProgram is the path of the program that tests start to serve, or to draw. With [asMain] in its environment it is mcphud.
func ownProgram(t testing.TB) string {
	t.Helper()
	if path := os.Getenv(programEnv); path != "" {
		return path
	}
	return testProgram(t)
}

// testProgram is the program that tests start for a command that ends by itself.
func testProgram(t testing.TB) string {
	t.Helper()
	exe, err := os.Executable()
	require.NoError(t, err)
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
	assert.Equalf(t, racesIn(home), "", "out of nothing")
	require.NoError(t, os.WriteFile(filepath.Join(home, "race.123"), []byte("==\n"+raced+"\n"), 0o600))
	assert.Contains(t, racesIn(home), raced)
	if !strings.Contains(os.Getenv("GORACE"), "log_path=") || !strings.Contains(strings.Join(command(t).Env, "\n"), "\nGORACE="+os.Getenv("GORACE")) {
		t.Errorf("programs do not get where to write them: %s", os.Getenv("GORACE"))
	}
	for _, args := range [][]string{{"version"}, {"--journal", "x"}, {"router"}, {"agent", "--stdio"}} {
		want := testProgram(t)
		if slices.Contains(serving, args[0]) {
			want = ownProgram(t)
		}
		if got := command(t, args...).Path; got != want {
			t.Errorf("%q is run by %s, want %s", args, got, want)
		}
	}
	for _, o := range []outcome{{code: raceExit}, {stderr: "==\n" + raced}, {}} {
		var f failing
		if o.unraced(&f); f.failed != (o != outcome{}) {
			t.Errorf("%+v: %v", o, f.failed)
		}
	}
}

// The program that is started to serve reports a race that is planted in it, where it has the race detector.
func TestAPlantedRaceIsSeen(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	cmd := exec.Command(ownProgram(t))
	cmd.Env = append(os.Environ(), asMain+"="+plantedRace, "GORACE="+raceOptions(home))
	out, err := cmd.CombinedOutput()
	want := 0
	if os.Getenv(programEnv) != "" || budget.Race() {
		want = raceExit
	}
	if got := cmd.ProcessState.ExitCode(); got != want || strings.Contains(racesIn(home), raced) != (want != 0) {
		t.Errorf("exit %d, want %d: %v\n%s%s", got, want, err, out, racesIn(home))
	}
}

// plantedRace as the value of [asMain] has the program do nothing but race with itself.
const plantedRace = "race"

// race has two goroutines write to one variable with nothing between them.
func race() {
	var n int
	var both sync.WaitGroup
	for range 2 {
		both.Go(func() {
			for range 1000 {
				n++
			}
		})
	}
	both.Wait()
	fmt.Println(n)
}

// failing is a test whose verdict is only looked at.
type failing struct {
	testing.TB
	failed bool
}

func (*failing) Helper()                 {}
func (f *failing) Errorf(string, ...any) { f.failed = true }
