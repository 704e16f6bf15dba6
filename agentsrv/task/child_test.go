package task

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"github.com/mcphud/mcphud/agentsrv/front"
	"github.com/mcphud/mcphud/agentsrv/kit"
	"github.com/mcphud/mcphud/agentsrv/queue"
	"github.com/mcphud/mcphud/session/base/store"
	"github.com/mcphud/mcphud/session/test/childtest"
	"github.com/mcphud/mcphud/session/test/require"
)

// child is a process that serves tasks from a store in dir until it is killed.
func child(dir string) {
	fatal := func(err error) {
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	}
	db, err := store.Open(filepath.Join(dir, "tasks.db"))
	fatal(err)
	tasks := New(Options{Table: SQL(db, quiet), Logger: quiet, Default: Policy{Support: mcp.TaskSupportOptional}})
	fatal(tasks.Open(context.Background()))
	engine := server.NewMCPServer("child", "1.0.0", append(front.EngineOptions(), server.WithToolCapabilities(true))...)
	engine.AddTool(mcp.NewTool("work"), func(ctx context.Context, _ mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		for ctx.Err() == nil {
			if err := kit.Log(ctx, mcp.LoggingLevelError, "child", "still at it"); err != nil {
				return nil, err
			}
		}
		return nil, ctx.Err()
	})
	engine.AddTool(mcp.NewTool("quick"), func(context.Context, mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return mcp.NewToolResultText("done"), nil
	})
	srv := front.New(front.Options{
		Engine: engine, Routes: tasks.Routes(), Logger: quiet,
		Use: []front.Middleware{tasks.Middleware(), queue.New(queue.Options{Logger: quiet}).Middleware()},
	})
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	fatal(err)
	fmt.Println("http://" + ln.Addr().String())
	fatal(http.Serve(ln, srv.Handler()))
}

// spawn starts a child and returns how to reach and to kill it.
func spawn(t *testing.T, dir string) (url string, kill func()) {
	t.Helper()
	c := childtest.Start(t, "MCPHUD_TASK_CHILD="+dir)
	t.Cleanup(c.Kill) // it does not look at its input
	return c.Line, c.Kill
}

func TestQ8_KilledMidTask(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	url, kill := spawn(t, dir)
	r := &rig{t: t, url: url, client: &http.Client{Transport: &http.Transport{}}}
	t.Cleanup(r.client.CloseIdleConnections)
	async := func(tool string) string {
		a := r.tool(sessionless, tool, nil, "_meta", map[string]any{"async": true})
		s, _ := a.Result["structuredContent"].(map[string]any)
		return s["taskId"].(string)
	}
	quick := async("quick")
	r.until("one is done", func() bool { _, page := r.get("/tasks/" + quick); return page["status"] == "completed" })
	work, queued := async("work"), async("quick")
	r.until("one runs, and has said so in the store", func() bool {
		db, err := store.Open(filepath.Join(dir, "tasks.db"))
		require.NoError(t, err)
		defer db.Close()
		var n int
		err = db.QueryRow(`SELECT coalesce(length(log), 0) FROM task_records WHERE id = ?`, work).Scan(&n)
		return err == nil && n > 0
	})
	kill()
	r.url, _ = spawn(t, dir)
	for _, id := range []string{work, queued} {
		status, page := r.get("/tasks/" + id)
		problem, _ := json.Marshal(page["error"])
		if status != 200 || page["status"] != "failed" || !strings.Contains(string(problem), `"kind":"interrupted"`) || !strings.Contains(page["statusMessage"].(string), "interrupted") {
			t.Errorf("%d %v", status, page["statusMessage"])
		}
		if id == work && !strings.Contains(page["log"].(string), "still at it") {
			t.Error("its log is lost")
		}
	}
	if _, page := r.get("/tasks/" + quick); page["status"] != "completed" || resultText(page["result"].(map[string]any)) != "done" {
		t.Errorf("%v", page)
	}
}
