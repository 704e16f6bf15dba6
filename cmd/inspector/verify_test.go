package inspector

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"
)

func TestIdentity(t *testing.T) {
	for uri, want := range map[string]string{
		"skill://a/b/../c/SKILL.md": "skill://a/c/SKILL.md", "skill://a/%7eb/%2e%2e/%c3": "skill://a/%C3", "HTTP://Host/x": "http://host/x", "skill:a": "skill:a", "%zz": "%zz",
	} {
		if got := identity(uri); got != want {
			t.Errorf("%s: %s, want %s", uri, got, want)
		}
	}
}

// A server that cannot be read from any more ends the run; a file that cannot be read is one of the report.
func TestVerifyEnds(t *testing.T) {
	entry := []json.RawMessage{json.RawMessage(`{"uri":"skill://a/SKILL.md","frontmatter":{"name":"a","description":"d"},"resources":"dynamic"}`)}
	for _, ended := range []bool{false, true} {
		all, err := Verify(t.Context(), entry, Budget{1, 1}, func(context.Context, string) (json.RawMessage, bool, error) {
			return nil, ended, errors.New("gone")
		})
		if ended != (err != nil) || !ended && (len(all) != 1 || all[0].Outcome != "failed" || all[0].Files[0].Reason != "gone") {
			t.Errorf("ended %t: %+v, %v", ended, all, err)
		}
	}
}

// What has not the shape of an entry is an error that says which one.
func TestVerifyRefusesWhatIsNoEntry(t *testing.T) {
	for _, raw := range []string{
		`1`, `{}`, `{"uri":"u","frontmatter":[],"resources":[]}`, `{"uri":"u","frontmatter":{},"resources":"x"}`, `{"uri":"u","frontmatter":{"name":1},"resources":[]}`,
		`{"uri":"u","frontmatter":{},"resources":[{}]}`, `{"uri":"u","frontmatter":{},"resources":[{"uri":"u","size":"1"}]}`, `{"uri":"u","frontmatter":{},"resources":[{"uri":"u","digest":1}]}`,
	} {
		if _, err := Verify(t.Context(), []json.RawMessage{json.RawMessage(raw)}, Budget{1, 1}, nil); err == nil || !strings.Contains(err.Error(), "skill 1") {
			t.Errorf("%s: %v", raw, err)
		}
	}
}

func TestComplete(t *testing.T) {
	for line, want := range map[string]string{
		"--format ": "text json", "--format=j": "json", "--method servers/": "servers/list servers/show servers/add servers/edit servers/remove", "--load-r": "--load-requests --load-rate",
		"--config ": "files", "--tool-name ": "", "x": "files", "-- --f": "files", "--cli": "--client-id --client-secret --client-metadata-url --client-config",
	} {
		words := strings.Split(line, " ")
		all, files := Complete(words[:len(words)-1], words[len(words)-1])
		var got []string
		for _, s := range all {
			got = append(got, s.Word)
		}
		if files {
			got = append(got, "files")
		}
		if !slices.Equal(got, strings.Fields(want)) {
			t.Errorf("%q: %q, want %q", line, got, want)
		}
	}
}
