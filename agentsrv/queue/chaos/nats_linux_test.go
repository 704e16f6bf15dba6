package chaos

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"

	"github.com/mcphud/mcphud/session/test/nettest"
	"github.com/mcphud/mcphud/session/test/pgtest"
	"github.com/mcphud/mcphud/session/test/require"
)

// natsEnv makes the test binary a NATS server: the library's, in a process of its own that can be killed. It has its settings.
const natsEnv = "MCPHUD_CHAOS_NATS"

type settingsOfNATS struct {
	Port    int
	Figures int // the port at which it says how it is
	Dir     string
}

// serveNATS is that process.
func serveNATS(settings string) error {
	var is settingsOfNATS
	if err := json.Unmarshal([]byte(settings), &is); err != nil {
		return err
	}
	s, err := server.NewServer(&server.Options{
		Host: "127.0.0.1", Port: is.Port, HTTPHost: "127.0.0.1", HTTPPort: is.Figures, StoreDir: is.Dir, NoSigs: true, JetStream: true, NoLog: true,
	})
	if err != nil {
		return err
	}
	s.Start()
	s.WaitForShutdown()
	return nil
}

// broker is a NATS server that keeps what it has on disk.
type broker struct {
	*proc
	URL     string
	figures string // where it says how it is
}

// nats makes one: Debian's program, or the library's server.
func nats(t testing.TB, home string, debian bool) *broker {
	t.Helper()
	figures, dir := nettest.FreePort(t), filepath.Join(home, "jetstream")
	env := environment(home)
	p := process(t, home, "nats", env, func(port string) []string {
		if debian {
			file, err := exec.LookPath("nats-server")
			if err != nil {
				t.Fatal(err) // who asks for it has looked
			}
			return []string{file, "-a", "127.0.0.1", "-p", port, "-m", strconv.Itoa(figures), "-js", "-sd", dir}
		}
		return []string{os.Args[0]}
	})
	if !debian {
		o, err := json.Marshal(settingsOfNATS{p.port, figures, dir})
		require.NoError(t, err)
		p.env = append(p.env, natsEnv+"="+string(o))
	}
	b := &broker{p, fmt.Sprintf("nats://127.0.0.1:%d", p.port), fmt.Sprintf("http://127.0.0.1:%d", figures)}
	p.probe = b.figures + "/healthz"
	return b
}

// debianNATS skips a test that needs Debian's server, unless MCPHUD_BACKENDS is set; with "required" a missing one fails it.
func debianNATS(t testing.TB) {
	t.Helper()
	want := os.Getenv(pgtest.RequireEnv)
	if want == "" {
		t.Skipf("needs nats-server; set %s", pgtest.RequireEnv)
	}
	if _, err := exec.LookPath("nats-server"); err != nil {
		if want == "required" {
			t.Fatalf("%v; testdata/backends/install installs it", err)
		}
		t.Skip(err)
	}
}

// get reads a page of the server's figures.
func (b *broker) get(page string, into any) {
	b.t.Helper()
	client := http.Client{Timeout: 10 * time.Second}
	defer client.CloseIdleConnections()
	res, err := client.Get(b.figures + page)
	if err == nil {
		defer res.Body.Close()
		err = json.NewDecoder(res.Body).Decode(into)
	}
	if err != nil {
		b.t.Fatalf("nats %s: %v", page, err)
	}
}

// streamed is a stream, and how many messages it has.
type streamed struct {
	Name  string
	State struct{ Messages int }
}

// streams are all that the server keeps.
func (b *broker) streams() (all []streamed) {
	var f struct {
		Accounts []struct {
			Streams []streamed `json:"stream_detail"`
		} `json:"account_details"`
	}
	b.get("/jsz?streams=true", &f)
	for _, a := range f.Accounts {
		all = append(all, a.Streams...)
	}
	return all
}
