package flow

import (
	"net/http"

	"github.com/mcphud/mcphud/session/base/jsonrpc"
	"github.com/mcphud/mcphud/session/serve/ingress"
)

// Refuse answers with a JSON-RPC error, see ingress.Refuse; an error that says nothing of itself has status 500.
func (c *Call) Refuse(err error) {
	modern := c.Modern || c.Env.Kind == jsonrpc.Invalid && ingress.Modern(c.R)
	id := c.Env.ID
	if c.Env.Kind == jsonrpc.Response || c.Env.Kind == jsonrpc.ErrorResponse {
		id = nil // belongs to a request that somebody else made
	}
	r := ingress.Refuse(id, modern, err)
	if _, ok := jsonrpc.AsRequestError(err); !ok && r.Failure.Kind == jsonrpc.KindInternal {
		r.Status = http.StatusInternalServerError
	}
	if c.Env.Kind != jsonrpc.Request && c.Env.Kind != jsonrpc.Invalid { // no error answers these: the status has to say it
		r.Status = max(r.Status, http.StatusBadRequest)
	}
	c.Failure, c.Status, c.Sent = r.Failure, r.Status, int64(len(r.Frame))
	r.Write(c.W)
}

// JSON answers with a status and a body of JSON.
func (c *Call) JSON(status int, body []byte) {
	c.Status, c.Sent = status, int64(len(body))
	ingress.WriteJSON(c.W, status, body)
}

// Empty answers with a status and no body.
func (c *Call) Empty(status int) {
	c.Status = status
	c.W.WriteHeader(status)
}
