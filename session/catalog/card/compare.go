package card

import (
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/mcphud/mcphud/session/base/listen"
	"github.com/mcphud/mcphud/session/base/text"
)

// Said is what a server says once it is connected. Nil lists are what is not known.
type Said struct {
	URL          *url.URL
	Transport    string // http or sse, as it was connected over
	Name         string
	Title        string
	Version      string
	Protocol     string   // the version that is spoken
	Protocols    []string // all that it speaks
	Capabilities []string
	Tools        []string
	Resources    []string // URIs
	Prompts      []string
}

// Difference is what a document says otherwise than the server.
type Difference struct {
	Field    string // "name", "version", "tools" …
	Document string // what the document says
	Server   string // what the server says
}

func (d Difference) String() string {
	return fmt.Sprintf("%s: the document says %s, the server %s", d.Field, d.Document, d.Server)
}

// About reports whether a document is about the server at a URL: it names that, or no URL at all.
func (c Claims) About(u *url.URL) bool {
	return len(c.Remotes) == 0 || slices.ContainsFunc(c.Remotes, func(r Remote) bool { return r.at(u) })
}

// at reports whether a remote is at a URL. One with variables may be at any of its host.
func (r Remote) at(u *url.URL) bool {
	raw, _, templated := strings.Cut(r.URL, "{")
	if templated {
		return strings.HasPrefix(u.String(), raw)
	}
	at, err := u.Parse(r.URL) // older ones can be relative
	return err == nil && at.Scheme == u.Scheme && strings.EqualFold(at.Hostname(), u.Hostname()) && listen.PortOf(at) == listen.PortOf(u) &&
		strings.TrimRight(at.Path, "/") == strings.TrimRight(u.Path, "/")
}

// Compare finds what a document says otherwise than the server. What one of both leaves open is left out.
func Compare(d Document, s Said) (out []Difference) {
	add := func(field, document, server string) {
		out = append(out, Difference{field, quote(document), quote(server)})
	}
	if !d.Found || d.Kind == "catalog" {
		return nil
	}
	same := func(field, document, server string) {
		if document != "" && server != "" && document != server {
			add(field, document, server)
		}
	}
	if short := d.Name[strings.LastIndexByte(d.Name, '/')+1:]; s.Name != short { // a card's name has a namespace, the server's need not have one
		same("name", d.Name, s.Name)
	}
	same("title", d.Title, s.Title)
	same("version", d.Version, s.Version)
	if s.URL != nil && !d.About(s.URL) {
		var urls []string
		for _, r := range d.Remotes {
			urls = append(urls, r.URL)
		}
		add("URL", list(urls), s.URL.String())
	} else if s.URL != nil {
		kinds := map[string]string{"http": "streamable-http", "sse": "sse"}
		var types []string
		for _, r := range d.Remotes {
			if r.at(s.URL) && r.Type != "" {
				types = append(types, r.Type)
			}
		}
		if spoken := kinds[s.Transport]; types != nil && spoken != "" && !slices.Contains(types, spoken) {
			add("transport", list(types), spoken)
		}
	}
	speaks := s.Protocols
	if speaks == nil && s.Protocol != "" {
		if len(d.Protocols) > 0 && !slices.Contains(d.Protocols, s.Protocol) {
			add("protocol versions", list(d.Protocols), s.Protocol)
		}
	} else if len(d.Protocols) > 0 {
		out = append(out, lists("protocol versions", d.Protocols, speaks)...)
	}
	out = append(out, lists("capabilities", d.Capabilities, s.Capabilities)...)
	out = append(out, lists("tools", d.Tools, s.Tools)...)
	out = append(out, lists("resources", d.Resources, s.Resources)...)
	return append(out, lists("prompts", d.Prompts, s.Prompts)...)
}

// lists compares two lists as sets.
func lists(field string, document, server []string) (out []Difference) {
	if document == nil || server == nil {
		return nil
	}
	without := func(a, b []string) (rest []string) {
		for _, x := range a {
			if !slices.Contains(b, x) && !slices.Contains(rest, x) {
				rest = append(rest, x)
			}
		}
		return rest
	}
	only, lacks := without(document, server), without(server, document)
	if only == nil && lacks == nil {
		return nil
	}
	d := Difference{Field: field, Document: "nothing more", Server: "nothing more"}
	if only != nil {
		d.Document = "also " + list(only)
	}
	if lacks != nil {
		d.Server = "also " + list(lacks)
	}
	return []Difference{d}
}

// list is a few of several texts.
func list(all []string) string {
	const most = 8
	shown := make([]string, 0, most)
	for _, s := range all[:min(len(all), most)] {
		shown = append(shown, text.Clip(s, 100))
	}
	out := strings.Join(shown, ", ")
	if len(all) > most {
		out += fmt.Sprintf(" and %d more", len(all)-most)
	}
	return out
}

func quote(s string) string { return fmt.Sprintf("%q", text.Clip(s, 300)) }
