//go:build amd64 || arm64

package confine

import (
	"encoding/json"
	"fmt"
	"os"
	"runtime"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// leastABI is the first version of Landlock that keeps a file from being cut short by its path.
const leastABI = 3

// Versions of Landlock that can do more.
const (
	abiDevices = 5 // ioctl on devices
	abiSignals = 6 // signals to processes outside
)

// Supported is why this system cannot shut a process in, nil if it can.
func Supported() error {
	if err := checkLandlock(landlock()); err != nil {
		return err
	}
	// A filter at no address is refused as such where filters are known.
	if err := unix.Prctl(unix.PR_SET_SECCOMP, unix.SECCOMP_MODE_FILTER, 0, 0, 0); err != unix.EFAULT {
		return &UnsupportedError{fmt.Sprintf("this kernel has no seccomp filters: %v", err)}
	}
	return nil
}

// checkLandlock is why a kernel with this version of Landlock, or none for this reason, does not do.
func checkLandlock(v int, errno syscall.Errno) error {
	switch {
	case errno == unix.ENOSYS:
		return &UnsupportedError{"this kernel has no Landlock, which Linux has from 5.13 on"}
	case errno == unix.EOPNOTSUPP:
		return &UnsupportedError{"Landlock is in this kernel but off; add it to the kernel's parameter lsm="}
	case errno != 0:
		return &UnsupportedError{"Landlock cannot be used: " + errno.Error()}
	case v < leastABI:
		return &UnsupportedError{fmt.Sprintf("this kernel's Landlock is version %d, and keeping files whole takes %d, which Linux has from 6.2 on", v, leastABI)}
	}
	return nil
}

// landlock is the version of it that the kernel has.
func landlock() (version int, errno syscall.Errno) {
	v, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, 0, 0, unix.LANDLOCK_CREATE_RULESET_VERSION)
	return int(v), errno
}

// What a rule can allow, of folders and of files.
const (
	reading = unix.LANDLOCK_ACCESS_FS_EXECUTE | unix.LANDLOCK_ACCESS_FS_READ_FILE | unix.LANDLOCK_ACCESS_FS_READ_DIR
	ofFiles = unix.LANDLOCK_ACCESS_FS_EXECUTE | unix.LANDLOCK_ACCESS_FS_READ_FILE | unix.LANDLOCK_ACCESS_FS_WRITE_FILE | unix.LANDLOCK_ACCESS_FS_TRUNCATE
	writing = reading | ofFiles | unix.LANDLOCK_ACCESS_FS_REMOVE_DIR | unix.LANDLOCK_ACCESS_FS_REMOVE_FILE | unix.LANDLOCK_ACCESS_FS_MAKE_DIR |
		unix.LANDLOCK_ACCESS_FS_MAKE_REG | unix.LANDLOCK_ACCESS_FS_MAKE_SYM | unix.LANDLOCK_ACCESS_FS_MAKE_FIFO | unix.LANDLOCK_ACCESS_FS_MAKE_SOCK |
		unix.LANDLOCK_ACCESS_FS_REFER
	everything = writing | unix.LANDLOCK_ACCESS_FS_MAKE_CHAR | unix.LANDLOCK_ACCESS_FS_MAKE_BLOCK
)

// A process that was started in a child's place becomes the child before anything else of this program runs in it. Nobody types
// the marker; who could, could run the child's program as well.
func init() {
	if len(os.Args) < 5 || os.Args[1] != marker {
		return
	}
	err := restrictAndExec(os.Args[2], os.Args[3], os.Args[4:])
	_, _ = os.Stderr.WriteString("mcphud: the server was not started: its sandbox: " + err.Error() + "\n")
	os.Exit(126)
}

// restrictAndExec gives up what the orders do not allow and executes a program. It returns only if something failed.
func restrictAndExec(text, path string, argv []string) error {
	var o orders
	if err := json.Unmarshal([]byte(text), &o); err != nil {
		return err
	}
	runtime.LockOSThread() // what is given up belongs to a thread; the one that executes the program
	if err := dropCapabilities(); err != nil {
		return err
	}
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("no new privileges: %w", err)
	}
	if err := restrictFiles(o); err != nil {
		return err
	}
	if err := restrictCalls(o.Network); err != nil {
		return fmt.Errorf("seccomp: %w", err)
	}
	return fmt.Errorf("%s: %w", path, syscall.Exec(path, argv, os.Environ()))
}

// dropCapabilities takes from what root starts the rights to pass by all of this; nobody else has any.
func dropCapabilities() error {
	for c := uintptr(0); c < 64; c++ {
		switch err := unix.Prctl(unix.PR_CAPBSET_DROP, c, 0, 0, 0); err {
		case nil, unix.EPERM: // not root: nothing can come of the bounding set, since there are no new privileges
		case unix.EINVAL:
			c = 64
		default:
			return fmt.Errorf("capabilities: %w", err)
		}
	}
	if err := unix.Prctl(unix.PR_CAP_AMBIENT, unix.PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0); err != nil && err != unix.EINVAL {
		return fmt.Errorf("capabilities: %w", err)
	}
	return nil
}

// restrictFiles makes this thread, and what it executes, see the files of the orders only.
func restrictFiles(o orders) error {
	version, errno := landlock()
	if errno != 0 {
		return fmt.Errorf("landlock: %w", errno)
	}
	attr := unix.LandlockRulesetAttr{Handled_access_fs: everything}
	if version >= abiDevices {
		attr.Handled_access_fs |= unix.LANDLOCK_ACCESS_FS_IOCTL_DEV
	}
	size := unsafe.Offsetof(attr.Handled_access_net)
	if version >= abiSignals {
		attr.Scoped, size = unix.LANDLOCK_SCOPE_SIGNAL|unix.LANDLOCK_SCOPE_ABSTRACT_UNIX_SOCKET, unsafe.Offsetof(attr.Quiet_access_fs)
	}
	set, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, uintptr(unsafe.Pointer(&attr)), size, 0)
	if errno != 0 {
		return fmt.Errorf("landlock: %w", errno)
	}
	defer func() { _ = unix.Close(int(set)) }()
	for _, l := range []struct {
		paths  []string
		access uint64
	}{{o.Read, reading}, {o.Write, writing}, {o.Devices, ofFiles}} {
		for _, p := range l.paths {
			if err := allow(int(set), p, l.access); err != nil {
				return fmt.Errorf("landlock: %s: %w", p, err)
			}
		}
	}
	if _, _, errno = unix.Syscall(unix.SYS_LANDLOCK_RESTRICT_SELF, set, 0, 0); errno != 0 {
		return fmt.Errorf("landlock: %w", errno)
	}
	return nil
}

// allow adds a rule for a file, or a folder and what is in it.
func allow(set int, path string, access uint64) error {
	fd, err := unix.Open(path, unix.O_PATH|unix.O_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer func() { _ = unix.Close(fd) }()
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		return err
	}
	if st.Mode&unix.S_IFMT != unix.S_IFDIR {
		access &= ofFiles
	}
	attr := unix.LandlockPathBeneathAttr{Allowed_access: access, Parent_fd: int32(fd)}
	_, _, errno := unix.Syscall6(unix.SYS_LANDLOCK_ADD_RULE, uintptr(set), unix.LANDLOCK_RULE_PATH_BENEATH, uintptr(unsafe.Pointer(&attr)), 0, 0, 0)
	if errno != 0 {
		return errno
	}
	return nil
}
