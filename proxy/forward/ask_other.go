//go:build !unix

package forward

import "net/http"

// ask writes a request. Whether the agent closed the connection meanwhile cannot be asked here; that the router closes idle
// connections before agents do has to be enough.
func (c *conn) ask(r *http.Request) error { return c.send(r) }
