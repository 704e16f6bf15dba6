package confine

import "golang.org/x/sys/unix"

const (
	auditArch = unix.AUDIT_ARCH_X86_64
	otherABI  = 0x40000000 // x32 has its numbers from there on
)
