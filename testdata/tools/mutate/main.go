// Command mutate checks tests: it plants a small fault in a package, runs the package's own tests, and counts how often they notice. No file
// is changed. A survivor is printed as it is found, and tried again by its place:
//
//	go run ./testdata/tools/mutate -n 40 ./session/serve/limit ./session/base/mask
//	go run ./testdata/tools/mutate -only limit.go:51 ./session/serve/limit
package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"
)

func main() {
	n := flag.Int("n", 200, "how many mutants are tried; those that do not compile do not count")
	seed := flag.Uint64("seed", 1, "picks the sample")
	least := flag.Int("least", 0, "per cent that tests must notice; fewer end with exit code 1")
	limit := flag.Duration("timeout", 2*time.Minute, "for the tests of a package; a mutant that makes them take longer is noticed")
	only := flag.String("only", "", "of the sample, only the mutants whose FILE:LINE has this in it")
	flag.Parse()
	if err := run(*n, *seed, *least, *limit, *only, flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, "mutate:", err)
		os.Exit(1)
	}
}

func run(n int, seed uint64, least int, limit time.Duration, only string, patterns []string) error {
	all, err := sample(seed, only, patterns)
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "mutate")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }() // it is below the system's own
	// Tests that fail, or take longer than the limit, without a fault would notice any.
	profile := filepath.Join(dir, "cover")
	if out, err := test(limit, append([]string{"-p", "1", "-coverprofile", profile}, patterns...)...); err != nil {
		return fmt.Errorf("the tests fail without a mutant: %w\n%s", err, out)
	}
	ran, err := readCover(profile)
	if err != nil {
		return err
	}
	var mu sync.Mutex
	var tried, noticed, taken int
	var failed error
	next := func() (m mutant, i int, ok bool) {
		mu.Lock()
		defer mu.Unlock()
		if failed != nil || tried >= n || taken == len(all) {
			return m, 0, false
		}
		tried++ // given back where it does not compile
		taken++
		return all[taken-1], taken - 1, true
	}
	var wg sync.WaitGroup
	for range 2 { // whole test runs: more at once only make each other late
		wg.Go(func() {
			for m, i, ok := next(); ok; m, i, ok = next() {
				fate, err := try(filepath.Join(dir, fmt.Sprint(i)), m, limit, ran.passes(m))
				mu.Lock()
				switch {
				case err != nil:
					failed = err
				case fate == invalid:
					tried--
				case fate == killed:
					noticed++
				default:
					fmt.Printf("%s: %s:%d: %s\n", fate, m.file, m.line, m.what)
				}
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	if failed != nil {
		return failed
	}
	if tried == 0 {
		return errors.New("nothing to try; name packages with code, as ./session/serve/limit")
	}
	fmt.Printf("%d of %d mutants were noticed, %d %% (seed %d, of %d)\n", noticed, tried, 100*noticed/tried, seed, len(all))
	if 100*noticed < least*tried {
		return fmt.Errorf("that is less than %d %%: write tests that fail with the survivors that matter", least)
	}
	return nil
}

// sample is the mutants of packages, in an order that the seed decides; with only, those whose FILE:LINE has that in it. A mutant's rank hangs
// on its line alone, so that a sample stays the same, but for the lines that change.
func sample(seed uint64, only string, patterns []string) (all []mutant, err error) {
	const files = "{{$d := .Dir}}{{$p := .ImportPath}}{{range .GoFiles}}{{$d}}\t{{$p}}/{{.}}\n{{end}}"
	out, err := exec.Command("go", append([]string{"list", "-f", files}, patterns...)...).Output()
	if err != nil {
		return nil, fmt.Errorf("go list %s: %w", strings.Join(patterns, " "), err)
	}
	here, err := os.Getwd()
	if err != nil {
		return nil, err
	}
	for line := range strings.Lines(string(out)) {
		dir, imported, ok := strings.Cut(strings.TrimSpace(line), "\t")
		if !ok {
			continue // between packages
		}
		if dir, err = filepath.Rel(here, dir); err != nil {
			return nil, err
		}
		more, err := mutantsOf(dir, filepath.Join(dir, path.Base(imported)))
		if err != nil {
			return nil, err
		}
		same := map[string]int{}
		for _, m := range more {
			key := fmt.Sprint(seed, "\x00", imported, "\x00", m.text, "\x00", m.what)
			same[key]++
			m.rank, m.imported = sha256.Sum256(fmt.Append([]byte(key), same[key])), imported
			if strings.Contains(fmt.Sprint(m.file, ":", m.line, ":"), only) {
				all = append(all, m)
			}
		}
	}
	slices.SortFunc(all, func(a, b mutant) int { return bytes.Compare(a.rank[:], b.rank[:]) })
	return all, nil
}

type fate string

const (
	survived fate = "survived"
	unseen   fate = "survived, no test runs it"
	killed   fate = "killed"  // a test failed
	invalid  fate = "invalid" // it does not compile
)

// try runs the tests of a mutant's package with it, if they come by at all. Its files begin with prefix.
func try(prefix string, m mutant, limit time.Duration, run bool) (fate, error) {
	src, err := os.ReadFile(m.file)
	if err != nil {
		return "", err
	}
	path, err := filepath.Abs(m.file)
	if err != nil {
		return "", err
	}
	faulty := string(src[:m.from]) + m.with + string(src[m.to:])
	overlay, err := json.Marshal(map[string]any{"Replace": map[string]string{path: prefix + ".go"}})
	if err = errors.Join(err, os.WriteFile(prefix+".go", []byte(faulty), 0o600), os.WriteFile(prefix+".json", overlay, 0o600)); err != nil {
		return "", err
	}
	pkg := "./" + filepath.ToSlash(m.dir)
	if !run {
		if exec.Command("go", "build", "-overlay", prefix+".json", pkg).Run() != nil {
			return invalid, nil
		}
		return unseen, nil
	}
	out, err := test(limit, "-overlay", prefix+".json", pkg)
	switch {
	case err == nil:
		return survived, nil
	case bytes.Contains(out, []byte("[build failed]")):
		return invalid, nil
	}
	return killed, nil
}

// test runs tests once, up to the first that fails. Go ends them at the limit, and we end Go some time later, for builds take time too.
func test(limit time.Duration, args ...string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(context.Background(), 10*limit)
	defer cancel()
	args = append([]string{"test", "-count=1", "-vet=off", "-failfast", "-timeout", limit.String()}, args...)
	return exec.CommandContext(ctx, "go", args...).CombinedOutput()
}
