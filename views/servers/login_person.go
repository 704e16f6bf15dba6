package servers

import (
	"context"
	"sync"

	tea "charm.land/bubbletea/v2"

	"github.com/mcphud/mcphud/session/auth/browser"
)

// visitor is whoever sits before the login screen: what a login asks of a person becomes messages of the screen, and what keys do
// goes back to the login.
type visitor struct {
	events chan tea.Msg
	pasted chan string
	shown  chan struct{} // closed once the URL was on the screen
	show   func()        // closes it
	over   chan struct{} // closed when the login ended
}

func newVisitor() *visitor {
	shown := make(chan struct{})
	return &visitor{events: make(chan tea.Msg), pasted: make(chan string, 1), shown: shown, show: sync.OnceFunc(func() { close(shown) }), over: make(chan struct{})}
}

// Messages of a login to its screen.
type (
	loginAsked struct { // a question
		*visitor
		question string
		answer   chan bool
	}
	loginWaits struct { // for a browser
		*visitor
		page browser.Page
	}
	loginNoted struct { // what did not help
		*visitor
		err error
	}
	loginTick struct{} // a countdown must move
)

// person is the visitor as a login knows one, until ctx ends. open opens a page once it was on the screen; nil for not by itself.
func (p *visitor) person(ctx context.Context, open func(context.Context, string) error) *browser.Person {
	who := &browser.Person{
		Ask: p.ask, Paste: p.paste,
		Show: func(page browser.Page) { p.notify(ctx, loginWaits{p, page}) },
		Note: func(err error) { p.notify(ctx, loginNoted{p, err}) },
	}
	if open != nil {
		who.Open = func(ctx context.Context, page string) error {
			select {
			case <-p.shown:
				return open(ctx, page)
			case <-ctx.Done():
				return nil
			}
		}
	}
	return who
}

// next gives the next message of the login.
func (p *visitor) next() tea.Msg {
	select {
	case m := <-p.events:
		return m
	case <-p.over:
		return nil
	}
}

func (p *visitor) notify(ctx context.Context, m tea.Msg) {
	select {
	case p.events <- m:
	case <-ctx.Done():
	}
}

func (p *visitor) ask(ctx context.Context, question string) (bool, error) {
	answer := make(chan bool, 1)
	select {
	case p.events <- loginAsked{p, question, answer}:
	case <-ctx.Done():
		return false, ctx.Err()
	}
	select {
	case ok := <-answer:
		return ok, nil
	case <-ctx.Done():
		return false, ctx.Err()
	}
}

func (p *visitor) paste(ctx context.Context) (string, error) {
	select {
	case text := <-p.pasted:
		return text, nil
	case <-ctx.Done():
		return "", ctx.Err()
	}
}
