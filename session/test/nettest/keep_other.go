//go:build !linux

package nettest

import (
	"net"
	"strconv"
)

func keep(port int) (release func(), free bool) {
	ln, err := net.Listen("tcp", "127.0.0.1:"+strconv.Itoa(port))
	if err != nil {
		return nil, false
	}
	_ = ln.Close()
	return func() {}, true
}
