package tui

import "slices"

// Verb is what an action does, in the few words of the program that have keys: each has the same keys on every screen. An action of a
// screen has a verb, and with it its keys, or a word for the `:` line.
type Verb string

// The twelve verbs.
const (
	VerbOpen      Verb = "open or run"
	VerbEdit      Verb = "edit"
	VerbRun       Verb = "run again or reload"
	VerbCancel    Verb = "cancel"
	VerbCopy      Verb = "copy"
	VerbSave      Verb = "save"
	VerbDiff      Verb = "differences"
	VerbFrames    Verb = "frames"
	VerbElsewhere Verb = "open elsewhere"
	VerbAdd       Verb = "add"
	VerbFilter    Verb = "filter"
	VerbHelp      Verb = "help"
)

// What is read and listed.
const (
	VerbFold     Verb = "fold or select"
	VerbShow     Verb = "show otherwise"
	VerbWrap     Verb = "wrap"
	VerbPrevious Verb = "previous part"
	VerbNext     Verb = "next part"
	VerbEarlier  Verb = "page before"
	VerbLater    Verb = "page after"
	VerbZoomIn   Verb = "zoom in"
	VerbZoomOut  Verb = "zoom out"
	VerbHistory  Verb = "history"
	VerbDoctor   Verb = "doctor"
	VerbLeave    Verb = "back"
)

// What is filled in.
const (
	VerbSend     Verb = "send"
	VerbEditor   Verb = "in $EDITOR"
	VerbRaw      Verb = "raw"
	VerbAddItem  Verb = "add item"
	VerbLeaveOut Verb = "leave out"
	VerbVariant  Verb = "variant"
	VerbUndo     Verb = "undo"
	VerbReset    Verb = "start over"
	VerbFill     Verb = "fill"
	VerbFile     Verb = "file"
	VerbTask     Verb = "task"
	VerbItemUp   Verb = "item up"
	VerbItemDown Verb = "item down"
	VerbRename   Verb = "rename"
	VerbModel    Verb = "model"
	VerbDecline  Verb = "decline"
	VerbDismiss  Verb = "dismiss"
	VerbProblem  Verb = "next problem"
)

// Scope is where the keys of a verb are told of.
type Scope string

// The scopes.
const (
	VerbScope Scope = "verbs"
	ReadScope Scope = "lists and texts"
	FormScope Scope = "forms"
)

// VerbKey is a verb with its keys, and the scope whose table it is in.
type VerbKey struct {
	Verb  Verb
	Scope Scope
	Keys  []string
}

// verbKeys are all verbs, the keys of each named as in [Action.Keys].
var verbKeys = []VerbKey{
	{VerbOpen, VerbScope, []string{"enter"}},
	{VerbEdit, VerbScope, []string{"e"}},
	{VerbRun, VerbScope, []string{"r"}},
	{VerbCancel, VerbScope, []string{"x"}},
	{VerbCopy, VerbScope, []string{"y"}}, // and what is copied
	{VerbSave, VerbScope, []string{"s"}},
	{VerbDiff, VerbScope, []string{"d"}},
	{VerbFrames, VerbScope, []string{"t"}},
	{VerbElsewhere, VerbScope, []string{"o"}},
	{VerbAdd, VerbScope, []string{"a"}},
	{VerbFilter, VerbScope, []string{"/"}},
	{VerbHelp, VerbScope, []string{"?", "f1"}},

	{VerbFold, ReadScope, []string{"space"}},
	{VerbShow, ReadScope, []string{"m"}},
	{VerbWrap, ReadScope, []string{"w"}},
	{VerbPrevious, ReadScope, []string{"["}},
	{VerbNext, ReadScope, []string{"]"}},
	{VerbEarlier, ReadScope, []string{"pgup"}},
	{VerbLater, ReadScope, []string{"pgdown"}},
	{VerbZoomIn, ReadScope, []string{"+"}},
	{VerbZoomOut, ReadScope, []string{"-"}},
	{VerbHistory, ReadScope, []string{"f3"}},
	{VerbDoctor, ReadScope, []string{"!"}},
	{VerbLeave, ReadScope, []string{"q"}},

	{VerbSend, FormScope, []string{"ctrl+g", "ctrl+enter", "f5"}},
	{VerbEditor, FormScope, []string{"ctrl+e"}},
	{VerbRaw, FormScope, []string{"ctrl+r"}},
	{VerbAddItem, FormScope, []string{"ctrl+n"}},
	{VerbLeaveOut, FormScope, []string{"ctrl+x"}},
	{VerbVariant, FormScope, []string{"ctrl+o"}},
	{VerbUndo, FormScope, []string{"ctrl+z"}},
	{VerbReset, FormScope, []string{"ctrl+y"}},
	{VerbFill, FormScope, []string{"ctrl+l"}},
	{VerbFile, FormScope, []string{"ctrl+f"}},
	{VerbTask, FormScope, []string{"ctrl+t"}},
	{VerbItemUp, FormScope, []string{"alt+up"}},
	{VerbItemDown, FormScope, []string{"alt+down"}},
	{VerbRename, FormScope, []string{"f2"}},
	{VerbModel, FormScope, []string{"f4"}},
	{VerbDecline, FormScope, []string{"f6"}},
	{VerbDismiss, FormScope, []string{"f7"}},
	{VerbProblem, FormScope, []string{"f8"}},
}

// Verbs are all verbs with their keys.
func Verbs() []VerbKey { return slices.Clone(verbKeys) }

// Keys are those of the verb on every screen.
func (v Verb) Keys() []string {
	for _, k := range verbKeys {
		if k.Verb == v {
			return slices.Clone(k.Keys)
		}
	}
	return nil
}
