package config

import (
	"crypto/sha256"
	"encoding/hex"
	"net/url"
	"os"
	"path/filepath"
	"strings"
)

// WorkingDir is the folder that the server's command runs in, "" where there is none.
func (s Server) WorkingDir() string {
	if s.Cwd != "" {
		return s.Cwd
	}
	wd, err := os.Getwd()
	if err != nil {
		return ""
	}
	return wd
}

// Local is the folder that the server's command runs in where some word of it is a file there: the same words run something else in another
// one. It is "" where the folder does not matter.
func (s Server) Local() string {
	if s.Command == "" {
		return ""
	}
	dir := s.WorkingDir()
	for _, w := range append([]string{s.Command}, s.Args...) {
		if w == "" || filepath.IsAbs(w) || len(w) > 1000 {
			continue
		}
		if _, err := os.Stat(filepath.Join(dir, w)); err == nil {
			return dir
		}
	}
	return ""
}

// Target is a hash of what is reached, whatever it is called and however it is set up: the command, and where it runs if that matters, or the
// URL. It is "" where there is neither.
func (s Server) Target() string {
	id := ""
	switch {
	case s.Command != "":
		id = "command\x00" + strings.Join(append([]string{s.Command}, s.Args...), "\x00") + "\x00\x00" + s.Local()
	case s.URL != "":
		id = "url\x00" + s.URL
		if u, err := url.Parse(s.URL); err == nil && u.Host != "" {
			if u.Hostname() == "localhost" {
				u.Host = strings.Replace(u.Host, "localhost", "127.0.0.1", 1)
			}
			u.Path = strings.TrimSuffix(u.Path, "/")
			id = "url\x00" + strings.ToLower(u.Scheme+"://"+u.Host) + u.RequestURI()
		}
	default:
		return ""
	}
	sum := sha256.Sum256([]byte(id))
	return hex.EncodeToString(sum[:])
}
