package natstest

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/nats-io/jwt/v2"
	"github.com/nats-io/nkeys"

	"github.com/mcphud/mcphud/session/test/nettest"
	"github.com/mcphud/mcphud/session/test/require"
)

// RequireEnv says whether tests with installed servers run: not at all where it is not set, and if it is "required" they fail where one
// is missing.
const RequireEnv = "MCPHUD_BACKENDS"

// Installed is the nats-server of this machine in a process of its own, which speaks TLS with clients that show a certificate and have
// credentials.
type Installed struct {
	URL                  string
	CA, Cert, Key, Creds string // files

	t       testing.TB
	program string
	config  string
	at      string
	cmd     *exec.Cmd
}

// RunInstalled starts the installed server. A test without one is skipped.
func RunInstalled(t testing.TB) *Installed {
	t.Helper()
	if os.Getenv(RequireEnv) == "" {
		t.Skip(RequireEnv + " is not set")
	}
	program, err := exec.LookPath("nats-server")
	if err != nil {
		if os.Getenv(RequireEnv) == "required" {
			t.Fatal(err)
		}
		t.Skip(err)
	}
	authority := nettest.SelfSigned(t)
	server, client := authority.Sign(t), authority.Sign(t)
	port := strconv.Itoa(nettest.FreePort(t))
	s := &Installed{
		URL: "tls://127.0.0.1:" + port, CA: authority.Cert, Cert: client.Cert, Key: client.Key, Creds: filepath.Join(t.TempDir(), "user.creds"),
		t: t, program: program, at: "127.0.0.1:" + port, config: filepath.Join(t.TempDir(), "nats.conf"),
	}
	text := fmt.Sprintf("listen: %q\njetstream { store_dir: %q }\ntls { cert_file: %q, key_file: %q, ca_file: %q, verify: true }\n%s",
		s.at, t.TempDir(), server.Cert, server.Key, authority.Cert, s.accounts())
	require.NoError(t, os.WriteFile(s.config, []byte(text), 0o600))
	s.Restart()
	t.Cleanup(s.Kill)
	return s
}

// accounts makes an operator with an account that has JetStream, and a user of that.
func (s *Installed) accounts() string {
	s.t.Helper()
	must := func(err error) {
		s.t.Helper()
		require.NoError(s.t, err)
	}
	pair := func(make func() (nkeys.KeyPair, error)) (nkeys.KeyPair, string) {
		s.t.Helper()
		k, err := make()
		must(err)
		public, err := k.PublicKey()
		must(err)
		return k, public
	}
	operator, operatorID := pair(nkeys.CreateOperator)
	account, accountID := pair(nkeys.CreateAccount)
	_, systemID := pair(nkeys.CreateAccount)
	user, userID := pair(nkeys.CreateUser)
	oc := jwt.NewOperatorClaims(operatorID)
	oc.SystemAccount = systemID
	operatorJWT, err := oc.Encode(operator)
	must(err)
	ac := jwt.NewAccountClaims(accountID)
	ac.Limits.JetStreamLimits = jwt.JetStreamLimits{MemoryStorage: -1, DiskStorage: -1, Streams: -1, Consumer: -1}
	accountJWT, err := ac.Encode(operator)
	must(err)
	systemJWT, err := jwt.NewAccountClaims(systemID).Encode(operator)
	must(err)
	userJWT, err := jwt.NewUserClaims(userID).Encode(account)
	must(err)
	seed, err := user.Seed()
	must(err)
	creds, err := jwt.FormatUserConfig(userJWT, seed)
	must(err)
	must(os.WriteFile(s.Creds, creds, 0o600))
	return fmt.Sprintf("operator: %q\nsystem_account: %q\nresolver: MEMORY\nresolver_preload: { %s: %q, %s: %q }\n", operatorJWT, systemID, accountID, accountJWT, systemID, systemJWT)
}

// Kill ends the server with SIGKILL.
func (s *Installed) Kill() {
	if s.cmd != nil {
		_ = s.cmd.Process.Kill()
		_ = s.cmd.Wait() // it was killed
		s.cmd = nil
	}
}

// Restart starts it again, with what it kept and at the same port.
func (s *Installed) Restart() {
	s.t.Helper()
	s.Kill()
	s.cmd = exec.Command(s.program, "-c", s.config)
	s.cmd.Stderr = s.t.Output()
	require.NoError(s.t, s.cmd.Start())
	for end := time.Now().Add(startTime); ; time.Sleep(5 * time.Millisecond) {
		c, err := net.Dial("tcp", s.at)
		if err == nil {
			_ = c.Close()
			return
		}
		if time.Now().After(end) {
			s.t.Fatal("nats-server: ", err)
		}
	}
}
