package auth

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"syscall"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/mcphud/mcphud/session/base/failure"
	"github.com/mcphud/mcphud/session/base/listen"
	"github.com/mcphud/mcphud/session/base/mask"
	"github.com/mcphud/mcphud/session/base/text"
	"github.com/mcphud/mcphud/session/config"
	"github.com/mcphud/mcphud/session/wire/journal"
	"github.com/mcphud/mcphud/session/wire/transport"
)

const (
	maxDocument  = 1 << 20          // bytes of an answer
	maxURL       = 8 << 10          // bytes of a URL that somebody names
	fetchTimeout = 20 * time.Second // for one exchange, its connection included
	maxHops      = 3                // redirects of a metadata document
	wrongClock   = 5 * time.Minute  // how far two clocks may differ before that is told as a reason
)

// A talk is the exchanges of one flow: they are journalled, belong to its steps, and reach nothing that the server has no
// business to send us to.
//
// Every URL of a login is named by somebody else: the server names the authorization server, that names endpoints, names stand for
// addresses. Unchecked, a server on the internet could have us ask programs of this machine (RFC 9728 section 7.7). So nothing nearer than
// the server itself is reached before the person has allowed it, or the configuration names it.
//
// One goroutine has it.
type talk struct {
	*Authorizer
	flow   *Flow
	person Person          // nil for nobody
	proof  *prover         // of the key that tokens are bound to; nil for none
	near   map[string]bool // hosts that may be nearer than the server
	skew   time.Duration   // of the other clock against ours
	open   bool            // the server did not ask for a login
	other  bool            // somebody else is to log in
	guess  bool            // nothing says where the authorization server is: default endpoints are tried
}

// reply is a whole answer.
type reply struct {
	status int
	header http.Header
	body   []byte
	url    string
	said   *strings.Replacer // hides what the request had to keep secret
}

// get fetches a document. Redirects are followed where a request of its own would be allowed.
func (t *talk) get(ctx context.Context, target string) (*reply, error) {
	for hop := 0; ; hop++ {
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, target, nil)
		if err != nil {
			return nil, &Violation{ByServer, "RFC 3986", fmt.Sprintf("%q is not a URL", text.Clip(mask.URL(target), 200))}
		}
		req.Header.Set("Accept", "application/json")
		r, err := t.send(req)
		if err != nil {
			return nil, err
		}
		to := r.header.Get("Location")
		if r.status < 300 || r.status > 399 || r.status == 304 || to == "" {
			return r, nil
		}
		if hop == maxHops {
			return nil, fmt.Errorf("%s redirects more than %d times", mask.URL(r.url), maxHops)
		}
		next, err := req.URL.Parse(to)
		if err != nil {
			return nil, fmt.Errorf("%s redirects to %q, which is not a URL", mask.URL(r.url), text.Clip(to, 200))
		}
		t.flow.note("redirected to %s", mask.URL(next.String()))
		target = next.String()
	}
}

// post sends a form or JSON. It is never redirected: what it carries is for that endpoint alone.
func (t *talk) post(ctx context.Context, target, contentType string, body []byte, header http.Header) (*reply, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, target, bytes.NewReader(body))
	if err != nil {
		return nil, &Violation{ByIssuer, "RFC 8414 section 2", fmt.Sprintf("%q is not a URL", text.Clip(mask.URL(target), 200))}
	}
	for name, values := range header {
		req.Header[name] = values
	}
	req.Header.Set("Content-Type", contentType)
	req.Header.Set("Accept", "application/json")
	if err := t.confirmUnverified(ctx, req.URL); err != nil {
		return nil, err
	}
	return t.send(req)
}

// confirmUnverified lets the user judge whether a secret is sent in a login at a server whose certificate nobody checks, wherever it goes:
// that is what the server says, or somebody on the way. It is asked once for each server.
func (t *talk) confirmUnverified(ctx context.Context, to *url.URL) error {
	if !t.server.Unverified() || t.risked.Load() {
		return nil
	}
	if t.person != nil {
		ok, err := t.person.Confirm(ctx, "The certificate of "+t.url.Host+" is not checked: anybody on the way can lead this login elsewhere, or read its tokens. Go on?")
		if err != nil {
			return err
		}
		if ok {
			t.risked.Store(true)
			t.flow.note("the certificate of %s is not checked", t.url.Host)
			return nil
		}
	}
	return &failure.Error{
		Kind: failure.OAuth, URL: mask.URL(to.String()), Message: "the certificate of " + t.url.Host + " is not checked, so no secret is sent in its login",
		Next: "name the file of certificates by which it is trusted", Remedy: failure.TrustAuthority,
	}
}

// send makes one exchange, and once more when the user allows an address that turned out to be near.
func (t *talk) send(req *http.Request) (*reply, error) {
	if err := t.checkURL(req.Context(), req.URL, nil); err != nil {
		return nil, err
	}
	r, err := t.exchange(req)
	var near *errNear
	if !errors.As(err, &near) {
		return r, err
	}
	if err := t.ask(req.Context(), req.URL, ByServer, "is "+near.ip.String()+" here, an address of this machine or its network"); err != nil {
		return nil, err
	}
	if req.GetBody != nil {
		req.Body, _ = req.GetBody() // of bytes in memory
	}
	return t.exchange(req)
}

// exchange sends a request, journals it and its answer without their secrets, and reads the answer whole. A stream of events is not read: nobody
// asked for one, and it has no end. The error is for people, or that of the caller's context.
func (t *talk) exchange(req *http.Request) (*reply, error) {
	caller := req.Context()
	ctx, cancel := context.WithTimeout(caller, fetchTimeout)
	defer cancel()
	req = req.WithContext(ctx)
	req.Header.Set("User-Agent", "mcphud")
	t.mu.Lock()
	tap := t.tap
	t.mu.Unlock()
	e := journal.Entry{Kind: journal.HTTP, Dir: journal.Out, Note: req.Method + " " + mask.URL(req.URL.String()), Method: "login"}
	head := mask.Head(req.Method+" "+req.URL.String()+" HTTP/1.1", req.Header)
	var sent []byte
	if req.GetBody != nil {
		if body, err := req.GetBody(); err == nil {
			sent, _ = io.ReadAll(body) // of bytes in memory
			head = append(append(head, "\r\n\r\n"...), maskBody(req.Header.Get("Content-Type"), sent)...)
		}
	}
	e.Peer = tap.Append(e, head)
	t.flow.step(func(s *Step) { s.Exchanges = append(s.Exchanges, e.Peer) })
	start := time.Now()
	web, err := t.web(req.URL)
	var (
		resp *http.Response
		body []byte
	)
	if err == nil {
		resp, err = web.Do(req)
	}
	if err == nil {
		// A server that asks for no login opens its stream here, which has no end.
		if kind, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type")); kind != "text/event-stream" {
			body, err = io.ReadAll(io.LimitReader(resp.Body, maxDocument+1))
		}
		_ = resp.Body.Close()
	}
	e.Dir, e.Took = journal.In, time.Since(start)
	if err != nil {
		e.Status, e.Note = journal.Failed, mask.Text(err.Error())
		tap.Append(e, nil)
		if caller.Err() != nil {
			return nil, caller.Err()
		}
		return nil, unreachableError(req, err)
	}
	e.Note = resp.Status
	hide := hideSecrets(req, sent)
	head = append(mask.Head(resp.Proto+" "+resp.Status, resp.Header), "\r\n\r\n"...)
	tap.Append(e, []byte(hide.Replace(string(head)+string(maskBody(resp.Header.Get("Content-Type"), body[:min(len(body), maxDocument)])))))
	if len(body) > maxDocument {
		return nil, fmt.Errorf("the answer of %s has more than %s", mask.URL(req.URL.String()), text.Bytes(maxDocument))
	}
	if skew, ok := skewOf(resp.Header, t.opts.Now()); ok {
		t.skew = skew
	}
	return &reply{resp.StatusCode, resp.Header, body, req.URL.String(), hide}, nil
}

// skewOf is how far the clock of whoever answered is ahead.
func skewOf(h http.Header, now time.Time) (skew time.Duration, ok bool) {
	at, err := http.ParseTime(h.Get("Date"))
	return at.Sub(now).Truncate(time.Second), err == nil
}

// web sends requests to one URL: what a name stands for is looked at when it is known.
func (t *talk) web(to *url.URL) (*http.Client, error) {
	c := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	if c.Transport = t.opts.HTTP; c.Transport != nil {
		return c, nil
	}
	server := t.server
	if t.url == nil { // a command, or one whose entry is gone: reached as the environment says
		server = config.Server{Name: server.Name, URL: origin(to)}
	}
	network, err := transport.NewNetwork(server)
	if err != nil {
		return nil, err
	}
	limit := t.limit()
	if proxy, err := network.Proxy(to); t.near[to.Host] || err == nil && proxy != nil {
		limit = listen.Machine // the user has allowed it, or the proxy knows what the name stands for
	}
	dialer := &net.Dialer{Timeout: fetchTimeout, Control: func(_, address string, _ syscall.RawConn) error {
		at, err := netip.ParseAddrPort(address)
		if err == nil && listen.ReachOfIP(at.Addr()) < limit {
			return &errNear{to, at.Addr()}
		}
		return nil
	}}
	via := network.Transport(to, dialer.DialContext)
	// One exchange is all that a connection is for.
	via.TLSHandshakeTimeout, via.DisableKeepAlives, via.MaxResponseHeaderBytes = fetchTimeout, true, 256<<10
	c.Transport = via
	return c, nil
}

// limit is the nearest that a server may send us to unasked: not nearer than itself. A command sends nobody anywhere: what its
// configuration names is allowed by that, and nothing near beside it.
func (t *talk) limit() listen.Reach {
	if t.url == nil {
		return listen.Anywhere
	}
	return listen.ReachOf(t.url)
}

// serverName is the server in a question: its host, or the command's name.
func (t *talk) serverName() string {
	if t.url == nil {
		return t.server.Name
	}
	return t.url.Host
}

// errNear is a name that stands for an address nearer than it may be.
type errNear struct {
	url *url.URL
	ip  netip.Addr
}

func (e *errNear) Error() string { return e.url.Host + " is " + e.ip.String() + " here" }

// checkURL says whether a server may send us, or a browser, to a URL.
func (t *talk) checkURL(ctx context.Context, u *url.URL, by *Violation) error {
	if by == nil {
		by = &Violation{By: ByServer, Section: "OAuth 2.1 section 1.5"}
	}
	switch {
	case len(u.String()) > maxURL:
		return &Violation{by.By, by.Section, fmt.Sprintf("the URL at %q is longer than %s", text.Clip(u.Host, 100), text.Bytes(maxURL))}
	case u.Scheme != "https" && u.Scheme != "http":
		return &Violation{by.By, by.Section, fmt.Sprintf("%q is not an https URL", text.Clip(mask.URL(u.String()), 200))}
	case u.Host == "" || u.User != nil:
		return &Violation{by.By, by.Section, fmt.Sprintf("%q has no plain host", text.Clip(mask.URL(u.String()), 200))}
	case u.Scheme == "http" && listen.ReachOf(u) != listen.Machine:
		return &Violation{by.By, by.Section, fmt.Sprintf("%q is not encrypted: https is a must beyond this machine", text.Clip(mask.URL(u.String()), 200))}
	case listen.ReachOf(u) >= t.limit() || t.near[u.Host]:
		return nil
	}
	return t.ask(ctx, u, by.By, "is a program of this machine or its network")
}

// ask lets the user judge an address that is nearer than the server.
func (t *talk) ask(ctx context.Context, u *url.URL, by Party, what string) error {
	if t.person != nil {
		ok, err := t.person.Confirm(ctx, fmt.Sprintf("%s sends you to %s, which %s. Go on?", t.serverName(), u.Host, what))
		if err != nil {
			return err
		}
		if ok {
			t.near[u.Host] = true
			t.flow.note("%s was allowed: it %s", u.Host, what)
			return nil
		}
	}
	return &Violation{by, "RFC 9728 section 7.7", fmt.Sprintf("it sends to %s, which %s", u.Host, what)}
}

// unreachableError says in plain words why there was no answer.
func unreachableError(req *http.Request, err error) error {
	if near := (*errNear)(nil); errors.As(err, &near) {
		return near
	}
	e := &failure.Error{Kind: failure.OAuth, URL: mask.URL(req.URL.String()), Next: "check the network, then log in again"}
	if req.Context().Err() != nil { // which is about this exchange, not about the login
		e.Message = req.URL.Host + " did not answer within " + text.Duration(fetchTimeout)
		return e
	}
	var ue *url.Error
	if errors.As(err, &ue) {
		err = ue.Err // the URL is said already, masked
	}
	e.Message, e.Err = req.URL.Host+" cannot be reached: "+mask.Text(err.Error()), err
	return e
}

// document decodes the JSON of an answer into v: strictly, since nothing is guessed where it is about tokens.
func document(r *reply, v any) error {
	if err := json.Unmarshal(r.body, v, jsontext.AllowInvalidUTF8(false)); err != nil {
		return fmt.Errorf("%s is not the JSON that it should be: %s", mask.URL(r.url), r.said.Replace(mask.Text(err.Error())))
	}
	return nil
}
