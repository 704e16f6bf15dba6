package hostile

import (
	"context"
	"encoding/json"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/mark3labs/mcp-go/server"

	"github.com/mcphud/mcphud/agentsrv/front"
	"github.com/mcphud/mcphud/session/serve/fault"
)

// serveFaults is an agent with the profile, spoken to as a caller without a session does.
func serveFaults(t *testing.T) func(name, args string) (status int, answer string, err error) {
	t.Helper()
	f := NewFaults()
	engine := server.NewMCPServer("t", "1", front.EngineOptions()...)
	engine.AddTools(f.Tools()...)
	fr := front.New(front.Options{Engine: engine})
	srv := httptest.NewUnstartedServer(f.Wrap(fr.Handler()))
	srv.Config.ErrorLog = log.New(io.Discard, "", 0)
	srv.Start()
	hc := &http.Client{Transport: &http.Transport{}, Timeout: 20 * time.Second}
	t.Cleanup(func() {
		hc.CloseIdleConnections()
		srv.Close()
		ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
		defer cancel()
		_ = fr.Close(ctx)
	})
	return func(name, args string) (int, string, error) {
		res, err := hc.Post(srv.URL+"/mcp", "application/json",
			strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"`+name+`","arguments":`+args+`}}`))
		if err != nil {
			return 0, "", err
		}
		defer res.Body.Close()
		raw, err := io.ReadAll(res.Body)
		return res.StatusCode, string(raw), err
	}
}

func TestE5_PanicIsAnInternalError(t *testing.T) {
	call := serveFaults(t)
	_, answer, err := call("panic", `{}`)
	if err != nil || !strings.Contains(answer, `"code":-32603`) || strings.Contains(answer, "goroutine") || strings.Contains(answer, "was called") {
		t.Errorf("%s %v", answer, err)
	}
	if _, answer, err = call("fault_status", `{}`); err != nil || !strings.Contains(answer, `"requests":1`) {
		t.Errorf("after a panic: %s %v", answer, err)
	}
}

func TestFaultsAreSetWhileItRuns(t *testing.T) {
	call := serveFaults(t)
	if _, answer, err := call("fault_set", `{"drop_percent":100,"seed":5}`); err != nil || !strings.Contains(answer, `"drop_percent":100`) {
		t.Fatalf("%s %v", answer, err)
	}
	for range 3 {
		if _, answer, err := call("panic", `{}`); err == nil {
			t.Errorf("not dropped: %s", answer)
		}
	}
	// The tools that control the faults get through.
	_, answer, err := call("fault_status", `{}`)
	var m struct {
		Result struct {
			StructuredContent struct {
				Requests int
				Injected map[fault.Kind]int
				Seed     int
			}
		}
	}
	if jerr := json.Unmarshal([]byte(answer), &m); err != nil || jerr != nil || m.Result.StructuredContent.Injected[fault.Drop] < 3 || m.Result.StructuredContent.Seed != 5 {
		t.Errorf("%s %v %v", answer, err, jerr)
	}
	if _, answer, err := call("fault_set", `{}`); err != nil || !strings.Contains(answer, `"drop_percent":0`) {
		t.Fatalf("%s %v", answer, err)
	}
	if _, answer, err := call("panic", `{}`); err != nil {
		t.Errorf("%s %v", answer, err)
	}
	for _, kind := range fault.Kinds() {
		if _, answer, err := call("fault_next", `{"kind":"`+string(kind)+`"}`); err != nil || !strings.Contains(answer, `"kind":"`+string(kind)) {
			t.Errorf("%s: %s %v", kind, answer, err)
		}
		if !strings.Contains(nextInput, `"`+string(kind)+`"`) {
			t.Errorf("the schema of fault_next lacks %s", kind)
		}
	}
	for tool, args := range map[string]string{"fault_next": `{"kind":"no"}`, "fault_set": `{"delay_ms":9223372036854775807}`} {
		if _, answer, err := call(tool, args); err != nil || !strings.Contains(answer, `"isError":true`) {
			t.Errorf("%s: %s %v", tool, answer, err)
		}
	}
}
