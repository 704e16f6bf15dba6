package fuzz

import (
	"context"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mcphud/mcphud/session"
	"github.com/mcphud/mcphud/session/check"
	"github.com/mcphud/mcphud/session/offer"
	"github.com/mcphud/mcphud/session/test/faketest"
	"github.com/mcphud/mcphud/session/test/faketest/behave"
	"github.com/mcphud/mcphud/session/test/require"
)

// Why no oracle names what a part of the fake server does.
const (
	isWell   = "- nothing is wrong with it"
	takesAll = "- TestPlantedFaults: it takes any arguments"
	noCall   = "- there is no connection: doctor says why"
	itsList  = "- the lists are wrong, which lint, conform and the report itself say"
	itsText  = "- what a text does to who reads it is for safety"
)

// toolFaults is the rule that names what each tool of the fake server does.
var toolFaults = map[string]string{
	"echo": takesAll, "add": takesAll, "cancelled": takesAll, "methods": takesAll, "pids": takesAll, "is_error": isWell, "progress": takesAll, "notify": takesAll,
	"kinds": "frame", "rpc_error": "wrong-layer", "wait": "no-answer", "late": "no-answer", "twice": "answer-twice", "wrong_id": "unknown-id", "half": "no-answer",
	"noise": "noise", "crash": "died", "hostile": itsText, "sleep": "- it does as it is told", "big": "- the transport has a limit of its own",
}

// TestToolFaults: what each tool of the fake server does wrong is found in the first calls, and shown without arguments.
func TestToolFaults(t *testing.T) {
	t.Parallel()
	rep := fuzzed(t, faketest.Stdio(t, behave.Good), Options{Seed: 7, Runs: 2, Timeout: time.Second}, "*")
	got := found(rep)
	for _, name := range listed(t, behave.Good) {
		want, ok := toolFaults[name]
		switch {
		case !ok:
			t.Errorf("say in toolFaults which rule names what %s does", name)
		case strings.HasPrefix(want, "- "):
		case !slices.Contains(got, want+" "+name):
			t.Errorf("not found: %s", want+" "+name)
		}
	}
	if t.Failed() {
		t.Logf("%s", strings.Join(got, "\n"))
	}
}

// listed are the names of the tools of a mode.
func listed(t *testing.T, mode behave.Mode) (names []string) {
	t.Helper()
	m := session.NewManager(session.Options{HealthInterval: -1, Retry: session.Retry{Max: -1}})
	defer func() { _ = m.Close() }() // it was only read from
	s, err := m.Register(faketest.Stdio(t, mode))
	if err == nil {
		err = s.Connect(t.Context())
	}
	require.NoError(t, err)
	list, err := s.List(context.Background(), offer.Tools)
	require.NoError(t, err)
	for _, it := range list.Items {
		names = append(names, it.Name)
	}
	return names
}

// modeFaults is what finds, in calls of echo, what a mode of the fake server does.
var modeFaults = map[behave.Mode]string{
	behave.Noise: "noise", behave.Duplicate: "answer-twice",
	behave.Good: isWell, behave.Modern: isWell, behave.ExitDiscover: isWell, behave.NoDiscover: isWell, behave.IgnoreTerm: isWell, behave.Fork: isWell,
	behave.FloodStderr: isWell, behave.ManyTools: isWell, behave.Big: isWell, behave.DeepSchema: isWell, behave.Changing: isWell, behave.Pages: isWell,
	behave.Bare: isWell, behave.Malformed: itsList, behave.RepeatCursor: itsList, behave.EndlessCursor: itsList, behave.HalfFrame: itsList, behave.HalfFrameExit: itsList,
	behave.Oversize: itsList, behave.NoRead: itsList, behave.BadUTF8: itsList, behave.ListError: itsList, behave.WrongID: itsList, behave.Liar: itsList, behave.HostileText: itsText,
	behave.ExitAtOnce: noCall, behave.ExitInitialize: noCall, behave.NoAnswer: noCall,
}

// TestModeFaults: the same of what the fake server does as a whole.
func TestModeFaults(t *testing.T) {
	t.Parallel()
	for _, mode := range behave.Modes() {
		want, ok := modeFaults[mode]
		if !ok {
			t.Errorf("say in modeFaults which rule names what %s does", mode)
		}
		if want == "" || strings.HasPrefix(want, "- ") {
			continue
		}
		t.Run(string(mode), func(t *testing.T) {
			t.Parallel()
			finds(t, fuzzed(t, faketest.Stdio(t, mode), Options{Seed: 7, Runs: 1, Timeout: 2 * time.Second, Only: []string{"echo"}}, "echo"), want)
		})
	}
}

// httpFaults is the same of what it does over HTTP, by the fields of behave.Fault.
var httpFaults = map[string]string{
	"Status": "http-status", "Header": "- a part of Status", "Body": "- a part of Status", "After": "- when Status begins", "Times": "- when Status ends", "JSON": isWell,
	"Stateless": isWell, "NoHeaders": "no-answer", "HTML": "noise", "Redirect": "died", "Slow": "- slow is what is slower than the other calls",
	"Stalled": noCall, "HalfEvent": noCall, "Endless": noCall,
}

// TestHTTPFaults: the same over HTTP.
func TestHTTPFaults(t *testing.T) {
	t.Parallel()
	for i := range reflect.TypeFor[behave.Fault]().NumField() {
		field := reflect.TypeFor[behave.Fault]().Field(i).Name
		want, ok := httpFaults[field]
		if !ok {
			t.Errorf("say in httpFaults which rule names what %s does", field)
		}
		if want == "" || strings.HasPrefix(want, "- ") {
			continue
		}
		t.Run(field, func(t *testing.T) {
			t.Parallel()
			fault := behave.Fault{After: 25} // the connections and the lists are well
			switch v := reflect.ValueOf(&fault).Elem().FieldByName(field); v.Kind() {
			case reflect.Bool:
				v.SetBool(true)
			default:
				v.SetInt(503)
			}
			finds(t, fuzzed(t, faketest.HTTP(t, behave.Good, fault), Options{Seed: 7, Runs: 40, Timeout: 4 * time.Second, Only: []string{"echo"}}, "echo"), want)
		})
	}
}

// finds fails the test where a rule found nothing at echo.
func finds(t *testing.T, rep *check.Report, rule string) {
	t.Helper()
	if !slices.ContainsFunc(rep.Findings, func(f check.Finding) bool { return f.ID == "fuzz/"+rule && f.Place.Name == "echo" }) {
		t.Errorf("not found: %s\n%s", rule, strings.Join(found(rep), "\n"))
	}
}
