package listen

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// holder names the process that listens on port: "node (pid 123)", or "" where that is not known, such as for another
// user's process. /proc/net/tcp has the socket's inode, /proc/PID/fd who has that open (proc(5)).
func holder(port int) string {
	inodes := map[string]bool{}
	for _, file := range []string{"/proc/net/tcp", "/proc/net/tcp6"} {
		listening(file, port, inodes)
	}
	if len(inodes) == 0 {
		return ""
	}
	links, err := filepath.Glob("/proc/[0-9]*/fd/*")
	if err != nil {
		return ""
	}
	for _, link := range links {
		target, err := os.Readlink(link)
		if err != nil || !inodes[target] {
			continue
		}
		pid := strings.Split(link, "/")[2]
		comm, err := os.ReadFile("/proc/" + pid + "/comm")
		if err != nil {
			return "pid " + pid
		}
		return fmt.Sprintf("%q (pid %s)", strings.TrimSpace(string(comm)), pid)
	}
	return ""
}

// listening adds the sockets of one table that listen on port, as /proc/PID/fd shows them.
func listening(file string, port int, inodes map[string]bool) {
	f, err := os.Open(file)
	if err != nil {
		return
	}
	defer f.Close()
	const stateListen = "0A"
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		fields := strings.Fields(lines.Text())
		if len(fields) < 10 || fields[3] != stateListen {
			continue
		}
		_, hex, _ := strings.Cut(fields[1], ":")
		if n, err := strconv.ParseUint(hex, 16, 16); err == nil && int(n) == port {
			inodes["socket:["+fields[9]+"]"] = true
		}
	}
}
