package ingress

import (
	"net/http"
	"strconv"
)

// HeaderHops counts the routers that a request went through. Agents pass it on when they call other agents.
const HeaderHops = "Mcphud-Hops"

// MaxHops is how many routers a request may go through before it counts as a routing loop.
const MaxHops = 8

// Hops is how many routers a request with these headers went through. An invalid number counts as too many.
func Hops(h http.Header) int {
	v := h[HeaderHops]
	if len(v) == 0 {
		return 0
	}
	n, err := strconv.Atoi(v[0])
	if err != nil || n < 0 || len(v) > 1 {
		return MaxHops
	}
	return n
}
