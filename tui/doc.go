// Package tui is the shell of the terminal UI: the one tea.Model, the action table, layout, overlays, palette, help,
// prompts, toasts, status bar and the frame cache. Screens are [Screen] values that are passed in through [Config]; this
// package never imports them.
//
// A screen is a plain struct behind its [Screen]. It declares its keys once, as [Action] values, draws lines into [Pane] values, and asks the
// shell for everything else through [Ctx]: running work ([Ctx.Go]), going elsewhere ([Ctx.Navigate]), asking
// ([Ctx.Confirm], [Ctx.Ask]) and telling ([Ctx.Toast]). Screens do no I/O and no slow work in Handle or Draw.
package tui

//go:generate go run ../testdata/tools/keytable KEYS.md
