package forward

import (
	"bytes"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/mcphud/mcphud/session/base/jsonrpc"
)

// refusals are the statuses of initialize after which another attempt, or one without a session, is of no use.
var refusals = map[int]jsonrpc.ErrorKind{
	http.StatusTooManyRequests: jsonrpc.KindRateLimited, http.StatusServiceUnavailable: jsonrpc.KindQueueFull,
	http.StatusGatewayTimeout: jsonrpc.KindTimeout, http.StatusLoopDetected: jsonrpc.KindUpstream,
}

// maxRetryAfter is the longest pause in seconds that an agent is believed to need.
const maxRetryAfter = 24 * 60 * 60

// refusedBy is the error for callers whose agent opens no session now, in its own words where these are a JSON-RPC error.
func refusedBy(res *http.Response, body []byte) error {
	status := fmt.Errorf("initialize failed with HTTP status %d", res.StatusCode)
	kind, known := refusals[res.StatusCode]
	if !known {
		return status
	}
	f := &jsonrpc.RequestError{Kind: kind, Message: "Failed to reach agent: " + status.Error(), Status: res.StatusCode, Err: status}
	if env, err := jsonrpc.Scan(bytes.TrimSpace(body)); err == nil && env.Kind == jsonrpc.ErrorResponse {
		if e, err := jsonrpc.ParseError(env.Error); err == nil {
			f.Message = e.Message
		}
	}
	if n, err := strconv.Atoi(res.Header.Get("Retry-After")); err == nil && n > 0 && n <= maxRetryAfter {
		f.RetryAfter = time.Duration(n) * time.Second
	}
	return f
}
