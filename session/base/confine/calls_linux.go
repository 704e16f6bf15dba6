//go:build amd64 || arm64

package confine

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

// Offsets in the data that a filter sees of a call.
const (
	offsetCall = 0
	offsetArch = 4
	offsetArg0 = 16 // its lower half, on machines that are little-endian
)

// restrictCalls takes system calls away from this thread and what it executes: sockets (all without network, else those that are not
// IP: Docker, the session bus and an agent for keys listen at Unix sockets, and would do for it what it may not), io_uring, which makes
// sockets past a filter, the kernel's keys, and calls of another architecture, which have other numbers. A pair of connected sockets
// reaches nobody else, and stays.
func restrictCalls(network bool) error {
	f := filter(network)
	prog := unix.SockFprog{Len: uint16(len(f)), Filter: &f[0]}
	return unix.Prctl(unix.PR_SET_SECCOMP, unix.SECCOMP_MODE_FILTER, uintptr(unsafe.Pointer(&prog)), 0, 0)
}

const (
	refused = unix.SECCOMP_RET_ERRNO | uint32(unix.EACCES)
	unknown = unix.SECCOMP_RET_ERRNO | uint32(unix.ENOSYS)
)

// filter is the program for restrictCalls, whose steps jump over the next ones.
func filter(network bool) []unix.SockFilter {
	load := func(offset uint32) unix.SockFilter {
		return unix.SockFilter{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, K: offset}
	}
	give := func(answer uint32) unix.SockFilter {
		return unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K, K: answer}
	}
	jump := func(kind uint16, k uint32, yes, no uint8) unix.SockFilter {
		return unix.SockFilter{Code: unix.BPF_JMP | kind | unix.BPF_K, Jt: yes, Jf: no, K: k}
	}
	f := []unix.SockFilter{
		load(offsetArch), jump(unix.BPF_JEQ, auditArch, 1, 0), give(refused),
		load(offsetCall),
		jump(unix.BPF_JGE, otherABI, 0, 1), give(refused),
		jump(unix.BPF_JEQ, unix.SYS_IO_URING_SETUP, 0, 1), give(unknown),
	}
	for _, call := range []uint32{unix.SYS_KEYCTL, unix.SYS_ADD_KEY, unix.SYS_REQUEST_KEY} {
		f = append(f, jump(unix.BPF_JEQ, call, 0, 1), give(refused))
	}
	f = append(f, jump(unix.BPF_JEQ, unix.SYS_SOCKET, 1, 0), give(unix.SECCOMP_RET_ALLOW))
	if network {
		f = append(f, load(offsetArg0))
		for _, family := range []uint32{unix.AF_INET, unix.AF_INET6, unix.AF_NETLINK} { // the last asks which addresses there are
			f = append(f, jump(unix.BPF_JEQ, family, 0, 1), give(unix.SECCOMP_RET_ALLOW))
		}
	}
	return append(f, give(refused))
}
