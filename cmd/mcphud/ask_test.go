package main

import (
	"io"
	"strings"
	"testing"

	"github.com/mcphud/mcphud/cmd/cli"
	"github.com/mcphud/mcphud/session/test/require"
)

// A person on a terminal answers what a tool asks, in either era, and is asked again for what is not valid.
func TestP10_CommandsAskOnATerminal(t *testing.T) {
	t.Parallel()
	url := newAsker(t).http
	for _, era := range eras {
		for _, x := range []struct {
			tool  []string
			talk  []string // what is shown, and what is typed then
			shows string
		}{
			{
				[]string{"test_elicitation", "message=Who are you?"},
				[]string{"▌ Who are you?", "", "accept (a), decline (d) or cancel (c)?", "a", "username (string, required", "Ann", "email (string, required", "ann@example.com"},
				`"Ann"`,
			},
			{
				[]string{"test_elicitation_sep1034_defaults"},
				[]string{"accept (a)", "a", `["John Doe"]`, "", "[30]", "old", "[95.5]", "", `["active"]`, "", "[true]", "", "mcphud: ", "", "accept (a), decline", "d"},
				"action=decline",
			},
			{[]string{"test_sampling", "prompt=Name a colour"}, []string{"▌ user: Name a colour", "", "The model's reply", "blue"}, "blue"},
			{[]string{"test_elicitation_url"}, []string{"host: ", "", "cancel (c)?", "c"}, "action=cancel"},
		} {
			t.Run(era+" "+x.tool[0], func(t *testing.T) {
				t.Parallel()
				s := startUI(t, append(append([]string{"tools", "call"}, x.tool...), "--format", "json", "--protocol", era, "--url", url)...)
				from := 0
				for i, text := range x.talk {
					if i%2 == 0 {
						require.Eventually(t, "the terminal to show "+text, func() bool { return strings.Contains(s.written()[from:], text) })
						continue
					}
					if text == "" && x.talk[i-1][0] != '[' {
						continue // nothing is asked there
					}
					from = len(s.written())
					if _, err := io.WriteString(s.f, text+"\n"); err != nil {
						t.Fatal(err)
					}
				}
				if code := s.exit(); code != 0 || !strings.Contains(strings.ReplaceAll(s.written(), `\`, ""), x.shows) {
					t.Errorf("exit %d, shown %s", code, s.written())
				}
			})
		}
	}
}

// A question that ends with its call leaves no prompt behind that takes what is typed.
func TestQuestionOnATerminalEndsWithItsCall(t *testing.T) {
	t.Parallel()
	s := startUI(t, "tools", "call", "test_elicitation", "message=Who?", "--max-timeout", "1h", "--url", newAsker(t).http)
	s.shows("accept (a)")
	if _, err := io.WriteString(s.f, "\x03"); err != nil {
		t.Fatal(err)
	}
	if code := s.exit(); code != cli.ExitInterrupted {
		t.Errorf("exit %d, shown %s", code, s.written())
	}
}
