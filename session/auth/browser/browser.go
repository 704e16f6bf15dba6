// Package browser is the person of a login (auth.Person): it shows a URL, opens it in the user's browser where there is one, and
// takes the browser back, by a callback on loopback or by what the user pastes. A terminal, a screen and an API share it.
package browser

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"strconv"
	"sync"
	"sync/atomic"

	"github.com/mcphud/mcphud/session/auth"
	"github.com/mcphud/mcphud/session/base/failure"
	"github.com/mcphud/mcphud/session/base/listen"
	"github.com/mcphud/mcphud/session/base/mask"
)

// Person implements auth.Person by what a surface can do. All functions may be called from any goroutine.
type Person struct {
	// Ask asks a question that yes or no answers; nil for no.
	Ask func(ctx context.Context, question string) (bool, error)
	// Show shows the URL before anything opens it, and returns at once; nil for nobody.
	Show func(Page)
	// Paste waits for what the user pastes, and is called again after it. An error ends that, and ctx must; nil where nobody can.
	Paste func(ctx context.Context) (string, error)
	// Open opens the URL; nil where that is not wanted. See the function Open.
	Open func(ctx context.Context, page string) error
	// Elsewhere says that whoever shows the URL takes the browser back: nothing listens here, and the callback is pasted.
	Elsewhere bool
	// Note takes what went wrong without ending the waiting, such as a text that is not the right URL; nil for nobody.
	Note func(error)
}

// Page is a URL that the user has to open.
type Page struct {
	URL      string
	Redirect string // where the browser comes back to
	Listens  bool   // something here waits for it there; else it has to be pasted
}

// Confirm implements auth.Person.
func (p *Person) Confirm(ctx context.Context, question string) (bool, error) {
	if p.Ask == nil {
		return false, nil
	}
	return p.Ask(ctx, question)
}

// Expect implements auth.Person. A redirect to another machine, or one over TLS, can only be pasted back.
func (p *Person) Expect(ctx context.Context, redirect string) (auth.Visit, error) {
	if redirect == "" {
		all, err := listen.Listen(ctx, "127.0.0.1", 0)
		if err != nil {
			return nil, &failure.Error{Kind: failure.OAuth, Message: "cannot wait for the browser: " + err.Error(), Err: err, Next: "allow programs to listen on 127.0.0.1"}
		}
		at := &url.URL{Scheme: "http", Host: all[0].Addr().String(), Path: "/callback"}
		return &visit{person: p, redirect: at, text: at.String(), listeners: all}, nil
	}
	u, err := url.Parse(redirect)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.Fragment != "" {
		return nil, &failure.Error{Kind: failure.Usage, Message: fmt.Sprintf("the redirect %q is not an http URL", mask.URL(redirect)), Next: "configure one such as http://127.0.0.1:8080/callback"}
	}
	v := &visit{person: p, redirect: u, text: redirect}
	if p.Elsewhere || u.Scheme == "https" || !listen.Loopback(u.Hostname()) {
		if p.Paste == nil {
			return nil, &failure.Error{Kind: failure.OAuth, Message: "the browser comes back to " + mask.URL(redirect) + ", which is not here", Next: "log in where the URL that it ends at can be pasted"}
		}
		return v, nil
	}
	port := 80
	if u.Port() != "" {
		if port, err = strconv.Atoi(u.Port()); err != nil || port == 0 {
			return nil, &failure.Error{Kind: failure.Usage, Message: fmt.Sprintf("the redirect %q has no port that a browser can come back to", mask.URL(redirect)), Next: "configure one such as http://127.0.0.1:8080/callback"}
		}
	}
	if v.listeners, err = listen.Listen(ctx, u.Hostname(), port); err != nil {
		return nil, &failure.Error{
			Kind: failure.OAuth, Message: "cannot wait for the browser at " + mask.URL(redirect) + ": " + err.Error(), Err: err,
			Next: "end what uses the port, or configure another redirect",
		}
	}
	return v, nil
}

// visit implements auth.Visit.
type visit struct {
	person    *Person
	redirect  *url.URL
	text      string         // of redirect, as it was given: authorization servers compare characters
	listeners []net.Listener // none where nothing can listen

	mine  func(*url.URL) bool
	taken atomic.Bool   // somebody brought it back
	back  chan *url.URL // of capacity 1
}

func (v *visit) Redirect() string { return v.text }

// Close implements auth.Visit.
func (v *visit) Close() (err error) {
	for _, l := range v.listeners {
		if e := l.Close(); !errors.Is(e, net.ErrClosed) {
			err = errors.Join(err, e)
		}
	}
	return err
}

// Go implements auth.Visit. It is called once.
func (v *visit) Go(ctx context.Context, authorize *url.URL, mine func(*url.URL) bool) (*url.URL, error) {
	if err := checkPage(authorize.String()); err != nil {
		return nil, err
	}
	v.mine, v.back = mine, make(chan *url.URL, 1)
	over := ctx
	ctx, cancel := context.WithCancelCause(ctx)
	var wg sync.WaitGroup
	defer wg.Wait()
	defer cancel(nil)
	defer v.serve(&wg)()
	p := v.person
	if p.Show != nil {
		p.Show(Page{URL: authorize.String(), Redirect: v.text, Listens: len(v.listeners) > 0})
	}
	if p.Open != nil {
		wg.Go(func() {
			if err := p.Open(ctx, authorize.String()); err != nil && ctx.Err() == nil {
				p.note(err)
			}
		})
	}
	if p.Paste != nil {
		wg.Go(func() {
			if err := v.readPasted(ctx); err != nil && len(v.listeners) == 0 {
				cancel(err)
			}
		})
	}
	select {
	case u := <-v.back:
		return u, nil
	case <-ctx.Done():
		if err := over.Err(); err != nil {
			return nil, err
		}
		return nil, context.Cause(ctx)
	}
}

// readPasted takes what the user pastes, until something of it is the callback.
func (v *visit) readPasted(ctx context.Context) error {
	for {
		text, err := v.person.Paste(ctx)
		if err != nil {
			return &failure.Error{Kind: failure.OAuth, Message: "nobody pasted the URL that the browser ended at", Err: err, Next: "log in at a terminal"}
		}
		if text == "" {
			continue
		}
		u, err := parsePasted(text, v.redirect)
		if err == nil && !v.mine(u) {
			err = errForeign
		}
		if err != nil {
			v.person.note(err)
			continue
		}
		if v.taken.CompareAndSwap(false, true) {
			v.back <- u
		}
		return nil
	}
}

func (p *Person) note(err error) {
	if p.Note != nil {
		p.Note(err)
	}
}
