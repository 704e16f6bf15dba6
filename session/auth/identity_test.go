package auth_test

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/mcphud/mcphud/session"
	"github.com/mcphud/mcphud/session/auth"
	"github.com/mcphud/mcphud/session/base/failure"
	"github.com/mcphud/mcphud/session/config"
	"github.com/mcphud/mcphud/session/test/authtest"
	"github.com/mcphud/mcphud/session/test/require"
	"github.com/mcphud/mcphud/session/test/require/assert"
)

// employee is a rig whose server takes the word of an identity provider on loopback, at which a person logs in.
func employee(t *testing.T, store auth.Store, k authtest.Knobs) (*rig, *authtest.Issuer) {
	t.Helper()
	srv := authtest.Start(t, authtest.Knobs{Other: func(r *http.Request) string {
		if c := auth.ParseClaims(r.PostForm.Get("assertion")); r.PostForm.Get("grant_type") != bearerGrant || c == nil || c.Type != "oauth-id-jag+jwt" {
			return "invalid_grant"
		}
		return ""
	}})
	if k.Identity == nil {
		k.Identity = func(map[string]any) {}
	}
	idp := authtest.NewIssuer(t, k)
	idp.Client("at-idp", "zqidpsecretzq", "client_secret_basic")
	r := at(t, srv, auth.Options{Store: store}, func(s *config.Server) {
		s.OAuth = &config.OAuth{Grant: config.GrantEnterprise, ClientID: "mcphud", IDPIssuer: idp.URL, IDPClientID: "at-idp", IDPClientSecret: "zqidpsecretzq"}
	})
	t.Cleanup(func() { // before rig looks
		for _, secret := range append(idp.Secrets(), "zqidpsecretzq") {
			assert.NotContains(t, r.journal(), secret)
		}
	})
	return r, idp
}

func offersOffline(doc map[string]any) {
	doc["scopes_supported"] = []string{"openid", "offline_access"}
}

// A person logs in at the identity provider, once for all servers that take its word, and by whichever program.
func TestLoginAtAnIdentityProvider(t *testing.T) {
	store := auth.NewMemory()
	r, idp := employee(t, store, authtest.Knobs{Metadata: offersOffline})
	r.open()
	require.NoError(t, r.call("echo"))
	u, err := url.Parse(r.p.Shown()[0])
	require.NoError(t, err)
	if q := u.Query(); !strings.HasPrefix(u.String(), idp.URL+"/authorize?") || q.Get("scope") != "openid offline_access" || q.Get("nonce") == "" || q.Get("nonce") == q.Get("state") || q.Get("client_id") != "at-idp" || q.Has("resource") {
		t.Errorf("shown %s", u)
	}
	if s := r.step(auth.StepIdentity); s.State != auth.Done || s.URL != "" {
		t.Errorf("step %+v", s)
	}
	found, err := store.Find(t.Context(), "")
	if err != nil || len(found) != 1 || found[0].Key != auth.IdentityKey(idp.URL) || found[0].Token.ID == "" || found[0].Token.Access != "" {
		t.Fatalf("kept %+v: %v", found, err)
	}

	m := session.NewManager(session.Options{Auth: &auth.Options{Store: store}})
	t.Cleanup(func() { _ = m.Close() })
	again, err := m.Register(r.s.Config())
	require.NoError(t, err)
	if err := again.Connect(t.Context()); err != nil || len(idp.Calls("/authorize")) != 1 {
		t.Errorf("another program asked again: %v", err)
	}
	if err := r.s.Authorizer().Forget(t.Context()); err != nil || len(idp.Calls("/revoke")) != 1 {
		t.Errorf("%d revocations: %v", len(idp.Calls("/revoke")), err)
	}
	if found, err := store.Find(t.Context(), ""); err != nil || len(found) != 0 {
		t.Errorf("kept %d: %v", len(found), err)
	}
}

// What an ID token has to say is checked before it is kept or shown to anybody.
func TestAWrongIDToken(t *testing.T) {
	set := func(name string, v any) func(map[string]any) { return func(c map[string]any) { c[name] = v } }
	for name, c := range map[string]struct {
		edit func(claims map[string]any)
		says string
	}{
		"another nonce":     {set("nonce", "theirs"), "nonce"},
		"no nonce":          {func(c map[string]any) { delete(c, "nonce") }, "nonce"},
		"another issuer":    {set("iss", "https://evil.example.com"), "evil.example.com"},
		"another audience":  {set("aud", "somebody"), "not for the client"},
		"several, nobody":   {set("aud", []string{"at-idp", "somebody"}), "was given to"},
		"given to another":  {set("azp", "somebody"), "was given to"},
		"over":              {set("exp", 1), "has expired"},
		"without an end":    {func(c map[string]any) { delete(c, "exp") }, "has expired"},
		"about nobody":      {set("sub", ""), "about whom"},
		"a number as nonce": {set("nonce", 1), "not a string"},
	} {
		t.Run(name, func(t *testing.T) {
			store := auth.NewMemory()
			r, idp := employee(t, store, authtest.Knobs{Identity: c.edit})
			err := r.login()
			v := (*auth.Violation)(nil)
			if !errors.As(err, &v) || v.By != auth.ByIssuer || !strings.Contains(v.What, c.says) {
				t.Errorf("got %v", err)
			}
			if n := len(idp.Calls("/token")); n != 1 || len(r.Issuer.Calls("/token")) != 0 || r.p.Open() != 0 {
				t.Errorf("%d requests there, %d here, %d browsers", n, len(r.Issuer.Calls("/token")), r.p.Open())
			}
			if found, _ := store.Find(t.Context(), ""); len(found) != 0 {
				t.Errorf("kept %d", len(found))
			}
		})
	}
}

func TestNoIDToken(t *testing.T) {
	r, _ := employee(t, nil, authtest.Knobs{Token: func(doc map[string]any) { delete(doc, "id_token") }})
	assert.ErrorContains(t, r.login(), "no id_token")
}

// A login that a person refuses, or that comes back from another issuer, leaves nothing.
func TestARefusedLoginAtAnIdentityProvider(t *testing.T) {
	for says, k := range map[string]authtest.Knobs{
		"access_denied": {Refuse: map[string]string{"/authorize": "access_denied"}},
		"iss is":        {Back: func(q url.Values) { q.Set("iss", "https://evil.example.com") }},
	} {
		r, idp := employee(t, nil, k)
		err := r.login()
		if err == nil || !strings.Contains(err.Error(), says) || len(idp.Calls("/token")) != 0 {
			t.Errorf("got %v after %d token requests", err, len(idp.Calls("/token")))
		}
		if e := (*failure.Error)(nil); says == "access_denied" && (!errors.As(err, &e) || e.Next != "log in again, and allow it") {
			t.Errorf("got %+v", e)
		}
		if s := r.step(auth.StepIdentity); s.State != auth.Failed {
			t.Errorf("step %+v", s)
		}
	}
}

// An ID token that has expired is refreshed where that is possible, else a person has to log in again; and so where the identity
// provider has ended the login.
func TestIDTokensEnd(t *testing.T) {
	for name, c := range map[string]struct {
		knobs  authtest.Knobs
		before func(r *rig, idp *authtest.Issuer)
		alone  bool // nobody is needed
	}{
		"refreshed": {authtest.Knobs{}, func(r *rig, _ *authtest.Issuer) { r.off.Store(int64(59*time.Minute + 45*time.Second)) }, true},
		"cannot be": {authtest.Knobs{Token: func(doc map[string]any) { delete(doc, "refresh_token") }}, func(r *rig, _ *authtest.Issuer) { r.off.Store(int64(59*time.Minute + 45*time.Second)) }, false},
		"refresh refused": {authtest.Knobs{}, func(r *rig, idp *authtest.Issuer) {
			r.off.Store(int64(59*time.Minute + 45*time.Second))
			idp.ExpireRefresh()
		}, false},
		"ended at provider": {authtest.Knobs{}, func(_ *rig, idp *authtest.Issuer) { idp.EndIdentities() }, false},
	} {
		t.Run(name, func(t *testing.T) {
			r, idp := employee(t, auth.NewMemory(), c.knobs)
			r.open()
			require.NoError(t, r.s.Disconnect())
			r.Issuer.Expire()
			c.before(r, idp)
			if c.alone {
				if err := r.s.Connect(t.Context()); err != nil || len(idp.Calls("/authorize")) != 1 {
					t.Errorf("after %d logins: %v", len(idp.Calls("/authorize")), err)
				}
				return
			}
			r.connect()
			asked := len(idp.Calls("/token"))
			r.connect()
			if name == "ended at provider" && len(idp.Calls("/token")) != asked {
				t.Error("what was refused is sent again")
			}
			require.NoError(t, r.again(t.Context()))
			if err := r.s.Connect(t.Context()); err != nil || len(idp.Calls("/authorize")) != 2 {
				t.Errorf("after %d logins: %v", len(idp.Calls("/authorize")), err)
			}
		})
	}
}

// A refreshed ID token is about the same person.
func TestARefreshedIDTokenOfAnother(t *testing.T) {
	r, idp := employee(t, auth.NewMemory(), authtest.Knobs{})
	r.open()
	require.NoError(t, r.s.Disconnect())
	r.Issuer.Expire()
	r.off.Store(int64(59*time.Minute + 45*time.Second))
	idp.Set(func(k *authtest.Knobs) { k.Identity = func(c map[string]any) { c["sub"] = "eve" } })
	if err := r.s.Connect(t.Context()); err == nil || !strings.Contains(fmt.Sprint(err), "somebody else") {
		t.Errorf("got %v", err)
	}
}

// Who logs in as somebody else is asked by the identity provider, whatever is kept; a login of another client is none.
func TestAnotherLoginAtAnIdentityProvider(t *testing.T) {
	store := auth.NewMemory()
	r, idp := employee(t, store, authtest.Knobs{})
	r.open()
	if err := r.s.Authorizer().Login(t.Context(), r.p, auth.LoginOptions{Other: true}); err != nil || len(idp.Calls("/authorize")) != 2 || !strings.Contains(r.p.Shown()[1], "prompt=login") {
		t.Errorf("%v, shown %v", err, r.p.Shown())
	}
	found, err := store.Find(t.Context(), "")
	if err != nil || len(found) != 1 {
		t.Fatal(err)
	}
	found[0].Client.ID = "another"
	require.NoError(t, store.Put(t.Context(), found[0]))
	require.NoError(t, r.call("echo"))
	r.Issuer.Expire()
	if err := r.call("echo"); failure.RemedyOf(err) != failure.LogIn {
		t.Errorf("got %v", err)
	}
}
