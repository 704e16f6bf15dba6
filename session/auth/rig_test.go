package auth_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/mcphud/mcphud/session"
	"github.com/mcphud/mcphud/session/auth"
	"github.com/mcphud/mcphud/session/base/failure"
	"github.com/mcphud/mcphud/session/config"
	"github.com/mcphud/mcphud/session/test/authtest"
	"github.com/mcphud/mcphud/session/test/require"
	"github.com/mcphud/mcphud/session/test/require/assert"
	"github.com/mcphud/mcphud/session/test/sessiontest"
	"github.com/mcphud/mcphud/session/wire/transport"
)

// rig is a session at a protected server, and who logs in.
type rig struct {
	*authtest.Server
	t      *testing.T
	m      *session.Manager
	s      *session.Session
	p      *authtest.Person
	off    atomic.Int64 // how far the clock of the authorizer is ahead, in ns
	mu     sync.Mutex
	errors []error
	flows  []*auth.Flow
	first  *authtest.Issuer // whom the server had at the beginning
}

// public is a rig in memory, at public names; local is one on loopback.
func public(t *testing.T, k authtest.Knobs) *rig {
	return at(t, authtest.Memory(t, k), auth.Options{}, nil)
}

func local(t *testing.T, k authtest.Knobs) *rig {
	return at(t, authtest.Start(t, k), auth.Options{}, nil)
}

// at is a session with a configuration that edit may change. At the end of the test, none of the secrets may have been written
// anywhere.
func at(t *testing.T, srv *authtest.Server, o auth.Options, edit func(*config.Server)) *rig {
	t.Helper()
	cfg := srv.Config()
	if edit != nil {
		edit(&cfg)
	}
	o.HTTP = srv.HTTP
	r := &rig{Server: srv, first: srv.Issuer, t: t, p: &authtest.Person{HTTP: srv.HTTP}}
	if o.Now == nil {
		o.Now = func() time.Time { return time.Now().Add(time.Duration(r.off.Load())) }
	}
	r.m, r.s = sessiontest.Register(t, session.Options{Auth: &o, Transport: transport.Options{Via: srv.HTTP}}, cfg)
	t.Cleanup(r.keepsSecrets)
	return r
}

// connect connects without a login, which the server has to refuse.
func (r *rig) connect() {
	r.t.Helper()
	err := r.s.Connect(r.t.Context())
	r.keep(err)
	if e := (*failure.Error)(nil); !errors.As(err, &e) || e.Kind != failure.OAuth || e.Remedy != failure.LogIn || r.s.Status().State != session.NeedsLogin {
		r.t.Fatalf("connected without a login: %v, state %s", err, r.s.Status().State)
	}
}

// login connects, and logs in.
func (r *rig) login() error {
	r.t.Helper()
	r.connect()
	return r.again(r.t.Context())
}

// again logs in.
func (r *rig) again(ctx context.Context) error {
	err := r.s.Authorizer().Login(ctx, r.p, auth.LoginOptions{})
	r.keep(err)
	if f := r.s.Authorizer().Status().Flow; f != nil {
		r.flows = append(r.flows, f)
	}
	return err
}

// open logs in and connects.
func (r *rig) open() *rig {
	r.t.Helper()
	require.NoError(r.t, r.login())
	require.NoError(r.t, r.s.Connect(r.t.Context()))
	return r
}

// call calls the tool echo, or another one.
func (r *rig) call(tool string) error {
	reply, err := r.s.CallTool(r.t.Context(), tool, json.RawMessage(`{"text":"hello"}`), session.CallOptions{})
	if err == nil && !strings.Contains(string(reply.Result), "content") {
		err = fmt.Errorf("the answer is %s", reply.Result)
	}
	r.keep(err)
	return err
}

// keep keeps errors, for keepsSecrets.
func (r *rig) keep(errs ...error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.errors = append(r.errors, errs...)
}

// step is the step of that name of the last login.
func (r *rig) step(name string) auth.Step {
	r.t.Helper()
	steps := r.s.Authorizer().Status().Flow.Steps()
	for _, s := range steps {
		if s.Name == name {
			return s
		}
	}
	r.t.Fatalf("there is no step %q in %+v", name, steps)
	return auth.Step{}
}

// last is the last step.
func (r *rig) last() auth.Step {
	r.t.Helper()
	steps := r.s.Authorizer().Status().Flow.Steps()
	if len(steps) == 0 {
		r.t.Fatal("there are no steps")
	}
	return steps[len(steps)-1]
}

// journal is everything in the journal as text.
func (r *rig) journal() string {
	var b strings.Builder
	for _, e := range r.m.Journal().Snapshot(0, nil) {
		fmt.Fprintf(&b, "%+v\n", e)
		if e.Size == 0 {
			continue
		}
		body, err := r.m.Journal().Body(e.Seq)
		assert.NoError(r.t, err)
		b.Write(body)
		b.WriteByte('\n')
	}
	return b.String()
}

// keepsSecrets looks for secrets where somebody could read them.
func (r *rig) keepsSecrets() {
	secrets := append(r.Issuer.Secrets(), r.first.Secrets()...)
	where := map[string]string{"the journal": r.journal(), "status": fmt.Sprintf("%+v", r.s.Status())}
	for i, err := range r.errors {
		where[fmt.Sprintf("error %d", i)] = fmt.Sprintf("%v %+v %#v", err, err, errors.Unwrap(err))
	}
	for i, f := range r.flows {
		where[fmt.Sprintf("flow %d", i)] = fmt.Sprintf("%+v", f.Steps())
	}
	for _, secret := range secrets {
		for place, text := range where {
			if i := strings.Index(text, secret); i >= 0 {
				r.t.Errorf("%s is in %s: …%.300s", secret, place, text[max(0, i-150):])
			}
		}
	}
}
