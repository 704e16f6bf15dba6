package config

import (
	"os"
	"path/filepath"
	"runtime"
)

// Options says where to look. The zero value looks nowhere; System fills it
// from the process. Tests fill it by hand, so nothing here is global.
type Options struct {
	Files []string // read these and nothing else; one that is not there is an error then

	Home string // the user's home folder; "" reads no file below it
	Cwd  string // the working folder; "" reads no project file
	OS   string // a GOOS value; "" = this one
	// LookupEnv answers both ${VAR} and the few variables that name folders. nil = no variable is set.
	LookupEnv func(string) (string, bool)

	// AllowUnset keeps a ${VAR} that is not set as it is written, where it would otherwise be a Problem.
	AllowUnset bool
	// Literal leaves every value as it is written: no variable is replaced, no envFile read, no relative path resolved. It is for
	// whoever changes or copies an entry; what it gives is not to be started.
	Literal bool
}

// System is Options of this process, reading only files when any are given.
func System(files ...string) (Options, error) {
	cwd, err := os.Getwd()
	if err != nil {
		return Options{}, err
	}
	// Without a home folder (a container's user, say) there is nothing to read
	// below it, which is no reason to refuse the rest.
	home, _ := os.UserHomeDir()
	return Options{Files: files, Home: home, Cwd: cwd, OS: runtime.GOOS, LookupEnv: os.LookupEnv}, nil
}

// env is the value of a variable that names a folder or file, "" for one that is not set.
func (o Options) env(name string) string {
	if o.LookupEnv == nil {
		return ""
	}
	v, _ := o.LookupEnv(name)
	return v
}

// goos is OS, or this system's.
func (o Options) goos() string {
	if o.OS == "" {
		return runtime.GOOS
	}
	return o.OS
}

// xdg is the folder that variable names, else Home joined with def. The XDG
// specification says to ignore relative values.
func (o Options) xdg(variable string, def ...string) string {
	if v := o.env(variable); filepath.IsAbs(v) {
		return v
	}
	if o.Home == "" {
		return ""
	}
	return filepath.Join(append([]string{o.Home}, def...)...)
}

// ConfigDir is mcphud's own configuration folder, or "" without a home.
func (o Options) ConfigDir() string {
	base := o.xdg("XDG_CONFIG_HOME", ".config")
	if o.goos() == "windows" && o.env("APPDATA") != "" {
		base = o.env("APPDATA")
	}
	return under(base, "mcphud")
}

// StateDir is where mcphud keeps what it may forget, trust among it, or "" without a home.
func (o Options) StateDir() string {
	base := o.xdg("XDG_STATE_HOME", ".local", "state")
	if o.goos() == "windows" && o.env("LOCALAPPDATA") != "" {
		base = o.env("LOCALAPPDATA")
	}
	return under(base, "mcphud")
}

// under joins, keeping "no such folder" ("") as it is.
func under(base string, names ...string) string {
	if base == "" {
		return ""
	}
	return filepath.Join(append([]string{base}, names...)...)
}
