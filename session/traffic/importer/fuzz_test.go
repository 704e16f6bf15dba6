package importer_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/mcphud/mcphud/session/test/require"
	"github.com/mcphud/mcphud/session/traffic/importer"
	"github.com/mcphud/mcphud/session/wire/journal"
)

// Whatever is in a file: it is refused with its name in the error, or each of its entries can be read.
func FuzzRead(f *testing.F) {
	files, err := filepath.Glob("testdata/*.*")
	if err != nil || len(files) == 0 {
		f.Fatal(files, err)
	}
	for _, name := range files {
		b, err := os.ReadFile(name)
		require.NoError(f, err)
		f.Add(b)
	}
	for _, s := range []string{
		`{"seq":1,"time":"2026-11-20T10:00:00Z","kind":"request","id":"1","size":2,"frame":{}}`, `{"missing":18446744073709551615,"kind":"x"}`,
		`[{"timestamp":"2026-11-20T10:00:00Z","direction":"request","message":{"jsonrpc":"2.0"},"duration":1e308}]`,
		`{"log":{"entries":[{"startedDateTime":"2026-11-20T10:00:00Z","time":-1,"request":{"method":"POST","url":"%","postData":{"text":"[{\"jsonrpc\":\"2.0\"}]"}},"response":{"status":-5,"content":{"encoding":"base64","text":"?"}},"_frames":[{"time":"x"}],"_ended":{}}]}}`,
		`{"session_id":"a","ts":"2026-11-20T10:00:00Z","direction":"s2c","transport":"http","status":99,"raw":[[[]]]}`, "\x1f\x8b\x08", "\ufeff[]",
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		file, err := importer.Read(io.NopCloser(bytes.NewReader(text)), "fuzzed")
		if err != nil {
			if !strings.Contains(err.Error(), "fuzzed") {
				t.Errorf("the error does not name the file: %v", err)
			}
			return
		}
		defer file.Close()
		ctx, stop := context.WithTimeout(t.Context(), 30*time.Second)
		defer stop()
		if err := file.Wait(ctx); ctx.Err() != nil {
			t.Fatalf("it is never read: %v, %+v", err, file.Progress())
		}
		file.Each(0, func(e *journal.Entry) bool {
			if _, err := file.Body(e.Seq); err != nil {
				t.Errorf("entry %d: %v", e.Seq, err)
			}
			return true
		})
	})
}

// A hostile file needs bounded memory and time: deep, endless, or of members without end.
func TestHostileFiles(t *testing.T) {
	har := func(e string) string { return `{"log":{"version":"1.2","entries":[` + e + `]}}` }
	good := `{"startedDateTime":"2026-11-20T10:00:00Z","time":1,"request":{"method":"POST","url":"http://h/","postData":{"mimeType":"","text":"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}"}},"response":{"status":200,"content":{}}}`
	for name, text := range map[string]string{
		"deep":     har(good + `,{"x":` + strings.Repeat("[", 200_000)),
		"deep log": `{"log":` + strings.Repeat(`{"a":`, 200_000),
		"wide":     har(good + `,{` + strings.Repeat(`"a":1,`, 200_000) + `"b":1}`),
		"many":     har(strings.Repeat(good+",", 5_000) + good),
		"deep SSE": har(strings.Replace(good, `"content":{}`, `"headers":[{"name":"Content-Type","value":"text/event-stream"}],"content":{"text":"`+strings.Repeat(`data: [\n\n`, 50_000)+`"}`, 1)),
		"lines":    strings.Repeat("\n", 1_000_000) + `{"session_id":"s","ts":"2026-11-20T10:00:00Z","direction":"c2s","raw":` + strings.Repeat("[", 100_000) + "\n",
		"servers":  manyServers(5_000),
	} {
		t.Run(name, func(t *testing.T) {
			f, err := importer.Read(io.NopCloser(strings.NewReader(text)), "hostile")
			if err != nil {
				if name != "deep log" && name != "lines" {
					t.Error(err)
				}
				return
			}
			defer f.Close()
			loaded(t, f)
			if p := f.Progress(); f.Len() == 0 || (strings.HasPrefix(name, "deep") || name == "wide") && name != "deep SSE" && p.Bad == 0 {
				t.Errorf("%d entries, %+v", f.Len(), p)
			}
		})
	}
}

func manyServers(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, `{"session_id":"s%d","server_label":"l%d","ts":"2026-11-20T10:00:00Z","direction":"c2s","raw":{"jsonrpc":"2.0","id":1,"method":"ping"}}`+"\n", i, i)
	}
	return b.String()
}
