package main

import (
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"path/filepath"
	"strings"

	"github.com/spf13/pflag"

	"github.com/mcphud/mcphud/session/base/failure"
	"github.com/mcphud/mcphud/session/base/jsonrpc"
	"github.com/mcphud/mcphud/session/base/mask"
	"github.com/mcphud/mcphud/session/base/text"
	"github.com/mcphud/mcphud/session/config"
)

// setting names the sources of a flag's value. A secret is not read from the file.
type setting struct {
	flag   string // also the name of a setting without a flag
	env    string // variable, "" for none
	key    string // member of the file, "" for none
	secret bool   // its value is never shown
}

// settings are the settings of one command, and their sources.
type settings struct {
	what  string // such as agent
	list  []setting
	flags *pflag.FlagSet
	bare  *pflag.FlagSet // settings without a flag; nil for none
	sources
}

// sources are where settings come from that no flag sets.
type sources struct {
	env  func(string) string
	file string // read if it exists; "" for none
	must bool   // the file was named, so it has to exist
	read func(file string) ([]config.Value, []config.Warning, error)
	next string // what to do about a file that cannot be read
}

// origin is where a value was given.
type origin struct {
	Source string `json:"source"`         // flag, environment, file or default
	Name   string `json:"name,omitempty"` // of the flag, with its dashes, or of the variable
	File   string `json:"file,omitempty"`
	Line   int    `json:"line,omitempty"` // 1-based
	Col    int    `json:"-"`
	Value  string `json:"value"` // as it was given
}

func (o origin) String() string {
	switch o.Source {
	case "environment":
		return o.Source + " " + o.Name
	case "file":
		return fmt.Sprintf("%s:%d", o.File, o.Line)
	}
	return o.Source
}

// resolved is a setting and where its value came from.
type resolved struct {
	setting
	isFlag     bool
	value      string   // in force; as given where it is invalid
	from       origin   // of value
	overridden []origin // given and not used, highest precedence first
	problem    error    // why the value is invalid
}

// resolution is the result of resolving settings.
type resolution struct {
	what     string
	file     string
	found    bool // whether the file is there
	values   []resolved
	warnings []config.Warning // of the file
	fileErr  error            // why the file is not used
	conflict error            // why values that are valid by themselves cannot be used together
}

// resolve fills in what no flag gave, from the environment, then from the file. An invalid value is an error that names
// the variable, or the file and line; an unknown key of the file is a warning.
func (s settings) resolve() *resolution {
	r := &resolution{what: s.what, file: s.file}
	values := s.load(r)
	given := map[string][]config.Value{} // a list has several
	for _, v := range values {
		given[v.Key] = append(given[v.Key], v)
	}
	for _, st := range s.list {
		fl := s.flags.Lookup(st.flag)
		v := resolved{setting: st, isFlag: fl != nil}
		if fl == nil {
			fl = s.bare.Lookup(st.flag)
		}
		var all []origin
		if fl.Changed {
			all = append(all, origin{Source: "flag", Name: "--" + st.flag, Value: valueText(fl.Value)})
		}
		if env := s.lookup(st.env); env != "" {
			all = append(all, origin{Source: "environment", Name: st.env, Value: env})
		}
		inFile := given[st.key]
		if len(inFile) > 0 && st.key != "" {
			all = append(all, origin{Source: "file", File: s.file, Line: inFile[0].Line, Col: inFile[0].Col, Value: joined(inFile)})
		}
		delete(given, st.key)
		if len(all) == 0 {
			all = []origin{{Source: "default", Value: valueText(fl.Value)}}
		}
		v.from, v.overridden, v.value = all[0], all[1:], all[0].Value
		if v.from.Source == "environment" || v.from.Source == "file" {
			texts := []string{v.value}
			if _, list := fl.Value.(pflag.SliceValue); list && v.from.Source == "environment" {
				texts = filepath.SplitList(v.value)
			} else if v.from.Source == "file" {
				texts = texts[:0]
				for _, in := range inFile {
					texts = append(texts, in.Text)
				}
			}
			for i, one := range texts {
				if err := fl.Value.Set(one); err != nil && v.problem == nil {
					v.value = one
					if strings.HasPrefix(one, "{") { // an object, which may hold what is secret
						v.value = text.Clip(jsonrpc.GetString([]byte(one), "name"), 60)
					}
					if v.from.Source == "file" {
						v.from.Line, v.from.Col = inFile[i].Line, inFile[i].Col
					}
					v.problem = v.invalid(err)
				}
			}
			if v.problem == nil {
				v.value = valueText(fl.Value)
			}
		}
		r.values = append(r.values, v)
	}
	for _, v := range values {
		if _, unknown := given[v.Key]; unknown {
			r.warnings = append(r.warnings, config.Warning{File: s.file, Line: v.Line, Col: v.Col, Message: unknownKey(s.list, v.Key)})
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
func (s settings) load(r *resolution) []config.Value {
	if s.file == "" {
		return nil
	}
	values, warnings, err := s.read(s.file)
	if errors.Is(err, fs.ErrNotExist) && !s.must {
		return nil
	}
	r.found, r.warnings = !errors.Is(err, fs.ErrNotExist), warnings
	if err != nil {
		r.fileErr = &failure.Error{Kind: failure.Usage, Message: "the " + s.what + "'s settings: " + err.Error(), Err: err, Next: s.next}
	}
	return values
}

func (s sources) lookup(name string) string {
	if name == "" {
		return ""
	}
	return s.env(name)
}

// invalid wraps err, about a value, with where the value was given.
func (v *resolved) invalid(err error) error {
	instead := ""
	if v.isFlag {
		instead = ", or give --" + v.flag
	}
	if v.from.Source == "environment" {
		return &failure.Error{
			Kind: failure.Usage, Message: fmt.Sprintf("%s is %q: %v", v.env, v.shown(v.value), plain(err)), Err: plain(err),
			Next: "correct or unset " + v.env + instead,
		}
	}
	at := config.Warning{File: v.from.File, Line: v.from.Line, Col: v.from.Col, Message: fmt.Sprintf("%s is %q: %v", v.key, v.shown(v.value), plain(err))}
	return &failure.Error{Kind: failure.Usage, Message: at.String(), Err: plain(err), Next: "correct it there" + instead}
}

// errs are the errors for which the settings cannot be used.
func (r *resolution) errs() (errs []error) {
	for _, err := range []error{r.fileErr, r.conflict} {
		if err != nil {
			errs = append(errs, err)
		}
	}
	for _, v := range r.values {
		if v.problem != nil {
			errs = append(errs, v.problem)
		}
	}
	return errs
}

// err is the first of errs, nil if there is none.
func (r *resolution) err() error {
	if errs := r.errs(); len(errs) > 0 {
		return errs[0]
	}
	return nil
}

// of is the setting of a name; it is in the list.
func (r *resolution) of(name string) *resolved {
	for i := range r.values {
		if r.values[i].flag == name {
			return &r.values[i]
		}
	}
	return &resolved{}
}

// setDefault sets the value of a setting that has no source, for display.
func (r *resolution) setDefault(name, value string) {
	if v := r.of(name); v.from.Source == "default" {
		v.value = value
	}
}

// given reports whether a flag or a variable sets a setting.
func (r *resolution) given(name string) bool {
	from := r.of(name).from.Source
	return from == "flag" || from == "environment"
}

// log records every value and where it came from.
func (r *resolution) log(log *slog.Logger) {
	var all []any
	for _, v := range r.values {
		all = append(all, v.flag, fmt.Sprintf("%s (%s)", v.shown(v.value), v.from))
	}
	log.Debug("settings", all...)
}

// shown is a value of this setting for a message or log; a secret is masked.
func (s setting) shown(value string) string {
	if s.secret && value != "" {
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

// plain replaces the error of a boolean flag, which names a Go function.
func plain(err error) error {
	if strings.HasPrefix(err.Error(), "strconv.ParseBool: ") {
		return errors.New("must be true or false")
	}
	return err
}

func unknownKey(list []setting, key string) string {
	var keys []string
	for _, s := range list {
		switch {
		case s.secret && s.flag == key:
			return fmt.Sprintf("%q is not read from a file; set %s", key, s.env)
		case s.key != "":
			keys = append(keys, s.key)
		}
	}
	msg := fmt.Sprintf("unknown key %.80q is ignored", key)
	if like := didYouMean(key, keys); like != "" {
		return msg + "; " + strings.TrimSpace(like)
	}
	return msg + "; the keys are " + strings.Join(keys, ", ")
}
