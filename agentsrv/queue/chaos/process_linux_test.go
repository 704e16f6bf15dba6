package chaos

import (
	"bytes"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/mcphud/mcphud/session/test/leaktest"
	"github.com/mcphud/mcphud/session/test/nettest"
)

func TestMain(m *testing.M) {
	if settings := os.Getenv(natsEnv); settings != "" {
		if err := serveNATS(settings); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(leaktest.Run(m))
}

// proc is a process that is killed and started again, always at the same port.
type proc struct {
	t    testing.TB
	name string
	port int
	args []string
	env  []string
	log  string // the file that it writes to
	// probe answers 200 when it is ready.
	probe string

	// shared is set where it needs a server that is killed as well: a process that finds none at its start ends with exit code 1, and is started
	// again, as a supervisor does.
	shared bool

	mu  sync.Mutex
	cmd *exec.Cmd
	off chan struct{} // closed when it is killed
	end chan struct{} // closed when it is looked after no more
}

// process makes one; args are made of its port. The process ends with the test.
func process(t testing.TB, home, name string, env []string, args func(port string) []string) *proc {
	t.Helper()
	p := &proc{t: t, name: name, port: nettest.FreePort(t), env: env, log: filepath.Join(home, name+".log")}
	p.args, p.probe = args(strconv.Itoa(p.port)), p.url("/ready")
	t.Cleanup(p.kill)
	return p
}

// url is a path of it.
func (p *proc) url(path string) string { return fmt.Sprintf("http://127.0.0.1:%d%s", p.port, path) }

// start starts it without waiting until it is ready.
func (p *proc) start() {
	p.mu.Lock()
	defer p.mu.Unlock()
	cmd, err := p.begin()
	if err != nil {
		p.t.Errorf("%s: %v", p.name, err)
		return
	}
	p.cmd, p.off, p.end = cmd, make(chan struct{}), make(chan struct{})
	go p.keep(cmd, p.off, p.end)
}

// begin starts the process.
func (p *proc) begin() (*exec.Cmd, error) {
	log, err := os.OpenFile(p.log, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, err
	}
	defer log.Close()
	cmd := exec.Command(p.args[0], p.args[1:]...)
	cmd.Env, cmd.Dir, cmd.Stdout, cmd.Stderr = p.env, filepath.Dir(p.log), log, log
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	return cmd, cmd.Start()
}

// keep waits for the process, and starts it again where it found no server at its start. Nothing else may end it but being killed.
func (p *proc) keep(cmd *exec.Cmd, off, end chan struct{}) {
	defer close(end)
	for {
		_ = cmd.Wait()
		select {
		case <-off:
			return
		default:
		}
		if code := cmd.ProcessState.ExitCode(); !p.shared || code != 1 {
			p.t.Errorf("%s ended by itself: %v\n%s", p.name, cmd.ProcessState, p.tail())
			return
		}
		select {
		case <-off:
			return
		case <-time.After(200 * time.Millisecond):
		}
		p.mu.Lock()
		select {
		case <-off:
			p.mu.Unlock()
			return
		default:
		}
		next, err := p.begin()
		if err != nil {
			p.t.Errorf("%s: %v", p.name, err)
			p.mu.Unlock()
			return
		}
		cmd, p.cmd = next, next
		p.mu.Unlock()
	}
}

// kill ends it by SIGKILL, and waits until it is gone.
func (p *proc) kill() {
	p.mu.Lock()
	if p.cmd == nil {
		p.mu.Unlock()
		return
	}
	close(p.off)
	if err := p.cmd.Process.Kill(); err != nil && !errors.Is(err, os.ErrProcessDone) {
		p.t.Errorf("%s: %v", p.name, err)
	}
	p.cmd = nil
	end := p.end
	p.mu.Unlock()
	<-end
}

// ready waits until it says so.
func (p *proc) ready() {
	p.t.Helper()
	client := http.Client{Timeout: 5 * time.Second}
	defer client.CloseIdleConnections()
	for end := time.Now().Add(time.Minute); ; time.Sleep(20 * time.Millisecond) {
		if res, err := client.Get(p.probe); err == nil {
			_ = res.Body.Close()
			if res.StatusCode == http.StatusOK {
				return
			}
		}
		if time.Now().After(end) {
			p.t.Fatalf("%s is not ready:\n%s", p.name, p.tail())
		}
	}
}

// tail is the end of what it wrote.
func (p *proc) tail() []byte {
	text, _ := os.ReadFile(p.log)
	lines := bytes.Split(text, []byte("\n"))
	return bytes.Join(lines[max(0, len(lines)-20):], []byte("\n"))
}

// environment is what the processes of a test get: no settings of whoever runs it.
func environment(home string) []string {
	return []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + home, "TMPDIR=" + home, "XDG_RUNTIME_DIR=" + home, "XDG_STATE_HOME=" + home, "XDG_CONFIG_HOME=" + home,
		"MCPHUD_CREDENTIALS=file",
	}
}
