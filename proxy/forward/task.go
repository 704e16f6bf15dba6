package forward

import (
	"net/http"
	"net/url"

	"github.com/mcphud/mcphud/proxy/flow"
)

// task forwards the page of a background task: GET task?taskId=ID, beside the agent's endpoint. Agents that are
// processes have none.
func (t *Target) task(c *flow.Call) {
	id := c.R.URL.Query().Get("taskId")
	switch {
	case id == "":
		c.JSON(http.StatusBadRequest, []byte(`{"error":"invalid_request","detail":"taskId is missing: ask for task?taskId=ID"}`))
		return
	case t.Route.Command != "":
		c.JSON(http.StatusNotFound, []byte(`{"error":"task_not_found","detail":"an agent that is a process has no task page; use tasks/get"}`))
		return
	}
	page := *t.url.ResolveReference(&url.URL{Path: "task"})
	query := t.url.Query()
	query.Set("taskId", id)
	page.RawQuery = query.Encode()
	x := &exchange{Target: t, c: c, out: outgoing{method: http.MethodGet, accept: jsonType, url: &page}}
	x.run()
}
