package tui

import (
	"fmt"
	"time"

	tea "charm.land/bubbletea/v2"
)

// newsTime is how long the notice of a new version stays.
const newsTime = 20 * time.Second

// The preferences in which versions are kept: the one that ran last, and the one before it.
const (
	versionSeen = "version"
	// VersionBefore is the preference with the release that ran before this one, "" if none did.
	VersionBefore = "version.before"
)

// changesView is the screen that shows what changed.
const changesView = "whatsnew"

// news says once, after an upgrade, that there is something new to read. Builds between releases say nothing and are not
// remembered; nor is anything new to who runs the program for the first time.
func (a *App) news() tea.Cmd {
	now := ReleasedOn(a.cfg.Version)
	seen := ReleasedOn(a.prefs.get(versionSeen))
	if now == "" || now == seen || a.actions.find(changesView) == nil {
		return nil
	}
	if !NewerVersion(now, seen) {
		return a.prefs.set(versionSeen, now)
	}
	before := a.prefs.set(VersionBefore, seen)
	a.toasts.notice(fmt.Sprintf("mcphud is now %s: %s shows what is new", now, a.ctx.KeyOf(newsID)), newsTime)
	return tea.Sequence(before, a.prefs.set(versionSeen, now))
}

const newsID = "app.news"

// newsAction opens what changed.
func newsAction() Action {
	return Action{
		ID: newsID, Word: "news", Title: "what is new", Group: "Program",
		Help: "Show what changed since the version that ran before this one.",
		Disabled: func(c *Ctx) string {
			if c.app.actions.find(changesView) == nil {
				return "not available here"
			}
			return ""
		},
		Run: func(c *Ctx) tea.Cmd { return c.Navigate(changesView, nil) },
	}
}
