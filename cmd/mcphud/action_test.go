package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"

	"github.com/mcphud/mcphud/cmd/cli"
	"github.com/mcphud/mcphud/session/test/require"
	"github.com/mcphud/mcphud/session/test/require/assert"
)

// actionFolder has the action for GitHub.
const actionFolder = "../../.github/actions/check"

// actionRun runs the action's script in a folder of its own, as GitHub does. program is a script that is this program.
func actionRun(t *testing.T, env ...string) (o outcome, dir, program string) {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("the script is for Linux and macOS")
	}
	exe := ownProgram(t)
	script, err := filepath.Abs(filepath.Join(actionFolder, "check"))
	require.NoError(t, err)
	like := command(t)
	dir = like.Dir
	program = filepath.Join(dir, "mcphud")
	require.NoError(t, os.WriteFile(program, fmt.Appendf(nil, "#!/bin/sh\nexec %q \"$@\"\n", exe), 0o700))
	cmd := exec.Command(script)
	cmd.Dir = dir
	cmd.Env = append(like.Env, "GITHUB_OUTPUT="+filepath.Join(dir, "output"), "GITHUB_STEP_SUMMARY="+filepath.Join(dir, "summary"))
	for _, e := range env {
		cmd.Env = append(cmd.Env, strings.ReplaceAll(e, "{mcphud}", program))
	}
	return finish(t, cmd), dir, program
}

func TestActionChecks(t *testing.T) {
	t.Parallel()
	o, dir, _ := actionRun(t, "CHECK_PROGRAM={mcphud}", "CHECK_COMMAND={mcphud} agent --stdio --ephemeral", "CHECK_SECTIONS=cost", "CHECK_SARIF=out.sarif", "CHECK_JUNIT=out.xml")
	if o.code != 0 {
		t.Fatalf("exit %d\n%s%s", o.code, o.out, o.stderr)
	}
	for file, has := range map[string]string{"out.sarif": `"2.1.0"`, "out.xml": "<testsuites", "summary": "mcphud", "output": "code=0\nsarif=" + dir} {
		if b, err := os.ReadFile(filepath.Join(dir, file)); err != nil || !strings.Contains(string(b), has) {
			t.Errorf("%s has no %q: %v\n%s", file, has, err, b)
		}
	}
	// What is found fails the step, words stay words, and nothing of them is run.
	o, dir, _ = actionRun(t, "CHECK_PROGRAM={mcphud}", "CHECK_COMMAND={mcphud}\nagent\n--stdio\n--ephemeral\n--name\na $(touch ran) b", "CHECK_SECTIONS=cost", "CHECK_ARGUMENTS=--budget 1")
	o.exits(t, cli.ExitAssertion)
	if _, err := os.Stat(filepath.Join(dir, "ran")); err == nil {
		t.Error("a word of the command was run")
	}
	if b, _ := os.ReadFile(filepath.Join(dir, "output")); strings.TrimSpace(string(b)) != "code=9" {
		t.Errorf("outputs %q", b)
	}
}

func TestActionRefuses(t *testing.T) {
	t.Parallel()
	for says, env := range map[string][]string{
		"name one server":         {"CHECK_PROGRAM={mcphud}"},
		"name a release":          {"CHECK_URL=http://127.0.0.1:1/mcp", "CHECK_REF=main"},
		"cannot download":         {"CHECK_URL=http://127.0.0.1:1/mcp", "CHECK_REF=v0.1.0", "CHECK_RELEASES=file:///nowhere"},
		`there is no section "x"`: {"CHECK_PROGRAM={mcphud}", "CHECK_COMMAND={mcphud} agent --stdio --ephemeral", "CHECK_SECTIONS=x"},
	} {
		if o, _, _ := actionRun(t, env...); o.code == 0 || !strings.Contains(o.out+o.stderr, says) {
			t.Errorf("exit %d without %q\n%s%s", o.code, says, o.out, o.stderr)
		}
	}
}

// A release is taken if it is what its checksums say, and its workflow built it.
func TestActionDownloads(t *testing.T) {
	t.Parallel()
	exe := ownProgram(t)
	arch := map[string]string{"amd64": "amd64", "arm64": "arm64"}[runtime.GOARCH]
	if arch == "" || runtime.GOOS != "linux" && runtime.GOOS != "darwin" {
		t.Skip("there are no releases for this machine")
	}
	name := fmt.Sprintf("mcphud_9.8.7_%s_%s.tar.gz", runtime.GOOS, arch)
	var archive bytes.Buffer
	z := gzip.NewWriter(&archive)
	w := tar.NewWriter(z)
	text := fmt.Sprintf("#!/bin/sh\nexec %q \"$@\"\n", exe)
	require.NoError(t, w.WriteHeader(&tar.Header{Name: "mcphud", Mode: 0o755, Size: int64(len(text))}))
	_, _ = w.Write([]byte(text)) // into memory
	_, _ = w.Close(), z.Close()
	bin := t.TempDir()
	gh := "#!/bin/sh\n[ \"$1 $2\" = 'attestation verify' ] && [ -s \"$3\" ] && [ \"$4 $5 $6 $7\" = '--repo mcphud/mcphud --signer-workflow mcphud/mcphud/.github/workflows/release.yml' ] && exit $BUILT\nexit 9\n"
	require.NoError(t, os.WriteFile(filepath.Join(bin, "gh"), []byte(gh), 0o700))
	path := "PATH=" + bin + string(os.PathListSeparator) + os.Getenv("PATH")
	for _, c := range []struct {
		good  bool
		built string // what gh exits with
		says  string // "" where it works
	}{{true, "0", ""}, {false, "0", "the checksum differs"}, {true, "1", "nothing vouches that the release workflow of mcphud built"}} {
		good := c.good
		sum := fmt.Sprintf("%x", sha256.Sum256(archive.Bytes()))
		if !good {
			sum = strings.Repeat("0", 64)
		}
		mux := http.NewServeMux()
		mux.HandleFunc("/v9.8.7/checksums.txt", func(w http.ResponseWriter, _ *http.Request) {
			fmt.Fprintf(w, "%s  other.tar.gz\n%s  %s\n", strings.Repeat("1", 64), sum, name)
		})
		mux.HandleFunc("/v9.8.7/"+name, func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(archive.Bytes()) })
		srv := httptest.NewServer(mux)
		defer srv.Close()
		o, _, _ := actionRun(t, "CHECK_RELEASES="+srv.URL, "CHECK_REF=v9.8.7", "CHECK_COMMAND={mcphud} agent --stdio --ephemeral", "CHECK_SECTIONS=cost", path, "BUILT="+c.built)
		if (c.says == "") != (o.code == 0) || !strings.Contains(o.out, c.says) {
			t.Errorf("%+v: exit %d\n%s%s", c, o.code, o.out, o.stderr)
		}
	}
}

// What the action declares, passes on and reads are the same.
func TestActionDeclaresWhatItReads(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(filepath.Join(actionFolder, "action.yml"))
	require.NoError(t, err)
	script, err := os.ReadFile(filepath.Join(actionFolder, "check"))
	require.NoError(t, err)
	var a struct {
		Inputs map[string]struct{ Description string }
		Runs   struct {
			Steps []struct {
				Env              map[string]string
				WorkingDirectory string `yaml:"working-directory"`
			}
		}
	}
	require.NoError(t, yaml.Unmarshal(text, &a))
	step := a.Runs.Steps[0]
	passed := map[string]bool{}
	for name, value := range step.Env {
		assert.Contains(t, string(script), name)
		passed[value] = true
	}
	for name, in := range a.Inputs {
		if value := "${{ inputs." + name + " }}"; !passed[value] && step.WorkingDirectory != value || in.Description == "" {
			t.Errorf("input %s is not passed on, or not described", name)
		}
	}
	for _, name := range regexp.MustCompile(`CHECK_[A-Z_]+`).FindAllString(string(script), -1) {
		if step.Env[name] == "" && name != "CHECK_" && name != "CHECK_RELEASES" { // which is for mirrors and tests
			t.Errorf("the script reads %s, which no step sets", name)
		}
	}
}
