package main

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/mcphud/mcphud/session"
	"github.com/mcphud/mcphud/session/config"
	"github.com/mcphud/mcphud/session/offer"
)

func (a *app) completeCommand() *cobra.Command {
	var given []string
	c := &cobra.Command{
		Use:   "complete REF ARG VALUE [flags] [SERVER | URL | -- COMMAND ARGS…]",
		Short: "Ask the server to complete an argument",
		Long: "REF is the name of a prompt or the URI of a resource template. Write prompt:NAME or resource:URI where it could be either.\n" +
			"--context passes arguments that are already set.",
		Example: "  mcphud complete greet name a -- node server.js\n  mcphud complete 'file:///{path}' path READ -- node server.js", Annotations: rule("three"),
		Args: cobra.ArbitraryArgs,
	}
	c.RunE = a.serverCommand(func(ctx context.Context, l *link, own []string) error {
		known, err := stringArgs(given)
		if err != nil {
			return err
		}
		r, err := l.Complete(ctx, reference(own[0]), own[1], own[2], known)
		if err != nil {
			return err
		}
		return l.print(reply(r, func(t *textOutput) { t.completion(r.Result) }))
	})
	c.Flags().StringArrayVar(&given, "context", nil, "`KEY=VALUE` of an argument that is already set (repeatable)")
	return c
}

// reference makes a completion's ref object.
func reference(s string) json.RawMessage {
	ref := map[string]string{"type": "ref/prompt", "name": s}
	if uri, ok := strings.CutPrefix(s, "resource:"); ok {
		ref = map[string]string{"type": "ref/resource", "uri": uri}
	} else if name, ok := strings.CutPrefix(s, "prompt:"); ok {
		ref["name"] = name
	} else if strings.Contains(s, "://") || strings.Contains(s, "{") {
		ref = map[string]string{"type": "ref/resource", "uri": s}
	}
	raw, err := json.Marshal(ref)
	if err != nil {
		return nil // strings do not fail
	}
	return raw
}

func (t *textOutput) completion(result []byte) {
	var r struct {
		Completion struct {
			Values  []string
			Total   float64
			HasMore bool
		}
	}
	if json.Unmarshal(result, &r) != nil {
		t.json(result)
		return
	}
	for _, v := range r.Completion.Values {
		t.block(v)
	}
	if more := r.Completion.Total - float64(len(r.Completion.Values)); more > 0 {
		t.block(fmt.Sprintf("… and %.0f more", more))
	} else if r.Completion.HasMore {
		t.block("… and more")
	}
}

// shellTimeout bounds what a press of the tab key may take.
const shellTimeout = 3 * time.Second

// completeNames offers the names that the named server lists, for the first argument. A server is only asked when the
// flags before name it.
func (a *app) completeNames(kind offer.Kind) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
		// cobra puts a double dash of its own behind what was typed.
		own, command, _ := splitArgs(cmd, args)
		if len(own) == 1 && config.IsURL(own[0]) {
			a.o.url, own = own[0], nil
		}
		if len(own)+len(command) > 0 {
			return nil, cobra.ShellCompDirectiveDefault
		}
		cfg, err := a.o.target(cmd, nil, false)
		if err != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		ctx, cancel := context.WithTimeout(cmd.Context(), shellTimeout)
		defer cancel()
		so, err := a.sessionOptions(a.o.settings)
		if err != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		so.Transport.GracePeriod = oneShot
		m := session.NewManager(so)
		defer m.Close()
		cfg.NoReconnect = true
		s, err := m.Register(cfg)
		if err != nil || s.Connect(ctx) != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		list, err := s.List(ctx, kind)
		if err != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		var out []string
		for _, it := range list.Items {
			name := it.Name
			if kind == offer.Resources {
				name = it.URI
			}
			if completable(name) {
				out = append(out, name+"\t"+oneCell(describe(it)))
			}
		}
		return out, cobra.ShellCompDirectiveNoFileComp
	}
}

// completable reports whether a server's name may be completed: control characters would be read by the shell, and a leading
// dash by this program.
func completable(name string) bool {
	return !strings.HasPrefix(name, "-") && strings.IndexFunc(name, func(r rune) bool { return r < ' ' || r == 0x7f }) < 0
}
