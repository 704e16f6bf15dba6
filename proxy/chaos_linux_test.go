package proxy

import (
	"bufio"
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/mcphud/mcphud/proxy/policy/audit"
	"github.com/mcphud/mcphud/proxy/policy/breaker"
	"github.com/mcphud/mcphud/session/base/jsonrpc"
	"github.com/mcphud/mcphud/session/test/budget"
	"github.com/mcphud/mcphud/session/test/nettest"
	"github.com/mcphud/mcphud/session/test/require"
)

// TestChaos puts a router with agents of every kind under load while agents are killed, stopped, restarted and made slow,
// die within answers and flood, and routing.json is written anew. Each request has a result that is its own, or an error that
// is allowed; nothing done to one agent is felt at another; and nothing is left at the end.
func TestChaos(t *testing.T) {
	d := 2 * time.Second
	if budget.All() {
		d = 5 * time.Second
	}
	chaos(t, d)
}

// TestBudgetChaos is the same for a minute.
func TestBudgetChaos(t *testing.T) {
	budget.Skip(t)
	chaos(t, time.Minute)
}

func chaos(t *testing.T, d time.Duration) {
	http.DefaultClient.CloseIdleConnections()
	names, at := []string{"calm", "shifting", "coming", "wild1", "wild2"}, map[string]int{}
	for _, name := range names {
		at[name] = nettest.FreePort(t)
	}
	before := heldNow(t)
	transport := &http.Transport{MaxIdleConnsPerHost: 64}
	c := &chaosClients{
		t: t, http: &http.Client{Transport: transport}, calm: []string{"calm", "shifting"}, absent: "coming",
		got: map[string]map[string]int{}, sessions: map[string]string{},
	}
	var puppets []*puppet
	for _, name := range names {
		puppets = append(puppets, newPuppet(t, name, at[name]))
	}
	audited := filepath.Join(t.TempDir(), "audit.jsonl")
	c.f = start(t, Options{
		Audit: audit.Options{File: audited}, Breaker: breaker.Options{Pause: 20 * time.Millisecond, MaxPause: 200 * time.Millisecond},
	}, chaosRoutes(at, 0)...)
	var cancel context.CancelFunc
	c.stop, cancel = context.WithTimeout(t.Context(), d)
	defer cancel()
	var clients, monkeys sync.WaitGroup
	for _, k := range []struct {
		n   int
		run func(*chaosClients)
	}{
		{4, (*chaosClients).sessionless},
		{4, (*chaosClients).readers},
		{3, (*chaosClients).modern},
		{4, (*chaosClients).holders},
		{2, (*chaosClients).leavers},
		{3, (*chaosClients).merged},
		{1, (*chaosClients).listener},
	} {
		for range k.n {
			clients.Go(func() { k.run(c) })
		}
	}
	monkeys.Go(func() { torment(c, puppets[3:]) })
	monkeys.Go(func() { tormentProcesses(c) })
	monkeys.Go(func() { rewrite(c, at) })
	clients.Wait()
	monkeys.Wait()
	c.f.write(t, table(chaosRoutes(at, 0)...))
	require.Eventually(t, "the last routes", func() bool { return c.f.Reload() == nil })
	for _, name := range append(names, "pipe", "shared") {
		// A process that kept ending is started again after half a minute at the latest.
		for end := time.Now().Add(2 * time.Minute); c.call(chaosAsk{agent: name, path: "/mcps/" + name + "/mcp", id: "1"}) != gotResult; time.Sleep(50 * time.Millisecond) {
			if time.Now().After(end) {
				t.Fatalf("%s is not well again: %+v", name, c.f.Status().Agents[name])
			}
		}
	}
	c.judge(d)
	c.nothingRuns()
	transport.CloseIdleConnections()
	ctx, end := context.WithTimeout(t.Context(), 20*time.Second)
	defer end()
	if err := c.f.Close(ctx); err != nil {
		t.Errorf("close: %v", err)
	}
	for _, p := range puppets {
		p.end()
	}
	for end := time.Now().Add(20 * time.Second); ; time.Sleep(10 * time.Millisecond) {
		now := heldNow(t)
		if now.goroutines <= before.goroutines && now.files <= before.files && len(now.children) == 0 {
			break
		}
		if time.Now().After(end) {
			buf := make([]byte, 1<<20)
			t.Fatalf("before %+v, after %+v\n%s", before, now, buf[:runtime.Stack(buf, true)])
		}
	}
}

// chaosRoutes are the routes after n rewritings: one is the same but for a header each time, and one is there every other time.
func chaosRoutes(at map[string]int, n int) []string {
	here := func(name, more string) string { return fmt.Sprintf(`%q:{"hostPort":%d%s}`, name, at[name], more) }
	process := func(name, mode string) string {
		return fmt.Sprintf(`%q:{"command":%s,"env":{%q:"chaos-stdio:%s"},"session":%q,"timeout":"1s"}`, name, jsonrpc.Quote(os.Args[0]), childEnv, name, mode)
	}
	all := []string{
		here("calm", `,"stream":true`), here("shifting", fmt.Sprintf(`,"headers":{"X-Generation":"%d"}`, n)),
		here("wild1", `,"timeout":"1s"`), here("wild2", `,"timeout":"1s","waitReady":"300ms"`), process("pipe", "per-session"), process("shared", "shared"),
	}
	if n%2 == 0 {
		all = append(all, here("coming", ""))
	}
	return all
}

// judge looks at what became of the requests as a whole.
func (c *chaosClients) judge(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	sum := map[string]int{}
	for agent, of := range c.got {
		c.t.Logf("%-8s %v", agent, of)
		for outcome, n := range of {
			sum[outcome] += n
		}
		if of[gotResult] == 0 {
			c.t.Errorf("%s never gave a result: %v", agent, of)
		}
	}
	c.t.Logf("in %v %d requests: %v", d, c.asked.Load(), sum)
	for _, outcome := range []string{gotResult, gotFail, gotLeft, gotGone, gotDown, gotPaused, gotSilent, gotNoAgent, gotBroken} {
		if sum[outcome] == 0 && d >= time.Minute {
			c.t.Errorf("nothing ended as %q, which was meant to happen", outcome)
		}
	}
}

// nothingRuns waits until the router serves no call any more, but for the stream of the session that callers without one share
// when they call all agents as one.
func (c *chaosClients) nothingRuns() {
	require.Eventually(c.t, "all calls to end", func() bool {
		for name, a := range c.f.Status().Agents {
			streams := 0
			if name == "calm" {
				streams = 1
			}
			if a.InFlight > streams || c.f.Calls(name) > streams {
				return false
			}
		}
		return true
	})
}

// torment kills, stops and lets go on agents until the time is over.
func torment(c *chaosClients, of []*puppet) {
	for !c.over() {
		p := pick(of...)
		if rand.IntN(2) == 0 {
			p.signal(syscall.SIGKILL)
		} else {
			p.signal(syscall.SIGSTOP)
			c.sleep(time.Duration(100+rand.IntN(1400)) * time.Millisecond)
			p.signal(syscall.SIGCONT)
		}
		c.sleep(time.Duration(rand.IntN(400)) * time.Millisecond)
	}
}

// tormentProcesses does the same to the processes that the router runs.
func tormentProcesses(c *chaosClients) {
	for !c.over() {
		st := c.f.Status().Agents[pick("pipe", "shared")].Process
		if st == nil || len(st.Processes) == 0 {
			c.sleep(20 * time.Millisecond)
			continue
		}
		pid := pick(st.Processes...).PID
		ours := func() bool { return slices.Contains(childrenNow(c.t), pid) }
		if ours() && rand.IntN(2) == 0 {
			_ = syscall.Kill(pid, syscall.SIGKILL) // may have ended by itself; so below
		} else if ours() {
			_ = syscall.Kill(pid, syscall.SIGSTOP)
			c.sleep(time.Duration(100+rand.IntN(1400)) * time.Millisecond)
			if ours() {
				_ = syscall.Kill(pid, syscall.SIGCONT)
			}
		}
		c.sleep(time.Duration(rand.IntN(400)) * time.Millisecond)
	}
}

// rewrite writes routing.json anew, now and then only a part of it.
func rewrite(c *chaosClients, at map[string]int) {
	for n := 1; !c.over(); n++ {
		text := table(chaosRoutes(at, n)...)
		if n%3 == 0 {
			c.f.write(c.t, text[:len(text)/2])
			_ = c.f.Reload() // the last good routes stay
			c.sleep(50 * time.Millisecond)
		}
		c.f.write(c.t, text)
		c.sleep(time.Duration(100+rand.IntN(300)) * time.Millisecond)
	}
}

func (c *chaosClients) sleep(d time.Duration) {
	select {
	case <-time.After(d):
	case <-c.stop.Done():
	}
}

// puppet is an agent in a process of its own, which is started again whenever it ends.
type puppet struct {
	t    *testing.T
	name string
	port int
	done sync.WaitGroup

	mu    sync.Mutex
	cmd   *exec.Cmd
	ended bool
}

// newPuppet starts an agent.
func newPuppet(t *testing.T, name string, port int) *puppet {
	t.Helper()
	p := &puppet{t: t, name: name, port: port}
	first := make(chan bool)
	p.done.Go(func() {
		for again := false; ; again = true {
			up := p.start()
			if !again {
				first <- up
			}
			p.mu.Lock()
			cmd, ended := p.cmd, p.ended
			p.mu.Unlock()
			if ended {
				return
			}
			_ = cmd.Wait() // it is killed, or ends as it was told to
			time.Sleep(time.Duration(rand.IntN(200)) * time.Millisecond)
		}
	})
	t.Cleanup(p.end)
	if !<-first {
		t.Fatalf("%s does not start", name)
	}
	return p
}

// start starts the process and waits until it listens.
func (p *puppet) start() bool {
	p.mu.Lock()
	if p.ended {
		p.mu.Unlock()
		return false
	}
	p.cmd = exec.Command(os.Args[0])
	p.cmd.Env = append(os.Environ(), fmt.Sprintf("%s=chaos:%s:%d", childEnv, p.name, p.port))
	p.cmd.Stderr = os.Stderr
	_, err := p.cmd.StdinPipe() // is closed by Wait
	out, err2 := p.cmd.StdoutPipe()
	if err == nil && err2 == nil {
		err = p.cmd.Start()
	}
	p.mu.Unlock()
	if err != nil {
		p.t.Errorf("%s: %v", p.name, err)
		return false
	}
	_, err = bufio.NewReader(out).ReadString('\n')
	return err == nil
}

func (p *puppet) signal(s syscall.Signal) {
	p.mu.Lock()
	defer p.mu.Unlock()
	_ = p.cmd.Process.Signal(s) // may have ended by itself
}

func (p *puppet) end() {
	p.mu.Lock()
	p.ended = true
	_ = p.cmd.Process.Kill() // as above
	p.mu.Unlock()
	p.done.Wait()
}

// held is what this process holds.
type held struct {
	goroutines, files int
	children          []int
}

func heldNow(t testing.TB) held {
	t.Helper()
	files, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Skip("there is no /proc here")
	}
	return held{runtime.NumGoroutine(), len(files), childrenNow(t)}
}

// childrenNow are the processes that this one started.
func childrenNow(t testing.TB) (pids []int) {
	t.Helper()
	all, err := filepath.Glob("/proc/[0-9]*/stat")
	require.NoError(t, err)
	for _, file := range all {
		b, err := os.ReadFile(file)
		if err != nil {
			continue // it ended meanwhile
		}
		if _, rest, _ := strings.Cut(string(b), ") "); len(rest) > 2 && strings.HasPrefix(rest[2:], strconv.Itoa(os.Getpid())+" ") {
			pid, err := strconv.Atoi(strings.Split(file, "/")[2])
			if err == nil {
				pids = append(pids, pid)
			}
		}
	}
	return pids
}
