// Package behave is an MCP server that misbehaves on request, for tests.
//
// A mode says how the server behaves as a whole (how it starts, what its lists hold); in mode [Good] single
// misbehaviours are tools, so that one connection can go through many of them. Frames are written by hand, never
// marshalled, and large answers are rendered before the first request is read: what a client spends on them is then the
// client's own time.
//
// The package imports the standard library only, and cheaply: a program made of it starts in a millisecond or two.
package behave

// Mode names a behaviour.
type Mode string

// How the process starts and ends (stdio only, except NoAnswer).
const (
	// Good serves the tools of tools.go, two resources, a template, prompts.
	Good Mode = "good"
	// Modern is Good speaking revision 2026-07-28: server/discover, resultType.
	Modern Mode = "modern"
	// ExitAtOnce prints three lines on stderr and exits with code 3.
	ExitAtOnce Mode = "exit"
	// ExitInitialize exits with code 4 when asked to initialize.
	ExitInitialize Mode = "exit-initialize"
	// ExitDiscover exits when asked server/discover, and is Good otherwise.
	ExitDiscover Mode = "exit-discover"
	// NoAnswer reads everything and answers nothing.
	NoAnswer Mode = "no-answer"
	// NoDiscover never answers server/discover, and is Good otherwise.
	NoDiscover Mode = "no-discover"
	// NoRead is Good but stops reading its stdin after the first tools/list.
	NoRead Mode = "no-read"
	// IgnoreTerm ignores SIGTERM, SIGINT and the end of stdin.
	IgnoreTerm Mode = "ignore-term"
	// Fork starts a child in its process group that holds stdout and stderr
	// and would live for ten minutes; tool "pids" tells its process id.
	Fork Mode = "fork"
	// FloodStderr writes 10 MB to stderr before it answers initialize.
	FloodStderr Mode = "flood-stderr"
)

// What is on stdout beside or instead of frames.
const (
	// Noise writes lines that are not frames before every answer.
	Noise Mode = "noise"
	// HalfFrame answers tools/list with half a frame and then nothing.
	HalfFrame Mode = "half-frame"
	// HalfFrameExit answers tools/list with half a frame and exits.
	HalfFrameExit Mode = "half-frame-exit"
	// Oversize answers tools/list with a frame of 64 MiB + 1 byte.
	Oversize Mode = "oversize"
	// BadUTF8 answers tools/list with a description that is not UTF-8.
	BadUTF8 Mode = "bad-utf8"
	// WrongID answers initialize well and every later request with a foreign id.
	WrongID Mode = "wrong-id"
	// Duplicate answers every request after initialize twice.
	Duplicate Mode = "duplicate"
)

// What the lists hold.
const (
	// ManyTools lists 5,000 tools in one page of 6.7 MB.
	ManyTools Mode = "many-tools"
	// Big has its tool "big" ready: one text of 50,000,000 bytes.
	Big Mode = "big"
	// DeepSchema lists a tool whose schema nests 100 objects.
	DeepSchema Mode = "deep-schema"
	// Changing lists one tool more each time, and says list_changed after every tools/call.
	Changing Mode = "changing"
	// Pages lists 100 tools in pages of 10; the second page's cursor is "".
	Pages Mode = "pages"
	// RepeatCursor gives the same nextCursor on every page.
	RepeatCursor Mode = "repeat-cursor"
	// EndlessCursor gives a new nextCursor on every page, for ever.
	EndlessCursor Mode = "endless-cursor"
	// HostileText puts fault.PayloadTexts(maxPayload) into every field that is shown.
	HostileText Mode = "hostile"
	// Malformed lists items that break the schema of the protocol around two good ones, "first" and "last".
	Malformed Mode = "malformed"
	// ListError answers every list with a JSON-RPC error with data.
	ListError Mode = "list-error"
	// Liar advertises every capability and implements tools/list only.
	Liar Mode = "liar"
	// Bare advertises no capability at all.
	Bare Mode = "bare"
)

// Modes returns every mode that [Stdio] knows.
func Modes() []Mode {
	return []Mode{
		Good, Modern, ExitAtOnce, ExitInitialize, ExitDiscover, NoAnswer, NoDiscover, NoRead, IgnoreTerm, Fork, FloodStderr,
		Noise, HalfFrame, HalfFrameExit, Oversize, BadUTF8, WrongID, Duplicate,
		ManyTools, Big, DeepSchema, Changing, Pages, RepeatCursor, EndlessCursor, HostileText, Malformed, ListError, Liar, Bare,
	}
}
