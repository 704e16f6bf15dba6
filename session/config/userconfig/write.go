package userconfig

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/mcphud/mcphud/session/base/files"
	"github.com/mcphud/mcphud/session/config/rewrite"
)

// maxFile bounds what is read of a file, in bytes.
const maxFile = 1 << 20

// header begins a file that there was not.
const header = "# yaml-language-server: $schema=" + SchemaID + "\n"

// Write gives a setting a value in a file and leaves all else as it is written, comments too; nil takes the value away, so that the
// default holds. The keys of an action are the setting "keys." and its id. Nothing is written to a file that cannot be read, or where
// the value would not hold.
func Write(ctx context.Context, path, key string, texts []string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	return locked(ctx, path, func() error {
		before, err := Text(path)
		if err != nil {
			return err
		}
		after, err := with(path, before, key, texts)
		if err != nil || before != nil && string(before) == string(after) {
			return err
		}
		_, err = files.Rewrite(path, before, after)
		return err
	})
}

// Replace puts another text in the place of a file that had before, nil where there was none. The error is [files.ErrChanged] where it
// has another one by now.
func Replace(ctx context.Context, path string, before, after []byte) (lost []string, err error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, err
	}
	err = locked(ctx, path, func() error {
		lost, err = files.Rewrite(path, before, after)
		return err
	})
	return lost, err
}

// locked runs do while no other program writes to the folder of a file.
func locked(ctx context.Context, path string, do func() error) error {
	unlock, err := files.Lock(ctx, path)
	if err != nil {
		return err
	}
	defer unlock()
	return do()
}

// Text is a file as it is, nil where there is none.
func Text(path string) ([]byte, error) {
	b, err := files.Read(path, maxFile)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	return b, err
}

// with is the text of a file in which a setting has another value.
func with(path string, before []byte, key string, texts []string) ([]byte, error) {
	text := before
	if before == nil {
		text = []byte(header)
	}
	if _, err := Parse(path, text); err != nil {
		return nil, err
	}
	d, err := rewrite.Parse(path, text)
	if err != nil {
		return nil, err
	}
	block, name, in := strings.Cut(key, ".")
	at := []string{key}
	if in {
		at = []string{block, name}
	}
	switch {
	case d.Repeated(at):
		return nil, fmt.Errorf("%s gives %s twice: take one of them out", path, key)
	case texts != nil:
		err = d.Set(at, value(key, texts))
	case d.Has(at):
		err = d.Delete(at)
	}
	if err != nil {
		return nil, err
	}
	after := d.Bytes()
	now, err := Parse(path, after)
	switch given, ok := now.Given[key]; {
	case err != nil:
		return nil, err
	case ok != (texts != nil) || !slices.Equal(given.Texts, texts):
		return nil, fmt.Errorf("%s cannot be %s", key, strings.Join(texts, ", "))
	}
	return after, nil
}

// value is what is written for texts.
func value(key string, texts []string) any {
	s := Find(key)
	if s == nil || s.List() { // or the keys of an action
		list := []any{}
		for _, t := range texts {
			list = append(list, t)
		}
		return list
	}
	switch s.Kind {
	case Switch:
		return texts[0] == "true"
	case Number:
		if n, err := strconv.Atoi(texts[0]); err == nil {
			return n
		}
	}
	return texts[0]
}
