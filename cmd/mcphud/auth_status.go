package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/mcphud/mcphud/session/auth"
	"github.com/mcphud/mcphud/session/auth/credstore"
	"github.com/mcphud/mcphud/session/base/failure"
	"github.com/mcphud/mcphud/session/base/mask"
	"github.com/mcphud/mcphud/session/base/text"
	"github.com/mcphud/mcphud/session/config"
)

// loginRow is one login as JSON, without anything secret.
type loginRow struct {
	Servers  []string   `json:"servers"`  // names in the configs
	Resource string     `json:"resource"` // the server's URL
	Issuer   string     `json:"issuer"`
	ClientID string     `json:"clientId,omitempty"`
	Client   string     `json:"client,omitempty"` // configured, document or registered
	Type     string     `json:"tokenType,omitempty"`
	Scopes   []string   `json:"scopes"`
	Obtained *time.Time `json:"obtained,omitempty"`
	Expires  *time.Time `json:"expires,omitempty"`
	Seconds  *int64     `json:"expiresIn,omitempty"` // negative when it is over
	Refresh  bool       `json:"refresh"`             // there is a refresh token
	LoggedIn bool       `json:"loggedIn"`            // there is a token that is good, or a way to another
	Where    string     `json:"where"`
}

func (a *app) loginRow(c auth.Credentials) loginRow {
	row := loginRow{
		Servers: a.serversAt(c.Resource), Resource: mask.URL(c.Resource), Issuer: mask.URL(c.Issuer), ClientID: c.Client.ID, Client: c.Client.Origin, Type: c.Token.Type,
		Scopes: slices.Concat([]string{}, c.Token.Scopes), Refresh: c.Token.Refresh != "", LoggedIn: c.Token.Access+c.Token.ID != "", Where: a.login.Store.Where(),
	}
	if at := c.Token.Obtained; !at.IsZero() {
		row.Obtained = &at
	}
	if at := c.Token.Expires; !at.IsZero() {
		left := int64(time.Until(at).Seconds())
		row.Expires, row.Seconds = &at, &left
		row.LoggedIn = row.Refresh || left > 0 && row.LoggedIn
	}
	return row
}

// serversAt are the names of the servers of the configs whose login that is.
func (a *app) serversAt(resource string) []string {
	names := []string{}
	set, _, err := a.o.load()
	if err != nil {
		return names // what is kept is shown nevertheless
	}
	for _, s := range set.Servers {
		if at := resourceOf(s); at != "" && at == resource {
			names = append(names, s.Name)
		}
	}
	return names
}

// fields are a login for people.
func (r *loginRow) fields() [][2]string {
	client := r.ClientID
	if r.Client != "" {
		client += " (" + r.Client + ")"
	}
	return [][2]string{
		{"login", "at " + r.Issuer},
		{"client", client},
		{"scopes", strings.Join(r.Scopes, " ")},
		{"token", r.ends()},
		{"kept in", r.Where},
	}
}

// ends says how long a token is good.
func (r *loginRow) ends() string {
	again := ""
	if r.Refresh {
		again = "; refreshed by itself"
	}
	switch {
	case r.Seconds == nil && !r.LoggedIn:
		return "none: log in again"
	case r.Seconds == nil:
		return "good until it is revoked" + again
	case *r.Seconds > 0:
		return fmt.Sprintf("expires in %s (%s)%s", text.Duration(time.Duration(*r.Seconds)*time.Second), r.Expires.Local().Format("2006-01-02 15:04:05"), again)
	case r.Refresh:
		return "expired; refreshed when it is used"
	}
	return "expired " + text.Duration(-time.Duration(*r.Seconds)*time.Second) + " ago: log in again"
}

// keptRow are the secrets that are kept of what a server asked for, as JSON without their values.
type keptRow struct {
	Servers []string `json:"servers"` // names in the configs
	For     string   `json:"for"`     // what they belong to: a file and an entry in it, a registry and a name, a file's hash
	Inputs  []string `json:"inputs"`
}

// keptLogins is what is kept of the server that the command line names, or all where it names none: logins, and secrets of inputs.
type keptLogins struct {
	logins  []auth.Credentials
	secrets []keptRow
	who     *config.Server // nil where none is named
	named   bool           // also by what its secrets belong to
}

func (a *app) kept(ctx context.Context, cmd *cobra.Command, args []string) (k keptLogins, err error) {
	logins, err := a.logins(config.Settings{})
	if err != nil {
		return k, err
	}
	secrets, err := credstore.Inputs{Store: logins.Store}.List(ctx)
	if err != nil {
		return k, unreadableLogins(err)
	}
	scope := ""
	if len(args) == 1 && slices.ContainsFunc(secrets, func(s credstore.KeptInputs) bool { return s.Scope == args[0] }) {
		scope, k.named = args[0], true
	} else if len(args) > 0 || a.o.url+a.o.agent+a.o.server != "" {
		s, err := a.anyTarget(cmd, args)
		if err != nil {
			return k, err
		}
		k.who, k.named, scope = &s, true, s.InputScope()
	}
	for _, s := range secrets {
		if !k.named || s.Scope == scope {
			k.secrets = append(k.secrets, keptRow{a.serversAsking(s.Scope), s.Scope, s.Names})
		}
	}
	switch {
	case k.named && k.who == nil:
		return k, nil
	case k.who != nil && resourceOf(*k.who) == "" && len(k.secrets) == 0 && len(k.who.Inputs) == 0:
		return k, notOverHTTP(*k.who)
	case k.who != nil && resourceOf(*k.who) == "":
		return k, nil
	case k.who != nil:
		k.logins, err = logins.Store.Find(ctx, resourceOf(*k.who))
	default:
		k.logins, err = logins.Store.Find(ctx, "")
	}
	if err != nil {
		return k, unreadableLogins(err)
	}
	return k, nil
}

// serversAsking are the names of the servers of the configs whose secrets are kept for a scope.
func (a *app) serversAsking(scope string) []string {
	names := []string{}
	set, _, err := a.o.load()
	if err != nil {
		return names
	}
	for _, s := range set.Servers {
		if s.InputScope() == scope {
			names = append(names, s.Name)
		}
	}
	return names
}

// unreadableLogins is an error of the store, which says itself what to do unless it is locked.
func unreadableLogins(err error) error {
	e := &failure.Error{Kind: failure.OAuth, Message: "cannot read the logins: " + err.Error(), Err: err}
	if errors.Is(err, auth.ErrLocked) {
		e.Next = "unlock it, or remove it to start anew"
	}
	return e
}

// completeLogins completes the URLs of servers that logins are kept for.
func (a *app) completeLogins(cmd *cobra.Command, args []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
	logins, err := a.logins(config.Settings{})
	if err != nil || len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	found, _ := logins.Store.Find(cmd.Context(), "") // what can be read of it
	var urls []cobra.Completion
	for _, c := range found {
		if _, _, err := config.Endpoint(c.Resource); err == nil && mask.URL(c.Resource) == c.Resource { // a command is named by its name
			urls = append(urls, cobra.CompletionWithDesc(c.Resource, "login by "+c.Issuer))
		}
	}
	return urls, cobra.ShellCompDirectiveNoFileComp
}

func (a *app) authStatus(ctx context.Context, cmd *cobra.Command, args []string) error {
	k, err := a.kept(ctx, cmd, args)
	if err != nil {
		return err
	}
	rows, who := []loginRow{}, k.who
	for _, c := range k.logins {
		rows = append(rows, a.loginRow(c))
	}
	raw, err := marshal(map[string]any{"logins": rows, "secrets": slices.Concat([]keptRow{}, k.secrets), "where": a.login.Store.Where()})
	if err != nil {
		return err
	}
	if err := a.printer().print(answer{result: raw, frames: [][]byte{raw}, text: func(t *textOutput) {
		for i, r := range rows {
			if i > 0 {
				t.block("")
			}
			t.fields(append([][2]string{{"server", strings.TrimSpace(r.Resource + bracketedList(r.Servers))}}, r.fields()...)...)
		}
		for i, s := range k.secrets {
			if i+len(rows) > 0 {
				t.block("")
			}
			t.fields([2]string{"secrets of", strings.TrimSpace(s.For + bracketedList(s.Servers))}, [2]string{"inputs", strings.Join(s.Inputs, ", ")}, [2]string{"kept in", a.login.Store.Where()})
		}
		if len(rows)+len(k.secrets) == 0 && !k.named {
			t.block("no logins are kept in " + a.login.Store.Where())
		}
	}}); err != nil || who == nil || len(k.secrets) > 0 || slices.ContainsFunc(rows, func(r loginRow) bool { return r.LoggedIn }) {
		return err
	}
	if resourceOf(*who) == "" {
		return &failure.Error{Kind: failure.OAuth, Server: who.Name, Message: "no secrets are kept", Next: "they are asked for when it is started"}
	}
	return &failure.Error{Kind: failure.OAuth, Server: who.Name, URL: mask.URL(who.URL), Message: "not logged in", Next: "log in (" + a.loginCommand(*who, nil) + ")"}
}

// stillGood is a login whose token an authorization server takes although it was forgotten here.
type stillGood struct {
	Resource string `json:"resource"`
	Why      string `json:"why"`
}

// errNotLoggedOut marks the error of a logout that was interrupted.
var errNotLoggedOut = errors.New("still logged in")

func errorText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

func (a *app) authLogout(ctx context.Context, cmd *cobra.Command, args []string, all bool) error {
	k, err := a.kept(ctx, cmd, args)
	who := k.who
	switch {
	case err != nil:
		return err
	case !k.named && !all:
		return usageError("no server was named", "name one: its URL, or its name in the configs; or all with --all")
	case k.named && all:
		return usageError("--all and a server were named", "name one of them")
	}
	forgotten, kept := []string{}, []stillGood{}
	for _, c := range k.logins {
		if slices.Contains(forgotten, c.Resource) {
			continue // with all its issuers
		}
		login := auth.Kept(c, *a.login)
		if who != nil {
			login = auth.New(*who, *a.login)
		}
		if err := login.Forget(ctx); err != nil {
			if ctx.Err() != nil {
				return errors.Join(errNotLoggedOut, ctx.Err())
			}
			return &failure.Error{Kind: failure.OAuth, URL: mask.URL(c.Resource), Message: "cannot forget the login: " + err.Error(), Err: err}
		}
		forgotten = append(forgotten, c.Resource)
		for _, step := range login.Status().Flow.Steps() {
			if step.State != auth.Done {
				kept = append(kept, stillGood{mask.URL(c.Resource), cmp.Or(errorText(step.Err), strings.Join(step.Notes, "; "))})
			}
		}
	}
	for _, s := range k.secrets {
		if _, err := (credstore.Inputs{Store: a.login.Store}).Forget(ctx, s.For); err != nil {
			return &failure.Error{Kind: failure.OAuth, Message: err.Error(), Err: err}
		}
	}
	raw, err := marshal(map[string]any{"forgotten": forgotten, "secrets": slices.Concat([]keptRow{}, k.secrets), "notRevoked": kept})
	if err != nil {
		return err
	}
	return a.printer().print(answer{result: raw, frames: [][]byte{raw}, text: func(t *textOutput) {
		for _, r := range forgotten {
			t.block("logged out of " + mask.URL(r))
		}
		for _, k := range kept {
			t.block("not revoked at " + k.Resource + ": " + k.Why)
		}
		for _, s := range k.secrets {
			t.block("forgot " + strings.Join(s.Inputs, ", ") + " of " + s.For)
		}
		if len(forgotten)+len(k.secrets) == 0 {
			t.block("nothing to forget: not logged in")
		}
	}})
}
