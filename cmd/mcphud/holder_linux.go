package main

import (
	"bufio"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// portHolder says which process listens on a TCP port of this machine, such as "node (process 4242)"; "" if that cannot be
// told, as for the processes of other users.
func portHolder(port int) string {
	sockets := map[string]bool{}
	for _, table := range []string{"/proc/net/tcp", "/proc/net/tcp6"} {
		listening(table, port, sockets)
	}
	if len(sockets) == 0 {
		return ""
	}
	fds, _ := filepath.Glob("/proc/[0-9]*/fd/*") // the pattern is well-formed
	for _, fd := range fds {
		if target, err := os.Readlink(fd); err == nil && sockets[target] {
			dir := filepath.Dir(filepath.Dir(fd))
			name, _ := os.ReadFile(filepath.Join(dir, "comm"))
			return fmt.Sprintf("%s (process %s)", strings.TrimSpace(string(name)), filepath.Base(dir))
		}
	}
	return ""
}

// listening adds the sockets of a kernel table that listen on port, as links in /proc name them.
func listening(table string, port int, sockets map[string]bool) {
	f, err := os.Open(table)
	if err != nil {
		return
	}
	defer f.Close()
	const stateListen = "0A"
	for lines := bufio.NewScanner(f); lines.Scan(); {
		w := strings.Fields(lines.Text())
		if len(w) < 10 || w[3] != stateListen {
			continue
		}
		if _, p, err := net.SplitHostPort(w[1]); err == nil {
			if n, err := strconv.ParseUint(p, 16, 16); err == nil && int(n) == port {
				sockets["socket:["+w[9]+"]"] = true
			}
		}
	}
}
