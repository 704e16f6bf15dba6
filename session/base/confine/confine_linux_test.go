package confine_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mcphud/mcphud/session/base/confine"
	"github.com/mcphud/mcphud/session/test/require"
)

// supported skips a test where this system shuts nobody in.
func supported(t *testing.T) {
	t.Helper()
	if err := confine.Supported(); err != nil {
		t.Skip(err)
	}
}

// confined runs this program shut in, and returns how each attempt ended.
func confined(t *testing.T, r confine.Rules, attempts ...string) map[string]string {
	t.Helper()
	self, err := os.Executable()
	require.NoError(t, err)
	in, done, err := confine.Prepare(r, confine.Program{Path: self, Name: self, Args: attempts, Env: append(os.Environ(), tries+"=1"), Dir: t.TempDir()})
	require.NoError(t, err)
	defer done()
	var out, errs bytes.Buffer
	cmd := &exec.Cmd{Path: in.Path, Args: append([]string{in.Name}, in.Args...), Env: in.Env, Dir: in.Dir, Stdout: &out, Stderr: &errs}
	if err := cmd.Run(); err != nil {
		t.Fatalf("%v: %s", err, errs.String())
	}
	ended := map[string]string{}
	if err := json.Unmarshal(out.Bytes(), &ended); err != nil {
		t.Fatalf("%v: %q, %s", err, out.String(), errs.String())
	}
	return ended
}

// judge says which attempts did not end as they had to.
func judge(t *testing.T, ended map[string]string, allowed bool, attempts ...string) {
	t.Helper()
	for _, a := range attempts {
		switch got := ended[a]; {
		case allowed && got != "<nil>":
			t.Errorf("%s: %s", a, got)
		case !allowed && !strings.Contains(got, "permission denied") && !strings.Contains(got, "not permitted") && !strings.Contains(got, "not implemented") && !strings.Contains(got, "cross-device"):
			t.Errorf("%s is not denied: %s", a, got)
		}
	}
}

// home is a folder as a user's, with something secret and something to work on; not below the system's folder for temporary files.
func home(t *testing.T) (secret, data string) {
	t.Helper()
	dir := t.TempDir()
	t.Setenv("HOME", dir)
	secret, data = filepath.Join(dir, ".ssh", "id"), filepath.Join(dir, "data", "a.txt")
	for _, f := range []string{secret, data} {
		require.NoError(t, os.MkdirAll(filepath.Dir(f), 0o700))
		require.NoError(t, os.WriteFile(f, []byte("content"), 0o600))
	}
	return secret, data
}

func listener(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { _ = l.Close() })
	return l.Addr().String()
}

// A child reads a file and opens a socket: both are denied, with whatever else would be a way out.
func TestX5b_Denied(t *testing.T) {
	supported(t)
	secret, data := home(t)
	t.Setenv("TMPDIR", t.TempDir()) // the sandbox's own folder is made here, and nothing of others
	denied := []string{
		"read " + secret, "list " + filepath.Dir(secret), "write " + data, "write " + filepath.Join(filepath.Dir(data), "new"), "truncate " + data, "rename " + data,
		"read /etc/shadow", "read /proc/1/environ", fmt.Sprintf("read /proc/%d/cmdline", os.Getpid()), "list /dev/shm", "open /usr/bin/env", "open /etc/hosts",
		"tcp " + listener(t), "udp", "ipv6", "unix", "packet", "vsock", "io_uring", "keyring", "mount " + filepath.Dir(data), "chroot " + filepath.Dir(data),
		fmt.Sprintf("signal %d", os.Getpid()),
	}
	allowed := []string{"read /etc/hosts", "list /usr", "read /proc/self/status", "temp", "home", "pair", "devices", "capabilities", "run /bin/true"}
	for _, a := range []string{denied[0], denied[1], denied[4], "udp", "unix"} { // it is the sandbox that denies: we may
		if err := attempt(a); err != nil {
			t.Fatalf("%s: %v, and nobody is shut in", a, err)
		}
	}
	restore(t, data)
	ended := confined(t, confine.Rules{}, append(denied, allowed...)...)
	judge(t, ended, false, denied...)
	judge(t, ended, true, allowed...)
	if b, err := os.ReadFile(data); err != nil || string(b) != "content" {
		t.Errorf("%q, %v", b, err)
	}
	if left, _ := filepath.Glob(filepath.Join(os.TempDir(), "mcphud-sandbox-*")); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

// Each is allowed by a list, and nothing beside it.
func TestX5b_AllowedByAList(t *testing.T) {
	supported(t)
	secret, data := home(t)
	folder, address := filepath.Dir(data), listener(t)
	for _, c := range []struct {
		name            string
		rules           confine.Rules
		allowed, denied []string
	}{
		{"a file", confine.Rules{Read: []string{data}}, []string{"read " + data}, []string{"write " + data, "list " + folder, "read " + secret, "tcp " + address}},
		{"a folder", confine.Rules{Read: []string{"~/data"}}, []string{"read " + data, "list " + folder}, []string{"write " + data, "read " + secret, "udp"}},
		{
			"writing",
			confine.Rules{Write: []string{folder}},
			[]string{"read " + data, "write " + data, "truncate " + data, "write " + filepath.Join(folder, "new")},
			[]string{"read " + secret, "write " + secret, "tcp " + address},
		},
		{
			"the network",
			confine.Rules{Network: true},
			[]string{"tcp " + address, "udp", "ipv6"},
			[]string{"unix", "packet", "vsock", "io_uring", "read " + secret, "write " + data},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			ended := confined(t, c.rules, append(c.allowed, c.denied...)...)
			judge(t, ended, true, c.allowed...)
			judge(t, ended, false, c.denied...)
		})
	}
}

// A list with something that is not there is refused: nobody would notice that it allows nothing.
func TestX5b_PathThatIsNotThere(t *testing.T) {
	supported(t)
	_, _, err := confine.Prepare(confine.Rules{Write: []string{"/nowhere/at/all"}}, confine.Program{Path: "/bin/true"})
	var e *confine.PathError
	if !errors.As(err, &e) || !strings.Contains(err.Error(), "cannot allow to write /nowhere/at/all: no such file") {
		t.Fatal(err)
	}
}

// restore puts back what an attempt of ours took away.
func restore(t *testing.T, data string) {
	t.Helper()
	require.NoError(t, os.WriteFile(data, []byte("content"), 0o600))
	_ = os.Remove(filepath.Join(filepath.Dir(data), "new"))
}
