package agentclient

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"
	"syscall"

	"github.com/mcphud/mcphud/session/base/failure"
	"github.com/mcphud/mcphud/session/base/jsonrpc"
	"github.com/mcphud/mcphud/session/base/text"
)

// errorMaker makes the errors of one request.
type errorMaker struct {
	c             *Client
	agent, method string
}

func (f errorMaker) error(kind failure.Kind, message, next string) *failure.Error {
	return &failure.Error{Kind: kind, Server: f.agent, Stage: f.method, URL: f.c.AgentURL(f.agent), Message: f.hide(message), Next: next}
}

// hide masks the token in a text from the peer.
func (f errorMaker) hide(s string) string {
	if f.c.token == "" {
		return s
	}
	return strings.ReplaceAll(s, f.c.token, "***")
}

func (f errorMaker) usage(message, next string) error {
	return &failure.Error{Kind: failure.Usage, Stage: f.method, Message: message, Next: next}
}

func (f errorMaker) protocol(res *http.Response, message, next string) error {
	e := f.error(failure.Protocol, message, next)
	e.Status = res.StatusCode
	return e
}

// transport is the error for a response that is missing or incomplete.
func (f errorMaker) transport(ctx context.Context, err error) error {
	var wrapped *url.Error
	if errors.As(err, &wrapped) {
		err = wrapped.Err // its text repeats the URL
	}
	e := f.error(failure.Transport, "the connection to the router at "+f.c.router+" broke: "+err.Error(), "try again")
	e.Err = err
	var op *net.OpError
	switch {
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		e.Kind, e.Message, e.Next = failure.Timeout, "no answer in time", "request less at a time, or check why the agent is busy"
		e.Err = context.DeadlineExceeded
	case ctx.Err() != nil:
		e.Kind, e.Message, e.Next = failure.Interrupted, "cancelled", ""
		e.Err = ctx.Err()
	case errors.Is(err, syscall.ECONNREFUSED):
		e.Message = "no router listens at " + f.c.router
		e.Next = "start one with mcphud router, or name another with ROUTER_HOST and ROUTER_PORT"
	case errors.As(err, &op) && op.Op == "dial":
		e.Message = "the router at " + f.c.router + " cannot be reached: " + err.Error()
		e.Next = "correct ROUTER_HOST and ROUTER_PORT"
	default:
		if message, next := f.explainTLS(err); message != "" {
			e.Message, e.Next = message, next
		}
	}
	return e
}

// read takes the result out of an answer, or makes an error of it.
func (f errorMaker) read(res *http.Response, body, id []byte) (json.RawMessage, error) {
	body = bytes.TrimSpace(body)
	env, err := jsonrpc.Scan(body)
	ours := env.ID == nil || string(env.ID) == "null" || bytes.Equal(env.ID, id)
	switch {
	case err == nil && env.Kind == jsonrpc.ErrorResponse && ours:
		return nil, f.rpc(res, env.Error)
	case res.StatusCode < 200 || res.StatusCode >= 300:
		e := f.error(failure.Transport, "the router answered with HTTP status "+res.Status, advice(res.StatusCode))
		e.Status, e.Detail = res.StatusCode, f.hide(clip(body))
		if isRefusal(res.StatusCode) {
			e.Kind = failure.OAuth
		}
		if bytes.HasPrefix(body, []byte(saysTLS)) {
			e.Next = "write https:// before the host in ROUTER_HOST"
		}
		return nil, e
	case err == nil && env.Kind == jsonrpc.Response && bytes.Equal(env.ID, id):
		return env.Result, nil
	case err == nil:
		return nil, f.protocol(res, fmt.Sprintf("the answer is a %s that belongs to another request", env.Kind), "see what listens at "+f.c.router)
	}
	e := f.protocol(res, "the answer is not a JSON-RPC message: "+err.Error(), "check that a router listens at "+f.c.router)
	e.(*failure.Error).Detail = f.hide(clip(body))
	return nil, e
}

// rpc is an error that the agent or the router answered with.
func (f errorMaker) rpc(res *http.Response, raw []byte) error {
	rpc, err := jsonrpc.ParseError(raw)
	if err != nil {
		return f.protocol(res, "the answer is a malformed error: "+err.Error(), "see the agent's own log")
	}
	rpc.Message = f.hide(rpc.Message)
	if rpc.Data != nil {
		rpc.Data = json.RawMessage(f.hide(string(rpc.Data)))
	}
	e := f.error(failure.RpcError, rpc.Message, advice(res.StatusCode))
	e.Status, e.Code, e.Data, e.Err = res.StatusCode, &rpc.Code, rpc.Data, rpc
	if isRefusal(res.StatusCode) {
		e.Kind = failure.OAuth
	}
	return e
}

func isRefusal(status int) bool {
	return status == http.StatusUnauthorized || status == http.StatusForbidden
}

// advice is what to do about an answer with this status.
func advice(status int) string {
	switch status {
	case http.StatusUnauthorized:
		return "set AGENT_TOKEN to a token that the router knows"
	case http.StatusForbidden:
		return "let allowedTargets in the router's file of tokens name the agent"
	case http.StatusNotFound:
		return "the router's page at / lists the agents"
	case http.StatusTooManyRequests:
		return "wait and try again"
	case http.StatusBadGateway, http.StatusServiceUnavailable:
		return "check that the agent is running, and try again"
	case http.StatusGatewayTimeout:
		return "request less at a time, or raise the timeout of the agent's route"
	case http.StatusLoopDetected:
		return "agents call each other in a loop; break it in one of them"
	}
	return ""
}

// clip is the beginning of a body, for people.
func clip(body []byte) string {
	const most = 400
	return strings.ToValidUTF8(text.Clip(string(body[:min(len(body), most+1)]), most), "\uFFFD")
}
