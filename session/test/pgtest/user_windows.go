package pgtest

import "syscall"

// unprivileged is how the server's processes are started.
func unprivileged(string) (*syscall.SysProcAttr, error) { return nil, nil }
