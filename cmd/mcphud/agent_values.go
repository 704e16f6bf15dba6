package main

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

// number is a flag that takes a whole number within bounds. A value below the least is one that was not given.
type number struct {
	value       *int
	least, most int
}

func (n *number) String() string {
	if n.value == nil || *n.value < n.least {
		return ""
	}
	return strconv.Itoa(*n.value)
}

func (n *number) Set(s string) error {
	v, err := strconv.Atoi(s)
	if err != nil || v < n.least || v > n.most {
		return fmt.Errorf("must be a whole number from %d to %d", n.least, n.most)
	}
	*n.value = v
	return nil
}

func (n *number) Type() string { return "N" }

// pause is a duration above 0: 30s, 2m, or a bare number of milliseconds.
type pause time.Duration

const mostPause = 24 * time.Hour

func (p *pause) String() string {
	s := time.Duration(*p).String()
	if strings.HasSuffix(s, "m0s") {
		s = strings.TrimSuffix(s, "0s")
	}
	if strings.HasSuffix(s, "h0m") {
		s = strings.TrimSuffix(s, "0m")
	}
	return s
}

func (p *pause) Set(s string) error {
	d, err := time.ParseDuration(s)
	if ms, e := strconv.ParseInt(s, 10, 64); e == nil && ms <= int64(mostPause/time.Millisecond) {
		d, err = time.Duration(ms)*time.Millisecond, nil
	}
	if err != nil || d <= 0 || d > mostPause {
		return fmt.Errorf("must be a duration such as 30s, or a number of milliseconds, of at most 24h")
	}
	*p = pause(d)
	return nil
}

func (p *pause) Type() string { return "DURATION" }

// bodySize is a number of bytes as size has it, and in the spelling of JavaScript servers, whose 10mb is 10 MiB.
type bodySize int64

func (b *bodySize) String() string { s := size(*b); return s.String() }

func (b *bodySize) Set(text string) error {
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
	*b = bodySize(n)
	return nil
}

func (b *bodySize) Type() string { return "SIZE" }

// toolList has tools that run programs; each is set as an object of JSON, and shown by its name.
type toolList []exectool.Spec

func (l *toolList) Set(text string) error {
	spec, err := exectool.Parse([]byte(text))
	if err == nil {
		*l = append(*l, spec)
	}
	return err
}

func (l *toolList) String() string { return strings.Join(l.GetSlice(), ", ") }

func (l *toolList) Type() string { return "TOOL" }

// GetSlice, Append and Replace are pflag.SliceValue.
func (l *toolList) GetSlice() (names []string) {
	for _, s := range *l {
		names = append(names, s.Name)
	}
	return names
}

func (l *toolList) Append(text string) error { return l.Set(text) }

func (l *toolList) Replace(texts []string) error {
	*l = nil
	for _, text := range texts {
		if err := l.Set(text); err != nil {
			return err
		}
	}
	return nil
}

// webURL is the URL of a service over HTTP.
type webURL string

func (u *webURL) String() string { return string(*u) }

func (u *webURL) Set(s string) error {
	if s != "" {
		if at, err := url.Parse(s); err != nil || at.Scheme != "http" && at.Scheme != "https" || at.Host == "" {
			return errors.New("must be a URL that starts with http:// or https://")
		}
	}
	*u = webURL(s)
	return nil
}

func (u *webURL) Type() string { return "URL" }

// natsURLs are the URLs of NATS servers, separated by commas. They may hold a password.
type natsURLs string

func (u *natsURLs) String() string { return string(*u) }

func (u *natsURLs) Set(s string) error {
	if s != "" {
		if err := natsconn.Valid(s); err != nil {
			return err
		}
	}
	*u = natsURLs(s)
	return nil
}

func (u *natsURLs) Type() string { return "URL" }
