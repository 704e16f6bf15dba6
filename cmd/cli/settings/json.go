package settings

import (
	"encoding/json"
	"errors"

	"github.com/mcphud/mcphud/session/base/mask"
	"github.com/mcphud/mcphud/session/config"
)

// ExplainedSetting is a setting as JSON, without secrets.
type ExplainedSetting struct {
	Name string `json:"name"`
	Flag string `json:"flag,omitempty"` // with its dashes
	Env  string `json:"env,omitempty"`
	Key  string `json:"key,omitempty"` // in the file
	Origin
	Overridden []Origin `json:"overridden,omitempty"` // given and not used, highest precedence first
	Problem    string   `json:"problem,omitempty"`    // why the value is invalid
}

// File is the file of settings as JSON.
type File struct {
	Path  string `json:"path"`
	Found bool   `json:"found"`
}

// MarshalJSON implements [json.Marshaler], without secrets.
func (r *Resolution) MarshalJSON() ([]byte, error) {
	v := struct {
		File     *File              `json:"file,omitempty"`
		Settings []ExplainedSetting `json:"settings"`
		Warnings []config.Warning   `json:"warnings"`
		Problems []string           `json:"problems"` // for which the whole file is not used
	}{Settings: []ExplainedSetting{}, Warnings: append([]config.Warning{}, r.Warnings...), Problems: r.Problems()}
	if r.File != "" {
		v.File = &File{r.File, r.Found}
	}
	for _, s := range r.Values {
		v.Settings = append(v.Settings, s.Explain())
	}
	return json.Marshal(v)
}

// Problems are the errors that are not about one value.
func (r *Resolution) Problems() []string {
	all := []string{}
	for _, err := range []error{r.FileErr, r.Conflict} {
		if err != nil {
			all = append(all, mask.Text(err.Error()))
		}
	}
	return all
}

// Explain is the setting as JSON has it.
func (v *Resolved) Explain() ExplainedSetting {
	e := ExplainedSetting{Name: v.Flag, Env: v.Env, Key: v.Key, Origin: v.From}
	if v.IsFlag {
		e.Flag = "--" + v.Flag
	}
	e.Value = v.Shown(v.Value)
	for _, o := range v.Overridden {
		o.Value = v.Shown(o.Value)
		e.Overridden = append(e.Overridden, o)
	}
	if v.Problem != nil {
		e.Problem = errors.Unwrap(v.Problem).Error()
	}
	return e
}

// Label is the setting as it is written on a command line, in the environment or in a file.
func (e ExplainedSetting) Label() string {
	switch {
	case e.Flag != "":
		return e.Flag
	case e.Env != "":
		return e.Env
	}
	return e.Key
}
