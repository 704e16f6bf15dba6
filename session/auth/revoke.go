package auth

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"time"

	"github.com/mcphud/mcphud/session/base/mask"
)

// revokeTimeout bounds what Forget waits for an authorization server.
const revokeTimeout = 5 * time.Second

// Forget revokes the tokens for this server (RFC 7009), as far as the authorization server can, and removes the credentials from
// memory and from the store in any case. Its Flow is in Status.
func (a *Authorizer) Forget(ctx context.Context) error {
	f, _, done, err := a.start()
	if err != nil {
		return err
	}
	defer done()
	found, err := a.drop(ctx)
	t, seen := a.talk(f, nil), map[string]bool{"": true}
	for _, c := range found {
		if token := cmp.Or(c.Token.Access, c.Token.Refresh); !seen[token] {
			seen[token] = true
			f.begin(StepRevoke)
			f.end(t.revoke(ctx, &c))
		}
	}
	return err
}

// drop removes the credentials, and returns them. Nobody renews them meanwhile: it holds busy, or a renewal that runs would put them back.
func (a *Authorizer) drop(ctx context.Context) (found []Credentials, err error) {
	select {
	case a.busy <- struct{}{}:
		defer func() { <-a.busy }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	found, err = a.opts.Store.Find(ctx, a.keptAs)
	if len(found) > 0 {
		err = nil // what cannot be read can be deleted
	}
	if c := a.creds.Swap(nil); c != nil {
		found = append(found, *c)
	}
	a.ended.Store(nil)
	for _, c := range found {
		err = errors.Join(err, a.opts.Store.Delete(ctx, c.Key))
	}
	if issuer := a.server.OAuth.LogsInAt(); issuer != "" { // it would bring back the rest
		if c, _ := a.keptIdentity(ctx); c != nil {
			found = append(found, *c)
		}
		err = errors.Join(err, a.people.Delete(ctx, IdentityKey(issuer)))
	}
	return found, err
}

// revoke tells an authorization server that its tokens are not needed any more.
func (t *talk) revoke(ctx context.Context, c *Credentials) (StepState, error) {
	if c.RevokeURL == "" {
		t.flow.note("%s has no revocation endpoint: the tokens are good until they expire", mask.URL(c.Issuer))
		return Skipped, nil
	}
	if u, err := url.Parse(c.RevokeURL); err == nil {
		t.near[u.Host] = true // whoever logged in there was asked
	}
	ctx, cancel := context.WithTimeout(ctx, revokeTimeout)
	defer cancel()
	for _, token := range []struct{ value, hint string }{{c.Token.Refresh, "refresh_token"}, {c.Token.Access, "access_token"}} {
		if token.value == "" {
			continue
		}
		form, header := url.Values{"token": {token.value}, "token_type_hint": {token.hint}}, http.Header{}
		if err := t.authenticate(t.at(c, c.RevokeURL), &c.Client, form, header); err != nil {
			return Failed, err
		}
		r, err := t.post(ctx, c.RevokeURL, "application/x-www-form-urlencoded", []byte(form.Encode()), header)
		if err != nil {
			return Failed, err
		}
		var e tokenReply
		if r.status != http.StatusOK {
			if document(r, &e) == nil && e.Error == "unsupported_token_type" {
				t.flow.note("the authorization server does not revoke the %s", token.hint)
				continue
			}
			return Failed, fmt.Errorf("the revocation endpoint answered with %d %s %s", r.status, http.StatusText(r.status), mask.Text(r.said.Replace(e.Error)))
		}
		t.flow.note("%s revoked", token.hint)
	}
	return Done, nil
}
