package servers

import (
	"testing"

	tea "charm.land/bubbletea/v2"

	"github.com/mcphud/mcphud/session/config/setup"
	"github.com/mcphud/mcphud/tui"
	"github.com/mcphud/mcphud/tui/tuitest"
)

// setupTold is what a setup screen handed over.
type setupTold struct {
	values   setup.Values
	remember bool
	done     bool
}

func askSetup(t *testing.T, got *setupTold, in []setup.Input, given map[string]string, opts ...tuitest.Option) *tuitest.App {
	t.Helper()
	return tuitest.Start(t, append([]tuitest.Option{
		tuitest.Views(NewServers(nil, nil, nil, nil, Beside{}), NewSetup()), tuitest.Size(80, 24), tuitest.Beside(),
		tuitest.At("setup", setupRequest{Title: "Settings of weather", Inputs: in, Given: given, Done: func(_ *tui.Ctx, v setup.Values, remember bool) tea.Cmd {
			*got = setupTold{v, remember, true}
			return nil
		}}),
	}, opts...)...)
}

var weatherInputs = []setup.Input{
	{Name: "API_KEY", Description: "key of the weather service", Required: true, Secret: true},
	{Name: "UNITS", Choices: []string{"metric", "imperial"}, Default: "metric"},
	{Name: "CACHE", Kind: setup.Directory},
}

// Secrets are never on the screen, what is required is asked for, and the keychain gets nothing unless somebody says so.
func TestSetupAsksAndHidesSecrets(t *testing.T) {
	t.Parallel()
	var got setupTold
	app := askSetup(t, &got, weatherInputs, nil)
	app.Pane("form").Has("Settings of weather", "API_KEY", "key of the weather service", "UNITS", "metric", "CACHE")
	app.Press("ctrl+g").Toast("API_KEY")
	app.Type("hunter2").Pane("form").HasNot("hunter2")
	app.Press("ctrl+g")
	app.Confirm("Keep secrets in the keychain?").Says("API_KEY").No()
	app.Eventually(func() string {
		if !got.done || got.remember || got.values.First("API_KEY") != "hunter2" || got.values.First("UNITS") != "metric" {
			return "the values are not handed over"
		}
		return ""
	})
}

func TestSetupRemembersOnRequest(t *testing.T) {
	t.Parallel()
	var got setupTold
	app := askSetup(t, &got, weatherInputs, nil)
	app.Type("hunter2").Press("ctrl+g")
	app.Confirm("Keep secrets in the keychain?").Yes()
	app.Eventually(func() string {
		if !got.done || !got.remember {
			return "the keychain is not asked for"
		}
		return ""
	})
}

// What is known is not asked for again, and is not kept again either.
func TestSetupWithWhatIsKnown(t *testing.T) {
	t.Parallel()
	var got setupTold
	app := askSetup(t, &got, weatherInputs, map[string]string{"API_KEY": "hunter2"})
	app.Pane("form").Has("••••").HasNot("hunter2")
	app.Press("ctrl+g")
	app.Eventually(func() string {
		if !got.done || got.remember || got.values.First("API_KEY") != "hunter2" {
			return "the known value is not taken"
		}
		return ""
	})
}

// A folder is picked as a folder.
func TestSetupPicksAFolder(t *testing.T) {
	t.Parallel()
	var got setupTold
	app := askSetup(t, &got, weatherInputs, nil)
	app.Press("tab", "tab")
	app.Hints().Has("pick a folder")
	app.Press("ctrl+f").Overlay("Pick a folder").Has("opens")
}

// What the publisher presets for a secret is shown, taken where nothing is typed, and no secret to be kept.
func TestSetupShowsDefaultsOfSecrets(t *testing.T) {
	t.Parallel()
	var got setupTold
	app := askSetup(t, &got, []setup.Input{{Name: "API_KEY", Required: true, Secret: true, Default: "--call=evil"}}, nil)
	app.Pane("form").Has("API_KEY", `Left empty, it is "--call=evil".`).HasNot("••••")
	app.Press("ctrl+g")
	app.Eventually(func() string {
		if !got.done || got.remember || got.values.First("API_KEY") != "--call=evil" {
			return "the default is not taken"
		}
		return ""
	})
}
