package auth_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/mcphud/mcphud/session/auth"
	"github.com/mcphud/mcphud/session/base/failure"
	"github.com/mcphud/mcphud/session/config"
	"github.com/mcphud/mcphud/session/test/authtest"
	"github.com/mcphud/mcphud/session/test/require/assert"
)

// brittle is a store that cannot be read.
type brittle struct {
	auth.Store
	find func(resource string) ([]auth.Credentials, error)
}

func (b *brittle) Find(_ context.Context, resource string) ([]auth.Credentials, error) {
	return b.find(resource)
}

// A store that cannot be read does not concern a server without a login, and is said where one is needed.
func TestUnreadableStore(t *testing.T) {
	store := &brittle{auth.NewMemory(), func(string) ([]auth.Credentials, error) { return nil, errors.New("the file is damaged") }}
	open := newTicketed(t, "X-Ticket", "static")
	r := at(t, authtest.Start(t, authtest.Knobs{}), auth.Options{Store: store}, func(cfg *config.Server) {
		cfg.URL, cfg.Headers = open.URL, map[string]string{"X-Ticket": "static"}
	})
	if err := r.s.Connect(t.Context()); err != nil {
		t.Errorf("a server without a login: %v", err)
	}
	r = at(t, authtest.Start(t, authtest.Knobs{}), auth.Options{Store: store}, nil)
	err := r.s.Connect(t.Context())
	if e := (*failure.Error)(nil); !errors.As(err, &e) || e.Remedy != failure.LogIn || !strings.Contains(e.Detail, "the credentials cannot be read: the file is damaged") {
		t.Errorf("%+v", err)
	}
	assert.NoError(t, r.again(t.Context()))
	if err := r.s.Connect(t.Context()); err != nil {
		t.Errorf("after the login: %v", err)
	}
}

// A login that is there and locked is not sent for anew by itself, and a login takes its place.
func TestLockedLogin(t *testing.T) {
	srv := authtest.Start(t, authtest.Knobs{})
	store := &brittle{auth.NewMemory(), func(resource string) ([]auth.Credentials, error) {
		return []auth.Credentials{{Key: auth.Key{Resource: resource, Issuer: srv.Issuer.URL}}}, auth.ErrLocked
	}}
	r := at(t, srv, auth.Options{Store: store}, nil)
	err := r.s.Connect(t.Context())
	if e := (*failure.Error)(nil); !errors.As(err, &e) || e.Kind != failure.OAuth || e.Remedy != failure.LogIn || !strings.Contains(e.Message, "the keychain cannot be used") || !errors.Is(err, auth.ErrLocked) {
		t.Errorf("%+v", err)
	}
	if n := len(srv.Calls("/mcp")); n > 0 {
		t.Errorf("%d requests went without the login", n)
	}
	assert.NoError(t, r.again(t.Context()))
	if err := r.s.Connect(t.Context()); err != nil {
		t.Errorf("after the login: %v", err)
	}
}

// Credentials that get into a log or an error by mistake show no secret.
func TestCredentialsPrintNoSecret(t *testing.T) {
	c := auth.Credentials{Client: auth.Client{ID: "me", Secret: "zqzq"}, Token: auth.Token{Access: "zqzq", Refresh: "zqzq", Type: "Bearer", Proof: []byte("zqzq")}}
	for _, format := range []string{"%v", "%+v", "%s"} {
		if got := fmt.Sprintf(format+" "+format, c, &c); strings.Contains(got, "zqzq") || strings.Contains(got, "122") || !strings.Contains(got, "client me") {
			t.Errorf("%s: %s", format, got)
		}
	}
}

// What is known is shown while a keychain makes the store wait.
func TestKnownWhileTheStoreWaits(t *testing.T) {
	asked, answer := make(chan struct{}), make(chan struct{})
	store := &brittle{auth.NewMemory(), func(string) ([]auth.Credentials, error) { close(asked); <-answer; return nil, nil }}
	a := auth.New(config.Server{Name: "s", URL: "https://h/mcp"}, auth.Options{Store: store})
	done := make(chan struct{})
	go func() { defer close(done); a.Status() }()
	<-asked
	if a.Known().LoggedIn || a.Refused() != nil { // would never return
		t.Error("it knows too much")
	}
	close(answer)
	<-done
}
