package fuzz

import (
	"errors"
	"net"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/mcphud/mcphud/session/check"
	"github.com/mcphud/mcphud/session/config"
	"github.com/mcphud/mcphud/session/test/nettest"
)

// mortal is a server over HTTP that a tool ends, with others before and after it. It comes back where again says so.
func mortal(t *testing.T, again bool) config.Server {
	t.Helper()
	var (
		mu    sync.Mutex
		srv   *http.Server
		ln    net.Listener
		done  sync.WaitGroup
		tools []tool
		over  bool
	)
	listen := func(at string) {
		mu.Lock()
		defer mu.Unlock()
		if over {
			return
		}
		l, err := net.Listen("tcp", at)
		// A process that another test forks has the socket of before until it runs its program.
		for end := time.Now().Add(10 * time.Second); errors.Is(err, syscall.EADDRINUSE) && time.Now().Before(end); l, err = net.Listen("tcp", at) {
			time.Sleep(10 * time.Millisecond)
		}
		if err != nil {
			t.Error(err)
			return
		}
		own := &http.Server{Handler: handler(tools), ReadHeaderTimeout: time.Minute}
		srv, ln = own, l
		done.Go(func() { _ = own.Serve(l) }) // it ends with Close
	}
	end := func() {
		mu.Lock()
		defer mu.Unlock()
		_ = srv.Close() // nothing depends on it
		_ = ln.Close()  // Close does not know of it before Serve runs, and the next one listens there too
	}
	at := "127.0.0.1:" + strconv.Itoa(nettest.FreePort(t)) // nobody else is given it meanwhile
	exit := func(string) string {
		end()
		if again {
			done.Go(func() { listen(at) })
		}
		return says("gone")
	}
	well := func(string) string { return says("well") }
	tools = []tool{{name: "first", input: anything, answer: well}, {name: "exit", input: `{"type":"object","properties":{"code":{"const":3}}}`, answer: exit}, {name: "last", input: anything, answer: well}}
	listen(at)
	t.Cleanup(func() {
		end()
		mu.Lock()
		over = true
		mu.Unlock()
		done.Wait()
	})
	return config.Server{Transport: config.HTTP, URL: "http://" + at + "/mcp"}
}

// TestServerGone: a server that nobody starts again is a finding at the call in which it ended, and nowhere else; what was not called is named.
func TestServerGone(t *testing.T) {
	t.Parallel()
	rep := fuzzed(t, mortal(t, false), Options{Seed: 7, Runs: 3, Timeout: 2 * time.Second})
	for _, f := range rep.Findings {
		if f.ID == "fuzz/died" && (f.Place.Name != "exit" || f.Severity != check.Error || !strings.Contains(f.Message, "the server is gone since exit was called")) {
			t.Errorf("%s: %v: %s", f.Place.Name, f.Severity, f.Message)
		}
	}
	if !slices.ContainsFunc(found(rep), func(s string) bool { return strings.HasPrefix(s, "died exit") }) {
		t.Errorf("%q", found(rep))
	}
	s := rep.Sections[len(rep.Sections)-1]
	gone := regexp.MustCompile(`the server is gone since exit was called(, beside first)?; start it again`) // a busy machine is slow to answer first
	if !gone.MatchString(s.Error) {
		t.Errorf("%q", s.Error)
	}
	skipped := slices.ContainsFunc(s.Outcomes, func(o check.Outcome) bool {
		return o.Place.Name == "last" && o.Verdict == check.Skipped && o.Why == "not called: the server is gone"
	})
	if !skipped || !slices.ContainsFunc(s.Table, func(row []string) bool { return row[0] == "tool last" && row[7] == "not called: the server is gone" }) {
		t.Errorf("%+v", s)
	}
}

// TestServerComesBack: one that is started again is called on, and the failure is made small.
func TestServerComesBack(t *testing.T) {
	t.Parallel()
	rep := fuzzed(t, mortal(t, true), Options{Seed: 7, Runs: 3, Timeout: 30 * time.Second})
	died := slices.DeleteFunc(found(rep), func(s string) bool { return !strings.HasPrefix(s, "died ") })
	if !slices.Equal(died, []string{"died exit"}) {
		t.Errorf("%q", died)
	}
	for _, s := range rep.Sections {
		for _, o := range s.Outcomes {
			if o.Verdict == check.Skipped || s.Error != "" {
				t.Errorf("%s: %+v", s.Error, o)
			}
		}
	}
}
