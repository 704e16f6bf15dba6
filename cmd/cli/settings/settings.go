// Package settings finds where a setting comes from: a flag, the environment, a file, or what is usual.
package settings

import (
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"path/filepath"
	"strings"

	"github.com/spf13/pflag"

	"github.com/mcphud/mcphud/cmd/cli/output"
	"github.com/mcphud/mcphud/session/base/failure"
	"github.com/mcphud/mcphud/session/base/jsonrpc"
	"github.com/mcphud/mcphud/session/base/mask"
	"github.com/mcphud/mcphud/session/base/text"
	"github.com/mcphud/mcphud/session/config"
)

// Setting names the sources of a flag's value. A secret is not read from the file.
type Setting struct {
	Flag   string // also the name of a setting without a flag
	Env    string // variable, "" for none
	Key    string // member of the file, "" for none
	Secret bool   // its value is never shown
}

// List are the settings of one command, and their sources.
type List struct {
	What  string // such as agent
	List  []Setting
	Flags *pflag.FlagSet
	Bare  *pflag.FlagSet // settings without a flag; nil for none
	Sources
}

// Sources are where settings come from that no flag sets.
type Sources struct {
	Env  func(string) string
	File string // read if it exists; "" for none
	Must bool   // the file was named, so it has to exist
	Read func(file string) ([]config.Value, []config.Warning, error)
	Next string // what to do about a file that cannot be read
}

// Origin is where a value was given.
type Origin struct {
	Source string `json:"source"`         // flag, environment, file or default
	Name   string `json:"name,omitempty"` // of the flag, with its dashes, or of the variable
	File   string `json:"file,omitempty"`
	Line   int    `json:"line,omitempty"` // 1-based
	Col    int    `json:"-"`
	Value  string `json:"value"` // as it was given
}

func (o Origin) String() string {
	switch o.Source {
	case "environment":
		return o.Source + " " + o.Name
	case "file":
		return fmt.Sprintf("%s:%d", o.File, o.Line)
	}
	return o.Source
}

// Resolved is a setting and where its value came from.
type Resolved struct {
	Setting
	IsFlag     bool
	Value      string   // in force; as given where it is invalid
	From       Origin   // of value
	Overridden []Origin // given and not used, highest precedence first
	Problem    error    // why the value is invalid
}

// Resolution is the result of resolving settings.
type Resolution struct {
	What     string
	File     string
	Found    bool // whether the file is there
	Values   []Resolved
	Warnings []config.Warning // of the file
	FileErr  error            // why the file is not used
	Conflict error            // why values that are valid by themselves cannot be used together
}

// Resolve fills in what no flag gave, from the environment, then from the file. An invalid value is an error that names
// the variable, or the file and line; an unknown key of the file is a warning.
func (s List) Resolve() *Resolution {
	r := &Resolution{What: s.What, File: s.File}
	values := s.load(r)
	given := map[string][]config.Value{} // a list has several
	for _, v := range values {
		given[v.Key] = append(given[v.Key], v)
	}
	for _, st := range s.List {
		fl := s.Flags.Lookup(st.Flag)
		v := Resolved{Setting: st, IsFlag: fl != nil}
		if fl == nil {
			fl = s.Bare.Lookup(st.Flag)
		}
		var all []Origin
		if fl.Changed {
			all = append(all, Origin{Source: "flag", Name: "--" + st.Flag, Value: valueText(fl.Value)})
		}
		if env := s.lookup(st.Env); env != "" {
			all = append(all, Origin{Source: "environment", Name: st.Env, Value: env})
		}
		inFile := given[st.Key]
		if len(inFile) > 0 && st.Key != "" {
			all = append(all, Origin{Source: "file", File: s.File, Line: inFile[0].Line, Col: inFile[0].Col, Value: joined(inFile)})
		}
		delete(given, st.Key)
		if len(all) == 0 {
			all = []Origin{{Source: "default", Value: valueText(fl.Value)}}
		}
		v.From, v.Overridden, v.Value = all[0], all[1:], all[0].Value
		if v.From.Source == "environment" || v.From.Source == "file" {
			texts := []string{v.Value}
			if _, list := fl.Value.(pflag.SliceValue); list && v.From.Source == "environment" {
				texts = filepath.SplitList(v.Value)
			} else if v.From.Source == "file" {
				texts = texts[:0]
				for _, in := range inFile {
					texts = append(texts, in.Text)
				}
			}
			for i, one := range texts {
				if err := fl.Value.Set(one); err != nil && v.Problem == nil {
					v.Value = one
					if strings.HasPrefix(one, "{") { // an object, which may hold what is secret
						v.Value = text.Clip(jsonrpc.GetString([]byte(one), "name"), 60)
					}
					if v.From.Source == "file" {
						v.From.Line, v.From.Col = inFile[i].Line, inFile[i].Col
					}
					v.Problem = v.invalid(err)
				}
			}
			if v.Problem == nil {
				v.Value = valueText(fl.Value)
			}
		}
		r.Values = append(r.Values, v)
	}
	for _, v := range values {
		if _, unknown := given[v.Key]; unknown {
			r.Warnings = append(r.Warnings, config.Warning{File: s.File, Line: v.Line, Col: v.Col, Message: UnknownKey(s.List, v.Key)})
		}
	}
	return r
}

// joined are the texts of a list of values, as valueText has them.
func joined(values []config.Value) string {
	var texts []string
	for _, v := range values {
		texts = append(texts, v.Text)
	}
	return strings.Join(texts, ", ")
}

// load reads the file, if there is one.
func (s List) load(r *Resolution) []config.Value {
	if s.File == "" {
		return nil
	}
	values, warnings, err := s.Read(s.File)
	if errors.Is(err, fs.ErrNotExist) && !s.Must {
		return nil
	}
	r.Found, r.Warnings = !errors.Is(err, fs.ErrNotExist), warnings
	if err != nil {
		r.FileErr = &failure.Error{Kind: failure.Usage, Message: "the " + s.What + "'s settings: " + err.Error(), Err: err, Next: s.Next}
	}
	return values
}

func (s Sources) lookup(name string) string {
	if name == "" {
		return ""
	}
	return s.Env(name)
}

// invalid wraps err, about a value, with where the value was given.
func (v *Resolved) invalid(err error) error {
	instead := ""
	if v.IsFlag {
		instead = ", or give --" + v.Flag
	}
	if v.From.Source == "environment" {
		return &failure.Error{
			Kind: failure.Usage, Message: fmt.Sprintf("%s is %q: %v", v.Env, v.Shown(v.Value), Plain(err)), Err: Plain(err),
			Next: "correct or unset " + v.Env + instead,
		}
	}
	at := config.Warning{File: v.From.File, Line: v.From.Line, Col: v.From.Col, Message: fmt.Sprintf("%s is %q: %v", v.Key, v.Shown(v.Value), Plain(err))}
	return &failure.Error{Kind: failure.Usage, Message: at.String(), Err: Plain(err), Next: "correct it there" + instead}
}

// Errs are the errors for which the settings cannot be used.
func (r *Resolution) Errs() (errs []error) {
	for _, err := range []error{r.FileErr, r.Conflict} {
		if err != nil {
			errs = append(errs, err)
		}
	}
	for _, v := range r.Values {
		if v.Problem != nil {
			errs = append(errs, v.Problem)
		}
	}
	return errs
}

// Err is the first of errs, nil if there is none.
func (r *Resolution) Err() error {
	if errs := r.Errs(); len(errs) > 0 {
		return errs[0]
	}
	return nil
}

// Of is the setting of a name; it is in the list.
func (r *Resolution) Of(name string) *Resolved {
	for i := range r.Values {
		if r.Values[i].Flag == name {
			return &r.Values[i]
		}
	}
	return &Resolved{}
}

// SetDefault sets the value of a setting that has no source, for display.
func (r *Resolution) SetDefault(name, value string) {
	if v := r.Of(name); v.From.Source == "default" {
		v.Value = value
	}
}

// Given reports whether a flag or a variable sets a setting.
func (r *Resolution) Given(name string) bool {
	from := r.Of(name).From.Source
	return from == "flag" || from == "environment"
}

// Log records every value and where it came from.
func (r *Resolution) Log(log *slog.Logger) {
	var all []any
	for _, v := range r.Values {
		all = append(all, v.Flag, fmt.Sprintf("%s (%s)", v.Shown(v.Value), v.From))
	}
	log.Debug("settings", all...)
}

// Shown is a value of this setting for a message or log; a secret is masked.
func (s Setting) Shown(value string) string {
	if s.Secret && value != "" {
		return mask.Hidden
	}
	return mask.Text(value)
}

// valueText is a flag's value as it is written on a command line, "" for none.
func valueText(v pflag.Value) string {
	if list, ok := v.(pflag.SliceValue); ok {
		return strings.Join(list.GetSlice(), ", ")
	}
	return v.String()
}

// Plain replaces the error of a boolean flag, which names a Go function.
func Plain(err error) error {
	if strings.HasPrefix(err.Error(), "strconv.ParseBool: ") {
		return errors.New("must be true or false")
	}
	return err
}

// UnknownKey says that a file has a key that no setting has, and which was meant.
func UnknownKey(list []Setting, key string) string {
	var keys []string
	for _, s := range list {
		switch {
		case s.Secret && s.Flag == key:
			return fmt.Sprintf("%q is not read from a file; set %s", key, s.Env)
		case s.Key != "":
			keys = append(keys, s.Key)
		}
	}
	msg := fmt.Sprintf("unknown key %.80q is ignored", key)
	if like := output.DidYouMean(key, keys); like != "" {
		return msg + "; " + strings.TrimSpace(like)
	}
	return msg + "; the keys are " + strings.Join(keys, ", ")
}
