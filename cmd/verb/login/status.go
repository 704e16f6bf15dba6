package login

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/mcphud/mcphud/cmd/cli"
	"github.com/mcphud/mcphud/cmd/cli/output"
	"github.com/mcphud/mcphud/session/auth"
	"github.com/mcphud/mcphud/session/auth/credstore"
	"github.com/mcphud/mcphud/session/base/failure"
	"github.com/mcphud/mcphud/session/base/mask"
	"github.com/mcphud/mcphud/session/base/text"
	"github.com/mcphud/mcphud/session/config"
)

// LoginRow is one login as JSON, without anything secret.
type LoginRow struct {
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

func (a *app) loginRow(c auth.Credentials) LoginRow {
	row := LoginRow{
		Servers: a.serversAt(c.Resource), Resource: mask.URL(c.Resource), Issuer: mask.URL(c.Issuer), ClientID: c.Client.ID, Client: c.Client.Origin, Type: c.Token.Type,
		Scopes: slices.Concat([]string{}, c.Token.Scopes), Refresh: c.Token.Refresh != "", LoggedIn: c.Token.Access+c.Token.ID != "", Where: a.Login.Store.Where(),
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
	set, _, err := a.Options.Load()
	if err != nil {
		return names // what is kept is shown nevertheless
	}
	for _, s := range set.Servers {
		if at := cli.ResourceOf(s); at != "" && at == resource {
			names = append(names, s.Name)
		}
	}
	return names
}

// fields are a login for people.
func (r *LoginRow) fields() [][2]string {
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
func (r *LoginRow) ends() string {
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
	logins, err := a.Logins(config.Settings{})
	if err != nil {
		return k, err
	}
	secrets, err := credstore.Inputs{Store: logins.Store}.List(ctx)
	if err != nil {
		return k, cli.UnreadableLogins(err)
	}
	scope := ""
	if len(args) == 1 && slices.ContainsFunc(secrets, func(s credstore.KeptInputs) bool { return s.Scope == args[0] }) {
		scope, k.named = args[0], true
	} else if len(args) > 0 || a.Options.Named() {
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
	case k.who != nil && cli.ResourceOf(*k.who) == "" && len(k.secrets) == 0 && len(k.who.Inputs) == 0:
		return k, notOverHTTP(*k.who)
	case k.who != nil && cli.ResourceOf(*k.who) == "":
		return k, nil
	case k.who != nil:
		k.logins, err = logins.Store.Find(ctx, cli.ResourceOf(*k.who))
	default:
		k.logins, err = logins.Store.Find(ctx, "")
	}
	if err != nil {
		return k, cli.UnreadableLogins(err)
	}
	return k, nil
}

// serversAsking are the names of the servers of the configs whose secrets are kept for a scope.
func (a *app) serversAsking(scope string) []string {
	names := []string{}
	set, _, err := a.Options.Load()
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

// completeLogins completes the URLs of servers that logins are kept for.
func (a *app) completeLogins(cmd *cobra.Command, args []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
	logins, err := a.Logins(config.Settings{})
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
	rows, who := []LoginRow{}, k.who
	for _, c := range k.logins {
		rows = append(rows, a.loginRow(c))
	}
	if err := a.Printer().Show(map[string]any{"logins": rows, "secrets": slices.Concat([]keptRow{}, k.secrets), "where": a.Login.Store.Where()}, func(t *output.Text) {
		for i, r := range rows {
			if i > 0 {
				t.Block("")
			}
			t.Fields(append([][2]string{{"server", strings.TrimSpace(r.Resource + cli.BracketedList(r.Servers))}}, r.fields()...)...)
		}
		for i, s := range k.secrets {
			if i+len(rows) > 0 {
				t.Block("")
			}
			t.Fields([2]string{"secrets of", strings.TrimSpace(s.For + cli.BracketedList(s.Servers))}, [2]string{"inputs", strings.Join(s.Inputs, ", ")}, [2]string{"kept in", a.Login.Store.Where()})
		}
		if len(rows)+len(k.secrets) == 0 && !k.named {
			t.Block("no logins are kept in " + a.Login.Store.Where())
		}
	}); err != nil || who == nil || len(k.secrets) > 0 || slices.ContainsFunc(rows, func(r LoginRow) bool { return r.LoggedIn }) {
		return err
	}
	if cli.ResourceOf(*who) == "" {
		return &failure.Error{Kind: failure.OAuth, Server: who.Name, Message: "no secrets are kept", Next: "they are asked for when it is started"}
	}
	return &failure.Error{Kind: failure.OAuth, Server: who.Name, URL: mask.URL(who.URL), Message: "not logged in", Next: "log in (" + a.LoginCommand(*who, nil) + ")"}
}

// stillGood is a login whose token an authorization server takes although it was forgotten here.
type stillGood struct {
	Resource string `json:"resource"`
	Why      string `json:"why"`
}

func (a *app) authLogout(ctx context.Context, cmd *cobra.Command, args []string, all bool) error {
	k, err := a.kept(ctx, cmd, args)
	who := k.who
	switch {
	case err != nil:
		return err
	case !k.named && !all:
		return failure.UsageError("no server was named", "name one: its URL, or its name in the configs; or all with --all")
	case k.named && all:
		return failure.UsageError("--all and a server were named", "name one of them")
	}
	forgotten, kept := []string{}, []stillGood{}
	for _, c := range k.logins {
		if slices.Contains(forgotten, c.Resource) {
			continue // with all its issuers
		}
		login := auth.Kept(c, *a.Login)
		if who != nil {
			login = auth.New(*who, *a.Login)
		}
		if err := login.Forget(ctx); err != nil {
			if ctx.Err() != nil {
				return errors.Join(cli.ErrNotLoggedOut, ctx.Err())
			}
			return &failure.Error{Kind: failure.OAuth, URL: mask.URL(c.Resource), Message: "cannot forget the login: " + err.Error(), Err: err}
		}
		forgotten = append(forgotten, c.Resource)
		for _, step := range login.Status().Flow.Steps() {
			if step.State != auth.Done {
				kept = append(kept, stillGood{mask.URL(c.Resource), cmp.Or(cli.ErrorText(step.Err), strings.Join(step.Notes, "; "))})
			}
		}
	}
	for _, s := range k.secrets {
		if _, err := (credstore.Inputs{Store: a.Login.Store}).Forget(ctx, s.For); err != nil {
			return &failure.Error{Kind: failure.OAuth, Message: err.Error(), Err: err}
		}
	}
	return a.Printer().Show(map[string]any{"forgotten": forgotten, "secrets": slices.Concat([]keptRow{}, k.secrets), "notRevoked": kept}, func(t *output.Text) {
		for _, r := range forgotten {
			t.Block("logged out of " + mask.URL(r))
		}
		for _, k := range kept {
			t.Block("not revoked at " + k.Resource + ": " + k.Why)
		}
		for _, s := range k.secrets {
			t.Block("forgot " + strings.Join(s.Inputs, ", ") + " of " + s.For)
		}
		if len(forgotten)+len(k.secrets) == 0 {
			t.Block("nothing to forget: not logged in")
		}
	})
}
