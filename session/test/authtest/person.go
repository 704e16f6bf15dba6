package authtest

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"sync"

	"github.com/mcphud/mcphud/session/auth"
)

// Person is an auth.Person whose browser goes where it is sent, and agrees to everything. The zero value is usable.
type Person struct {
	HTTP     http.RoundTripper // of the browser; nil for the network
	Redirect string            // where the browser comes back to; "" for http://127.0.0.1:7777/callback
	Agrees   bool              // the answer to questions
	Taken    string            // a redirect that cannot be expected at, as if its port were taken
	// Browse is what the browser does instead of Visit.
	Browse func(ctx context.Context, authorize *url.URL) (*url.URL, error)

	mu      sync.Mutex
	asked   []string
	shown   []string
	foreign int
	open    int
}

// Confirm answers as the person does.
func (p *Person) Confirm(_ context.Context, question string) (bool, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.asked = append(p.asked, question)
	return p.Agrees, nil
}

// Expect expects the browser at the redirect that is wanted.
func (p *Person) Expect(_ context.Context, redirect string) (auth.Visit, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if redirect != "" && redirect == p.Taken {
		return nil, fmt.Errorf("listen at %s: address already in use", redirect)
	}
	p.open++
	if redirect == "" {
		redirect = p.Redirect
	}
	if redirect == "" {
		redirect = "http://127.0.0.1:7777/callback"
	}
	return &visit{p, redirect}, nil
}

// Asked are the questions so far.
func (p *Person) Asked() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.asked)
}

// Shown are the authorization URLs so far.
func (p *Person) Shown() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.shown)
}

// Foreign is how many browsers came back that nobody waited for.
func (p *Person) Foreign() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.foreign
}

// Open is how many visits were not closed.
func (p *Person) Open() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.open
}

type visit struct {
	*Person
	redirect string
}

func (v *visit) Redirect() string { return v.redirect }

// Go shows the URL, and comes back with what the browser does. What is not mine is waited through.
func (v *visit) Go(ctx context.Context, authorize *url.URL, mine func(*url.URL) bool) (*url.URL, error) {
	v.mu.Lock()
	v.shown = append(v.shown, authorize.String())
	v.mu.Unlock()
	browse := v.Browse
	if browse == nil {
		browse = func(ctx context.Context, u *url.URL) (*url.URL, error) { return Visit(ctx, v.HTTP, u) }
	}
	back, err := browse(ctx, authorize)
	if err != nil {
		return nil, err
	}
	if !mine(back) {
		v.mu.Lock()
		v.foreign++
		v.mu.Unlock()
		<-ctx.Done()
		return nil, ctx.Err()
	}
	return back, nil
}

func (v *visit) Close() error {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.open--
	return nil
}

// Visit is what a browser does with an authorization URL: it asks, and finds out where it is sent back to. via reaches the
// authorization server; nil for the network.
func Visit(ctx context.Context, via http.RoundTripper, authorize *url.URL) (*url.URL, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, authorize.String(), nil)
	if err != nil {
		return nil, err
	}
	if via == nil {
		via = &http.Transport{DisableKeepAlives: true}
	}
	resp, err := via.RoundTrip(req)
	if err != nil {
		return nil, err
	}
	_ = resp.Body.Close()
	if resp.StatusCode != http.StatusFound {
		return nil, fmt.Errorf("the authorization endpoint answered with %s", resp.Status)
	}
	return resp.Location()
}
