package login

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mcphud/mcphud/cmd/cli"
	"github.com/mcphud/mcphud/cmd/cli/output"
	"github.com/mcphud/mcphud/session/auth"
	"github.com/mcphud/mcphud/session/base/failure"
	"github.com/mcphud/mcphud/session/base/mask"
	"github.com/mcphud/mcphud/session/config"
)

func (a *app) authCommand() *cobra.Command {
	var other, qr, all bool
	var scopes []string
	login := &cobra.Command{
		Use: "login [flags] [SERVER | URL]", Short: "Log in to a server, and connect to it", Annotations: cli.Rule("none"), Args: cobra.ArbitraryArgs,
		Long: "login asks the server where its logins are, shows the URL to open, and waits until the browser comes back, as long as that takes. " +
			"On another machine than the browser's, paste the URL that the browser ends at. The token is kept for all later commands.\n\n" +
			"See mcphud help login.",
		Example: "  mcphud auth login https://mcp.example.com/mcp\n  mcphud auth login --server github --no-browser",
		RunE: a.loginTarget(func(ctx context.Context, cmd *cobra.Command, s config.Server) error {
			var draw *bool
			if cmd.Flags().Changed("qr") {
				draw = &qr
			}
			if len(scopes) > 0 {
				s.OAuth = withScopes(s.OAuth, scopes)
			}
			return a.Opened(ctx, s, func(ctx context.Context, l *cli.Link) error {
				a.Person = a.BrowserPerson(l.Side, l.Title(), draw)
				return a.logIn(ctx, l, auth.LoginOptions{Other: other})
			})
		}),
	}
	login.Flags().BoolVar(&other, "other", false, "log in as somebody else: the authorization server shows its login again")
	login.Flags().StringArrayVar(&scopes, "scope", nil, "ask for this `SCOPE` as well (repeatable; default what the server asks for)")
	login.Flags().BoolVar(&a.Options.NoBrowser, "no-browser", false, "open no browser, only print the URL")
	login.Flags().BoolVar(&qr, "qr", false, "draw the URL as a QR code, even where the terminal is small (default where it fits)")
	status := &cobra.Command{
		Use: "status [flags] [SERVER | URL]", Short: "Show the logins that are kept: where, how long, and for what", Annotations: cli.Rule("none"), Args: cobra.ArbitraryArgs,
		Long: "status shows all logins, or that of one server: exit code 3 says that there is none. Secrets that servers asked for and that are kept are " +
			"listed as well. Nothing is sent, and no token and no secret is shown.",
		Example: "  mcphud auth status\n  mcphud auth status --server github --format json",
	}
	status.RunE = a.Action(func(ctx context.Context, cmd *cobra.Command, args []string) error {
		return a.authStatus(ctx, cmd, args)
	})
	logout := &cobra.Command{
		Use: "logout [flags] [SERVER | URL]", Short: "Forget the login at a server, here and where it was given", Annotations: cli.Rule("none"), Args: cobra.ArbitraryArgs,
		Long: "logout revokes the token where the authorization server can do that, and forgets it, and the secrets that the server asked for and that are " +
			"kept; what these belong to, as auth status lists it, can be named in place of a server. With --all it forgets everything.",
		Example: "  mcphud auth logout --server github\n  mcphud auth logout --all",
	}
	logout.RunE = a.Action(func(ctx context.Context, cmd *cobra.Command, args []string) error {
		return a.authLogout(ctx, cmd, args, all)
	})
	logout.Flags().BoolVar(&all, "all", false, "forget every login, and every secret that is kept")
	explain := &cobra.Command{
		Use: "explain [flags] [SERVER | URL]", Short: "Show each step up to a login, and which rule is broken", Annotations: cli.Rule("none"), Args: cobra.ArbitraryArgs,
		Long: "explain asks the server and its authorization server what a login would need, without logging in: what the specification asks at each " +
			"step, what was found, and which rule was broken by whom. The exit code is 6 where a server broke one, 3 where a login would fail otherwise.",
		Example: "  mcphud auth explain https://mcp.example.com/mcp\n  mcphud auth explain --server github --format json",
		RunE:    a.loginTarget(a.authExplain),
	}
	for _, c := range []*cobra.Command{login, status, logout, explain} {
		c.ValidArgsFunction = a.completeLogins
	}
	return a.Group("auth", "Log in to servers", login, status, logout, explain, a.authClientCommand())
}

// loginTarget makes a command's body from a function that is given the server that the command line names, which has to be one with logins.
func (a *app) loginTarget(f func(ctx context.Context, cmd *cobra.Command, s config.Server) error) func(*cobra.Command, []string) error {
	return a.Action(func(ctx context.Context, cmd *cobra.Command, args []string) error {
		s, err := a.httpTarget(cmd, args)
		if err != nil {
			return err
		}
		return f(ctx, cmd, s)
	})
}

// httpTarget is the server that the command line names.
func (a *app) httpTarget(cmd *cobra.Command, args []string) (config.Server, error) {
	s, err := a.anyTarget(cmd, args)
	if err == nil && s.URL == "" && !s.NeedsToken() {
		err = notOverHTTP(s)
	}
	return s, err
}

func (a *app) anyTarget(cmd *cobra.Command, args []string) (config.Server, error) {
	if err := a.Options.Check(cmd); err != nil {
		return config.Server{}, err
	}
	_, command, dash, err := a.OwnArgs(cmd, args, nil)
	if err != nil {
		return config.Server{}, err
	}
	return a.Options.Target(cmd, command, dash)
}

func notOverHTTP(s config.Server) error {
	return failure.UsageError(s.Name+" is started by its command: only servers over HTTP have logins, and commands whose entry has an oauth block with auth_url and token_url", "name one by its URL, or add the block")
}

// logIn logs in, connects, and prints who the server is and what the login is for.
func (a *app) logIn(ctx context.Context, l *cli.Link, o auth.LoginOptions) error {
	// What cannot be kept is said before anybody goes to a browser.
	if _, err := a.Login.Store.Find(ctx, cli.ResourceOf(l.Config())); err != nil && !errors.Is(err, auth.ErrLocked) {
		return cli.UnreadableLogins(err)
	}
	if err := l.Connect(ctx); err != nil && ctx.Err() != nil {
		return errors.Join(cli.ErrNotLoggedIn, ctx.Err())
	} else if err != nil && failure.RemedyOf(err) != failure.LogIn {
		return err
	}
	if err := a.LogInBy(ctx, l.Session, o); err != nil {
		return err
	}
	if err := l.Disconnect(); err != nil {
		return err
	}
	if err := a.LoggedIn(ctx, l.Session, func() error { return l.Connect(ctx) }); err != nil {
		return err
	}
	found, err := a.Login.Store.Find(ctx, cli.ResourceOf(l.Config()))
	if err != nil {
		return cli.UnreadableLogins(err)
	}
	st := l.Status()
	report := struct {
		Server map[string]any `json:"server"`
		Login  *LoginRow      `json:"login"`
	}{map[string]any{"name": l.Name(), "protocolVersion": st.Version, "serverInfo": output.OrNull(st.ServerInfo)}, nil}
	what, place := "url", mask.URL(st.URL)
	if cfg := l.Config(); cfg.NeedsToken() {
		what, place = "variables", strings.Join(cfg.TokenVariables(), ", ")
		report.Server["variables"] = cfg.TokenVariables()
	} else {
		report.Server["url"] = place
	}
	rows := [][2]string{{"server", output.Identity(st.ServerInfo)}, {what, place}, {"protocol", st.Version}}
	if len(found) > 0 {
		row := a.loginRow(found[0])
		report.Login, rows = &row, append(rows, row.fields()...)
	}
	l.Side.Finish()
	return l.Out.Show(report, func(t *output.Text) { t.Fields(rows...) })
}

// withScopes is an oauth block with more scopes.
func withScopes(o *config.OAuth, scopes []string) *config.OAuth {
	c := config.OAuth{}
	if o != nil {
		c = *o
	}
	c.Scopes = slices.Concat(c.Scopes, scopes)
	return &c
}
