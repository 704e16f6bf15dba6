package check

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"reflect"
	"strings"

	"github.com/mcphud/mcphud/session/auth"
	"github.com/mcphud/mcphud/session/config"
)

// suiteIdentity is who the suite says that the client is: members of a configuration, some under names of the suite's own.
type suiteIdentity struct {
	config.OAuth
	Key      string `json:"private_key_pem"`
	Alg      string `json:"signing_algorithm"`
	IDToken  string `json:"idp_id_token"`
	IDPToken string `json:"idp_token_endpoint"`
	JWT      string `json:"valid_jwt"`
}

// grants are those of the scenarios in which nobody logs in.
var grants = map[string]string{
	"auth/client-credentials-basic":         config.GrantClient,
	"auth/client-credentials-jwt":           config.GrantClient,
	"auth/enterprise-managed-authorization": config.GrantEnterprise,
	"auth/wif-jwt-bearer":                   config.GrantWorkload,
}

// configured is the configuration of a scenario's server; nil for none.
func (i suiteIdentity) configured(scenario string) *config.OAuth {
	o := i.OAuth
	o.PrivateKey, o.SigningAlg, o.IDToken, o.IDPTokenURL, o.Assertion = i.Key, i.Alg, i.IDToken, i.IDPToken, i.JWT
	o.Grant, o.DPoP = grants[scenario], strings.HasPrefix(scenario, "auth/dpop")
	if reflect.DeepEqual(o, config.OAuth{}) {
		return nil
	}
	return &o
}

// bot is the person of the official suite, whose authorization servers send a browser back at once. It implements auth.Person.
type bot struct{}

// Confirm implements auth.Person.
func (bot) Confirm(context.Context, string) (bool, error) { return false, nil }

// Expect implements auth.Person. Nothing listens there: where the browser is sent is read, not visited.
func (bot) Expect(_ context.Context, redirect string) (auth.Visit, error) {
	if redirect == "" {
		redirect = "http://127.0.0.1/callback"
	}
	return botVisit(redirect), nil
}

// botVisit is a browser, by where it comes back to. It implements auth.Visit.
type botVisit string

// Redirect implements auth.Visit.
func (v botVisit) Redirect() string { return string(v) }

// Close implements auth.Visit.
func (botVisit) Close() error { return nil }

// Go implements auth.Visit.
func (botVisit) Go(ctx context.Context, authorize *url.URL, mine func(*url.URL) bool) (*url.URL, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, authorize.String(), nil)
	if err != nil {
		return nil, err
	}
	c := http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	resp, err := c.Do(req)
	if err != nil {
		return nil, err
	}
	_ = resp.Body.Close() // of no interest
	back, err := resp.Location()
	if err != nil {
		return nil, fmt.Errorf("the authorization endpoint answered with %s: %w", resp.Status, err)
	}
	if !mine(back) {
		return nil, fmt.Errorf("the browser was sent to %s", back)
	}
	return back, nil
}
