package task

import (
	"os"
	"os/exec"
	"strconv"
	"testing"

	"github.com/mcphud/mcphud/session/serve/natsconn"
	"github.com/mcphud/mcphud/session/test/nettest"
	"github.com/mcphud/mcphud/session/test/pgtest"
	"github.com/mcphud/mcphud/session/test/require"
)

func TestBackendTableInPostgres(t *testing.T) { testTable(t, "postgres") }

func TestBackendTasksOfBeforeAreCounted(t *testing.T) { tasksOfBefore(t, pgtest.Run(t)) }

// The server that Debian has knows neither times of single keys nor several filters of a consumer.
func TestBackendTableOnInstalledNATS(t *testing.T) { testTable(t, "installed nats") }

// installed starts the nats-server of this machine, and returns where it is.
func installed(t *testing.T) (url string) {
	t.Helper()
	if os.Getenv(pgtest.RequireEnv) == "" {
		t.Skipf("needs nats-server; set %s", pgtest.RequireEnv)
	}
	program, err := exec.LookPath("nats-server")
	if err != nil {
		if os.Getenv(pgtest.RequireEnv) == "required" {
			t.Fatal(err)
		}
		t.Skip(err)
	}
	port := strconv.Itoa(nettest.FreePort(t))
	cmd := exec.Command(program, "-a", "127.0.0.1", "-p", port, "-js", "-sd", t.TempDir())
	require.NoError(t, cmd.Start())
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait() // it was killed
	})
	url = "nats://127.0.0.1:" + port
	eventually(t, "nats-server answers", func() bool {
		conn, err := natsconn.Open(t.Context(), natsconn.Options{URL: url, Logger: quiet})
		if err != nil {
			return false
		}
		conn.Close()
		return true
	})
	return url
}
