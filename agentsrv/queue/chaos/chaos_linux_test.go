package chaos

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mcphud/mcphud/session/test/budget"
	"github.com/mcphud/mcphud/session/test/faketest"
	"github.com/mcphud/mcphud/session/test/pgtest"
	"github.com/mcphud/mcphud/session/test/require"
)

const (
	// chaosEnv is how long the chaos lasts, such as 5m, where that is not to be for as short as in .ci/run.
	chaosEnv = "MCPHUD_CHAOS"
	// seedEnv has the seed of what is killed when, and of what is called; a failure names the one it had.
	seedEnv = "MCPHUD_CHAOS_SEED"
)

// The tools write down that they were begun, in one write, before they do anything. One call in ten takes long.
const (
	once      = "once"  // must not run twice
	repeats   = "again" // may
	toolsYAML = `tools:
  - {name: once, description: Runs once, inputSchema: {type: object}, command: sh, args: [-c, %[1]q, once, %[2]q]}
  - {name: again, description: May run again, inputSchema: {type: object}, annotations: {idempotentHint: true}, command: sh, args: [-c, %[1]q, again, %[2]q]}
`
	toolScript = `IFS= read -r line; printf '%s\n' "$line" >>"$1"; case $line in *slow*) sleep 1.5;; *) sleep 0.02;; esac; printf %s "$line"`
)

// world is the processes of one test, and what its callers know.
type world struct {
	t       *testing.T
	seed    uint64
	runs    string // the file with a line for each beginning of a run
	agents  []*proc
	routers []*proc
	nats    *broker
	c       *caller

	mu       sync.Mutex
	calls    int
	answered map[string]string // calls that were no tasks: how they ended, "" for a result
	tasks    map[string]*accepted
	refused  map[string]int // what callers got instead of a task, or of a result, and how often
	kills    map[string]int
}

// accepted is a task whose id its caller has.
type accepted struct {
	id, call, tool string
	at             *proc // the replica that accepted it, nil where a router chose
	end            state // as it was first seen to be over
	seen           int   // how often its end was seen
	lost           bool  // somebody did not know it
}

// chaos lets callers work while monkeys kill, and judges what came of it.
func (w *world) chaos(d time.Duration, poll func(*rand.Rand, *accepted) door, doors func(*rand.Rand) (door, *proc)) {
	ctx, cancel := context.WithTimeout(w.t.Context(), d)
	defer cancel()
	var working sync.WaitGroup
	for i := range 6 {
		working.Go(func() { w.work(ctx, rand.New(rand.NewPCG(w.seed, uint64(i))), doors, poll) })
	}
	w.torment(ctx, rand.New(rand.NewPCG(w.seed, 1000)))
	working.Wait()
	for _, p := range slices.Concat(w.agents, w.routers) {
		p.ready()
	}
	w.settle(poll)
	w.emptied()
	w.judge(d)
}

// torment kills processes and starts them again until ctx ends; then all run.
func (w *world) torment(ctx context.Context, rnd *rand.Rand) {
	pause := func(least, most time.Duration) {
		select {
		case <-time.After(least + time.Duration(rnd.Int64N(int64(most-least)))):
		case <-ctx.Done():
		}
	}
	for pause(time.Second, 2*time.Second); ctx.Err() == nil; pause(200*time.Millisecond, 2*time.Second) {
		var victims []*proc
		switch n := rnd.IntN(10); {
		case n < 5:
			victims = append(victims, w.agents[rnd.IntN(len(w.agents))])
		case n < 7:
			victims = append(victims, w.routers[rnd.IntN(len(w.routers))])
		case n < 8 && w.nats != nil:
			victims = append(victims, w.nats.proc)
		default: // several at once
			victims = append(victims, w.agents[rnd.IntN(len(w.agents))], w.routers[rnd.IntN(len(w.routers))])
			if w.nats != nil && rnd.IntN(8) == 0 {
				victims = append(victims, w.nats.proc)
			}
		}
		for _, p := range victims {
			p.kill()
			w.mu.Lock()
			w.kills[strings.TrimRight(p.name, "0123456789")]++
			w.mu.Unlock()
		}
		pause(100*time.Millisecond, 1500*time.Millisecond)
		for _, p := range victims {
			p.start()
		}
	}
}

// work is one caller: it calls, and looks after its tasks, until ctx ends.
func (w *world) work(ctx context.Context, rnd *rand.Rand, doors func(*rand.Rand) (door, *proc), poll func(*rand.Rand, *accepted) door) {
	var mine []*accepted
	for ctx.Err() == nil {
		w.mu.Lock()
		w.calls++
		call := fmt.Sprintf("c%06d", w.calls)
		w.mu.Unlock()
		tool := []string{once, repeats}[rnd.IntN(2)]
		args := map[string]any{"call": call, "tenant_id": fmt.Sprintf("t%d", rnd.IntN(6))}
		if rnd.IntN(10) == 0 {
			args["how"] = "slow"
		}
		d, at := doors(rnd)
		limited, cancel := context.WithTimeout(w.t.Context(), 20*time.Second)
		if rnd.IntN(4) > 0 {
			if task := w.begin(limited, d, at, call, tool, args); task != nil {
				mine = append(mine, task)
			}
		} else {
			a, err := w.c.call(limited, d, tool, args)
			w.note(call, a, err)
		}
		cancel()
		mine = slices.DeleteFunc(mine, func(task *accepted) bool { return w.look(ctx, poll(rnd, task), task) })
		if len(mine) > 8 {
			select {
			case <-time.After(100 * time.Millisecond):
			case <-ctx.Done():
			}
		}
	}
}

// begin makes a task; nil if that was not accepted, as far as its caller knows.
func (w *world) begin(ctx context.Context, d door, at *proc, call, tool string, args map[string]any) *accepted {
	id, a, err := w.c.start(ctx, d, tool, args)
	if id == "" {
		w.note(call, a, cmp.Or(err, fmt.Errorf("no task: %s%s", a.failure(), a.Result)))
		return nil
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.tasks[id] != nil {
		w.t.Errorf("two tasks are called %s", id)
	}
	w.tasks[id] = &accepted{id: id, call: call, tool: tool, at: at}
	return w.tasks[id]
}

// note is what came of a call that did not become a task. Who is refused waits a little.
func (w *world) note(call string, a answer, err error) {
	if a.Error != nil || err != nil {
		defer time.Sleep(200 * time.Millisecond)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	outcome := a.failure()
	if err != nil {
		outcome = "no answer"
		w.refused[kindOf(err.Error())]++
	} else if outcome != "" {
		w.refused[kindOf(outcome)]++
	}
	w.answered[call] = outcome
}

// kindOf is a message without what is different each time.
func kindOf(message string) string {
	return strings.Map(func(r rune) rune {
		if r >= '0' && r <= '9' {
			return -1
		}
		return r
	}, message[max(0, len(message)-80):])
}

// look polls a task, and reports whether it is over.
func (w *world) look(ctx context.Context, d door, task *accepted) bool {
	limited, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	s, a, err := w.c.look(limited, d, task.id)
	switch {
	case err != nil:
		return false
	case a.Error != nil:
		if strings.Contains(a.failure(), "not found") {
			w.t.Errorf("seed %d: %s does not know task %s (%s) of %s: %s", w.seed, d.name, task.id, task.call, task.tool, a.failure())
			task.lost = true
		}
		return task.lost
	case !s.over():
		if task.seen > 0 {
			w.t.Errorf("seed %d: at %s task %s is %s after it was %s", w.seed, d.name, task.id, s.Status, task.end.Status)
		}
		return false
	case task.seen > 0 && !s.same(task.end):
		w.t.Errorf("seed %d: at %s task %s ended as %s %s %s, and before as %s %s %s", w.seed, d.name, task.id,
			s.Status, s.Result, s.Error, task.end.Status, task.end.Result, task.end.Error)
	}
	if task.seen++; task.seen == 1 {
		task.end = s
	}
	return true
}

// settle waits until all tasks are over, and looks at the latest again, from several sides: older ones may have given way.
func (w *world) settle(poll func(*rand.Rand, *accepted) door) {
	rnd := rand.New(rand.NewPCG(w.seed, 2000))
	all := slices.SortedFunc(maps.Values(w.tasks), func(a, b *accepted) int { return strings.Compare(a.call, b.call) })
	end := time.Now().Add(90 * time.Second)
	for _, task := range all {
		for task.seen == 0 && !task.lost {
			if w.look(w.t.Context(), poll(rnd, task), task) {
				break
			}
			if time.Now().After(end) {
				w.t.Errorf("seed %d: task %s (%s) of %s is lost: it has no end", w.seed, task.id, task.call, task.tool)
				break
			}
			time.Sleep(20 * time.Millisecond)
		}
	}
	for _, task := range all[max(0, len(all)-200):] {
		for range 4 {
			w.look(w.t.Context(), poll(rnd, task), task)
		}
	}
}

// emptied waits until the queue's server has no call left: what is over must not take the room of others.
func (w *world) emptied() {
	if w.nats == nil {
		return
	}
	left := func() (n int) {
		for _, s := range w.nats.streams() {
			if strings.HasPrefix(s.Name, "mcphud_queue_") {
				n += s.State.Messages
			}
		}
		return n
	}
	for end := time.Now().Add(90 * time.Second); left() > 0; time.Sleep(500 * time.Millisecond) {
		if time.Now().After(end) {
			w.t.Errorf("seed %d: %d calls are left in the stream", w.seed, left())
			return
		}
	}
}

// judge compares what callers were told with what ran.
func (w *world) judge(d time.Duration) {
	text, err := os.ReadFile(w.runs)
	require.NoError(w.t, err)
	runs := map[string]int{}
	for line := range strings.Lines(string(text)) {
		_, rest, _ := strings.Cut(line, `"call":"`)
		call, _, _ := strings.Cut(rest, `"`)
		runs[call+" "+map[bool]string{true: once, false: repeats}[strings.Contains(line, `"tool":"once"`)]]++
	}
	ran := func(call string) int { return runs[call+" "+once] + runs[call+" "+repeats] }
	ends, never, again := map[string]int{}, 0, 0
	for _, task := range w.tasks {
		n := ran(task.call)
		how := task.end.Status
		if strings.Contains(string(task.end.Error), "interrupted") {
			how = "interrupted"
		}
		ends[task.tool+" "+how]++
		switch {
		case task.tool == once && n > 1:
			w.t.Errorf("seed %d: task %s (%s) ran %d times, and must not be repeated; it is %s", w.seed, task.id, task.call, n, how)
		case how == "completed" && n == 0:
			w.t.Errorf("seed %d: task %s (%s) is completed, and never ran", w.seed, task.id, task.call)
		case how == "completed" && !strings.Contains(string(task.end.Result), task.call):
			w.t.Errorf("seed %d: task %s (%s) has the result of another: %s", w.seed, task.id, task.call, task.end.Result)
		}
		if n == 0 {
			never++
		}
		if n > 1 {
			again++
		}
	}
	results := 0
	for call, outcome := range w.answered {
		if outcome == "" {
			results++
			if ran(call) == 0 {
				w.t.Errorf("seed %d: call %s was answered, and never ran", w.seed, call)
			}
		}
		if runs[call+" "+once] > 1 {
			w.t.Errorf("seed %d: call %s ran %d times, and must not be repeated", w.seed, call, runs[call+" "+once])
		}
	}
	w.t.Logf("seed %d, %v: %d calls, of which %d became tasks and %d were answered at once; killed %v", w.seed, d, w.calls, len(w.tasks), results, w.kills)
	w.t.Logf("tasks ended as %v; %d never ran, %d ran more than once", ends, never, again)
	for _, what := range slices.Sorted(maps.Keys(w.refused)) {
		w.t.Logf("%5d got: %s", w.refused[what], what)
	}
	if len(w.tasks) == 0 || results == 0 || ends[once+" completed"] == 0 || ends[repeats+" completed"] == 0 {
		w.t.Errorf("seed %d: too little was done to say anything", w.seed)
	}
}

// newWorld prepares a test of so many agents and routers; nothing runs yet.
func newWorld(t *testing.T) (w *world, home string) {
	t.Helper()
	home = t.TempDir()
	seed := rand.Uint64()
	if s := os.Getenv(seedEnv); s != "" {
		var err error
		if seed, err = strconv.ParseUint(s, 10, 64); err != nil {
			t.Fatalf("%s: %v", seedEnv, err)
		}
	}
	w = &world{
		t: t, seed: seed, runs: filepath.Join(home, "runs"), c: newCaller(),
		answered: map[string]string{}, tasks: map[string]*accepted{}, refused: map[string]int{}, kills: map[string]int{},
	}
	t.Cleanup(w.c.http.CloseIdleConnections)
	t.Cleanup(func() {
		if t.Failed() {
			for _, p := range slices.Concat(w.agents, w.routers) {
				t.Logf("%s:\n%s", p.name, p.tail())
			}
		}
	})
	require.NoError(t, os.WriteFile(filepath.Join(home, "agent.yaml"), fmt.Appendf(nil, toolsYAML, toolScript, w.runs), 0o600))
	return w, home
}

// lasting is for how long there is chaos.
func lasting(t *testing.T, usual time.Duration) time.Duration {
	t.Helper()
	s := os.Getenv(chaosEnv)
	if s == "" {
		return usual
	}
	d, err := time.ParseDuration(s)
	if err != nil {
		t.Fatalf("%s: %v", chaosEnv, err)
	}
	return d
}

// agent adds one, with these arguments beside those that each has.
func (w *world) agent(home string, more ...string) *proc {
	p := process(w.t, home, fmt.Sprintf("agent%d", len(w.agents)+1), environment(home), func(port string) []string {
		return append([]string{faketest.Program(w.t, "cmd/mcphud"), "agent", "--port", port, "--config", filepath.Join(home, "agent.yaml"), "--name", "one", "--rate-limit", "0", "--tenant-concurrency", "0", "--concurrency", "4", "--log-level", "warning"}, more...)
	})
	w.agents = append(w.agents, p)
	return p
}

// router adds one.
func (w *world) router(home string, more ...string) *proc {
	p := process(w.t, home, fmt.Sprintf("router%d", len(w.routers)+1), environment(home), func(port string) []string {
		return append([]string{faketest.Program(w.t, "cmd/mcphud"), "router", "--port", port, "--routes", filepath.Join(home, "routing.json"), "--log-level", "error"}, more...)
	})
	w.routers = append(w.routers, p)
	return p
}

// TestChaosOfOneMachine is agents that share nothing, each with a database of its own: what a restart interrupts is reported as
// such by the agent that it was accepted by.
func TestChaosOfOneMachine(t *testing.T) {
	if !budget.All() && os.Getenv(chaosEnv) == "" {
		t.Skipf("builds the program and kills it for seconds: set %s=all", budget.TestsEnv)
	}
	w, home := newWorld(t)
	var table []string
	for i := range 2 {
		p := w.agent(home, "--store", filepath.Join(home, fmt.Sprintf("agent%d.db", i+1)))
		table = append(table, fmt.Sprintf(`%q:{"hostPort":%d,"waitReady":"2s"}`, p.name, p.port))
	}
	require.NoError(t, os.WriteFile(filepath.Join(home, "routing.json"), []byte(`{"routes":{`+strings.Join(table, ",")+`}}`), 0o600))
	w.router(home)
	for _, p := range slices.Concat(w.agents, w.routers) {
		p.start()
	}
	for _, p := range slices.Concat(w.agents, w.routers) {
		p.ready()
	}
	at := func(rnd *rand.Rand, p *proc) door {
		if rnd.IntN(2) == 0 {
			return door{p.name, p.url("/mcp")}
		}
		r := w.routers[rnd.IntN(len(w.routers))]
		return door{r.name + " to " + p.name, r.url("/mcps/" + p.name + "/mcp")}
	}
	w.chaos(lasting(t, 5*time.Second), func(rnd *rand.Rand, task *accepted) door { return at(rnd, task.at) }, func(rnd *rand.Rand) (door, *proc) {
		p := w.agents[rnd.IntN(len(w.agents))]
		return at(rnd, p), p
	})
}

// TestBackendChaos is replicas that share Debian's NATS server, which is killed like they are.
func TestBackendChaos(t *testing.T) {
	debianNATS(t)
	queued(t, true, lasting(t, 25*time.Second))
}

// TestChaos is the same on the library's server, and shorter.
func TestChaos(t *testing.T) {
	if !budget.All() {
		t.Skipf("builds the program and kills it for seconds: set %s=all", budget.TestsEnv)
	}
	queued(t, false, 6*time.Second)
}

// TestBackendChaosOfOneDatabase is replicas that share a PostgreSQL database, and no queue: what runs at one that is killed ends as
// interrupted, whoever finds that out.
func TestBackendChaosOfOneDatabase(t *testing.T) {
	url := pgtest.Run(t)
	w, home := newWorld(t)
	w.replicas(home, lasting(t, 10*time.Second), []string{"--store", url}, nil)
}

// queued is replicas that share a NATS server, Debian's or the library's.
func queued(t *testing.T, debian bool, d time.Duration) {
	w, home := newWorld(t)
	w.nats = nats(t, home, debian)
	w.nats.start()
	w.nats.ready()
	w.replicas(home, d, []string{"--ephemeral", "--queue", w.nats.URL}, []string{"--cluster", w.nats.URL})
}

// replicas is chaos among three agents of one name behind two routers. Whoever accepted a task, any of them knows it.
func (w *world) replicas(home string, d time.Duration, ofAgents, ofRouters []string) {
	var urls []string
	for range 3 {
		urls = append(urls, strconv.Quote(w.agent(home, ofAgents...).url("/mcp")))
	}
	require.NoError(w.t, os.WriteFile(filepath.Join(home, "routing.json"), []byte(`{"routes":{"one":{"urls":[`+strings.Join(urls, ",")+`],"waitReady":"2s"}}}`), 0o600))
	for range 2 {
		w.router(home, ofRouters...)
	}
	for _, p := range slices.Concat(w.agents, w.routers) {
		p.shared = w.nats != nil
		p.start()
	}
	for _, p := range slices.Concat(w.agents, w.routers) {
		p.ready()
	}
	any := func(rnd *rand.Rand) door {
		if n := rnd.IntN(len(w.agents) + len(w.routers)); n < len(w.agents) {
			return door{w.agents[n].name, w.agents[n].url("/mcp")}
		} else {
			r := w.routers[n-len(w.agents)]
			return door{r.name, r.url("/mcps/one/mcp")}
		}
	}
	w.chaos(d, func(rnd *rand.Rand, _ *accepted) door { return any(rnd) }, func(rnd *rand.Rand) (door, *proc) { return any(rnd), nil })
}
