package flags

import (
	"errors"
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/mcphud/mcphud/agentsrv/tools/exectool"
	"github.com/mcphud/mcphud/session/config"
	"github.com/mcphud/mcphud/session/serve/natsconn"
)

// Number is a flag that takes a whole number within bounds. A value below the least is one that was not given.
type Number struct {
	Value       *int
	Least, Most int
}

func (n *Number) String() string {
	if n.Value == nil || *n.Value < n.Least {
		return ""
	}
	return strconv.Itoa(*n.Value)
}

// Set implements [pflag.Value].
func (n *Number) Set(s string) error {
	v, err := strconv.Atoi(s)
	if err != nil || v < n.Least || v > n.Most {
		return fmt.Errorf("must be a whole number from %d to %d", n.Least, n.Most)
	}
	*n.Value = v
	return nil
}

// Type implements [pflag.Value].
func (n *Number) Type() string { return "N" }

// Pause is a duration above 0: 30s, 2m, or a bare number of milliseconds.
type Pause time.Duration

const mostPause = 24 * time.Hour

func (p *Pause) String() string {
	s := time.Duration(*p).String()
	if strings.HasSuffix(s, "m0s") {
		s = strings.TrimSuffix(s, "0s")
	}
	if strings.HasSuffix(s, "h0m") {
		s = strings.TrimSuffix(s, "0m")
	}
	return s
}

// Set implements [pflag.Value].
func (p *Pause) Set(s string) error {
	d, err := time.ParseDuration(s)
	if ms, e := strconv.ParseInt(s, 10, 64); e == nil && ms <= int64(mostPause/time.Millisecond) {
		d, err = time.Duration(ms)*time.Millisecond, nil
	}
	if err != nil || d <= 0 || d > mostPause {
		return fmt.Errorf("must be a duration such as 30s, or a number of milliseconds, of at most 24h")
	}
	*p = Pause(d)
	return nil
}

// Type implements [pflag.Value].
func (p *Pause) Type() string { return "DURATION" }

// BodySize is a number of bytes as size has it, and in the spelling of JavaScript servers, whose 10mb is 10 MiB.
type BodySize int64

func (b *BodySize) String() string { s := Size(*b); return s.String() }

// Set implements [pflag.Value].
func (b *BodySize) Set(text string) error {
	s := text
	for short, unit := range map[string]string{"kb": "KiB", "mb": "MiB", "gb": "GiB"} {
		if digits, ok := strings.CutSuffix(text, short); ok {
			s = digits + unit
		}
	}
	n, err := config.ParseSize(s)
	if err != nil {
		return fmt.Errorf("%q is not a size; write for example 10mb", text)
	}
	*b = BodySize(n)
	return nil
}

// Type implements [pflag.Value].
func (b *BodySize) Type() string { return "SIZE" }

// ToolList has tools that run programs; each is set as an object of JSON, and shown by its name.
type ToolList []exectool.Spec

// Set implements [pflag.Value].
func (l *ToolList) Set(text string) error {
	spec, err := exectool.Parse([]byte(text))
	if err == nil {
		*l = append(*l, spec)
	}
	return err
}

func (l *ToolList) String() string { return strings.Join(l.GetSlice(), ", ") }

// Type implements [pflag.Value].
func (l *ToolList) Type() string { return "TOOL" }

// GetSlice, Append and Replace are pflag.SliceValue.
func (l *ToolList) GetSlice() (names []string) {
	for _, s := range *l {
		names = append(names, s.Name)
	}
	return names
}

// Append implements [pflag.SliceValue].
func (l *ToolList) Append(text string) error { return l.Set(text) }

// Replace implements [pflag.SliceValue].
func (l *ToolList) Replace(texts []string) error {
	*l = nil
	for _, text := range texts {
		if err := l.Set(text); err != nil {
			return err
		}
	}
	return nil
}

// WebURL is the URL of a service over HTTP.
type WebURL string

func (u *WebURL) String() string { return string(*u) }

// Set implements [pflag.Value].
func (u *WebURL) Set(s string) error {
	if s != "" {
		if at, err := url.Parse(s); err != nil || at.Scheme != "http" && at.Scheme != "https" || at.Host == "" {
			return errors.New("must be a URL that starts with http:// or https://")
		}
	}
	*u = WebURL(s)
	return nil
}

// Type implements [pflag.Value].
func (u *WebURL) Type() string { return "URL" }

// NatsURLs are the URLs of NATS servers, separated by commas. They may hold a password.
type NatsURLs string

func (u *NatsURLs) String() string { return string(*u) }

// Set implements [pflag.Value].
func (u *NatsURLs) Set(s string) error {
	if s != "" {
		if err := natsconn.Valid(s); err != nil {
			return err
		}
	}
	*u = NatsURLs(s)
	return nil
}

// Type implements [pflag.Value].
func (u *NatsURLs) Type() string { return "URL" }
