package budget

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/mcphud/mcphud/session/test/require"
)

const mapped = 16 << 20

// touch maps memory, of a file if it is not -1, and reads or writes each page.
func touch(t *testing.T, fd, how int) {
	t.Helper()
	b, err := unix.Mmap(fd, 0, mapped, unix.PROT_READ|unix.PROT_WRITE, how)
	require.NoError(t, err)
	t.Cleanup(func() { _ = unix.Munmap(b) })
	sum := byte(0)
	for i := 0; i < len(b); i += 4 << 10 {
		if fd < 0 {
			b[i] = 1
		}
		sum += b[i]
	}
	if fd >= 0 && sum != 0 {
		t.Fatal("the file is not empty")
	}
}

// What is a process' own counts, and pages of files do not.
func TestMemory(t *testing.T) {
	memory := func() int64 {
		size, ok := Memory(os.Getpid())
		if !ok {
			t.Skip("this kernel does not tell whose the memory is")
		}
		return size
	}
	f, err := os.Create(filepath.Join(t.TempDir(), "file"))
	require.NoError(t, err)
	defer f.Close()
	if _, err := f.Write(make([]byte, mapped)); err != nil {
		t.Fatal(err)
	}
	before := memory()
	touch(t, int(f.Fd()), unix.MAP_PRIVATE)
	if got := memory() - before; got > mapped/2 {
		t.Errorf("a file of %d bytes that was read counts as %d", mapped, got)
	}
	before = memory()
	touch(t, -1, unix.MAP_PRIVATE|unix.MAP_ANON)
	if got := memory() - before; got < mapped*7/8 {
		t.Errorf("%d bytes of its own count as %d", mapped, got)
	}
	before = memory()
	touch(t, -1, unix.MAP_SHARED|unix.MAP_ANON)
	if got := memory() - before; got < mapped*7/8 {
		t.Errorf("%d shared bytes count as %d", mapped, got)
	}
	if size, ok := Memory(1 << 30); ok {
		t.Errorf("a process that is not there has %d bytes", size)
	}
}

// The peak is seen of a program that soon ends, and of one that takes little.
func TestPeak(t *testing.T) {
	const taken = 8_000_000
	most, err := Peak(exec.Command("sh", "-c", `x=$(head -c 8000000 /dev/zero | tr '\0' x); sleep 0.05; echo "${#x}"`))
	if err != nil || most < taken {
		t.Errorf("a shell that has %d bytes: %d, %v", taken, most, err)
	}
	if least, err := Peak(exec.Command("sleep", "0.02")); err != nil || least == 0 || least > taken/2 {
		t.Errorf("a program that has next to nothing: %d, %v", least, err)
	}
	if _, err := Peak(exec.Command(filepath.Join(t.TempDir(), "none"))); err == nil {
		t.Error("a program that is not there has a peak")
	}
}
