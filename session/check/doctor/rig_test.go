package doctor_test

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mcphud/mcphud/session/base/failure"
	"github.com/mcphud/mcphud/session/check/doctor"
	"github.com/mcphud/mcphud/session/config"
	"github.com/mcphud/mcphud/session/test/require"
)

// diagnose looks at a server, and fails where a step was left running.
func diagnose(t *testing.T, s config.Server, edit ...func(*doctor.Options)) doctor.Report {
	t.Helper()
	o := doctor.Options{Timeout: 2 * time.Minute}
	for _, e := range edit {
		e(&o)
	}
	var mu sync.Mutex
	last := map[string]doctor.Status{}
	rep := doctor.Run(t.Context(), doctor.Target{Server: s}, o, func(st doctor.Step) {
		mu.Lock()
		defer mu.Unlock()
		last[st.ID] = st.Status
	})
	if len(rep.Steps) != len(doctor.Plan(s)) {
		t.Errorf("%d steps of %d", len(rep.Steps), len(doctor.Plan(s)))
	}
	for _, st := range rep.Steps {
		if st.Status == doctor.Running || st.Status == doctor.Pending || last[st.ID] != st.Status || len(st.Evidence) == 0 {
			t.Errorf("%s is %s, and was last said to be %s; evidence %q", st.ID, st.Status, last[st.ID], st.Evidence)
		}
		if st.Status == doctor.Failed && (st.Kind == "" || st.Fix == "") {
			t.Errorf("%s failed without a kind or a fix: %+v", st.ID, st)
		}
	}
	if raw, err := json.Marshal(rep); err != nil || !json.Valid(raw) {
		t.Error(err)
	}
	if t.Failed() {
		t.Log(said(rep))
	}
	return rep
}

// said is a report for people who read test logs.
func said(r doctor.Report) string {
	var b strings.Builder
	for _, s := range r.Steps {
		b.WriteString(string(s.Status) + " " + s.ID + ": " + strings.Join(s.Evidence, "\n    ") + "\n  → " + s.Fix + "\n")
	}
	return b.String()
}

// want checks one step: its status, and words of its evidence and its fix.
func want(t *testing.T, r doctor.Report, id string, status doctor.Status, words ...string) {
	t.Helper()
	for _, s := range r.Steps {
		if s.ID != id {
			continue
		}
		if s.Status != status {
			t.Errorf("%s is %s, want %s:\n%s", id, s.Status, status, said(r))
			return
		}
		all := strings.Join(append(s.Evidence, s.Fix), "\n")
		for _, w := range words {
			if !strings.Contains(all, w) {
				t.Errorf("%s does not say %q:\n%s", id, w, all)
			}
		}
		return
	}
	t.Errorf("there is no step %s", id)
}

// fails checks the first failure.
func fails(t *testing.T, r doctor.Report, id string, kind failure.Kind, words ...string) {
	t.Helper()
	e := r.Err()
	if e == nil || e.Stage != id || e.Kind != kind {
		t.Errorf("%+v, want %s in %s:\n%s", e, kind, id, said(r))
		return
	}
	want(t, r, id, doctor.Failed, words...)
}

// healthy checks that nothing was found.
func healthy(t *testing.T, r doctor.Report) {
	t.Helper()
	if r.Status() != doctor.OK || !r.Connected() {
		t.Errorf("it is not healthy:\n%s", said(r))
	}
}

// entry is the only server of a file.
func entry(t *testing.T, file, text string) (config.Set, config.Server) {
	t.Helper()
	path := filepath.Join(t.TempDir(), file)
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	set, err := config.Load(config.Options{Files: []string{path}, LookupEnv: func(string) (string, bool) { return "", false }})
	if err != nil || len(set.Servers) != 1 {
		t.Fatalf("%v, %d servers", err, len(set.Servers))
	}
	return set, set.Servers[0]
}

// script is a program in a file.
func script(t *testing.T, text string) config.Server {
	t.Helper()
	path := filepath.Join(t.TempDir(), "server")
	require.NoError(t, os.WriteFile(path, []byte(text), 0o700))
	return config.OfCommand(path)
}

// cancelled is a context that ends once a step has begun.
func cancelled(t *testing.T) (context.Context, context.CancelFunc) {
	t.Helper()
	return context.WithCancel(t.Context())
}
