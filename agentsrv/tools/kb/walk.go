package kb

import (
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"io"
	"io/fs"
	"path"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/mcphud/mcphud/session/base/text"
)

const (
	maxFile  = 2 << 20 // bytes of a file that is indexed
	maxPDF   = 8 << 20 // bytes of a PDF document that is
	maxFiles = 50_000  // files of one folder
	logEvery = 500     // files between two lines of progress
)

// walk brings ix up to date with the folder: files whose time and size are as before are not opened, those whose content
// is as before are not cut again, and what is gone from the folder goes from the index. It returns how many files it
// left out. One file at a time is in memory.
func (k *KB) walk(ctx context.Context, ix *index) (skipped int, err error) {
	start := time.Now()
	pass := start.UnixNano()
	var seen, changed int
	err = fs.WalkDir(k.root.FS(), ".", func(name string, d fs.DirEntry, err error) error {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil {
			if name == "." {
				return err
			}
			skipped++
			k.o.Log.Warn("knowledge base: skipping an unreadable file", "path", name, "error", err)
			return nil
		}
		if d.IsDir() {
			if name != "." && (strings.HasPrefix(d.Name(), ".") || d.Name() == "node_modules") {
				return fs.SkipDir
			}
			return nil
		}
		if seen >= maxFiles {
			k.o.Log.Warn("knowledge base: file limit reached, index a smaller folder", "dir", k.o.Dir, "limit", maxFiles)
			return fs.SkipAll
		}
		how, err := k.visit(ctx, ix, pass, name)
		switch {
		case err != nil && ctx.Err() != nil:
			return ctx.Err()
		case err != nil:
			skipped++
			k.o.Log.Warn("knowledge base: skipping an unreadable file", "path", name, "error", err)
			return nil
		case how == skippedFile:
			skipped++
			return nil
		case how == changedFile:
			changed++
		}
		if seen++; seen%logEvery == 0 {
			k.o.Log.Info("knowledge base: indexing", "files", seen, "changed", changed)
		}
		return nil
	})
	if err != nil {
		return skipped, fmt.Errorf("knowledge base: index %s: %w", k.o.Dir, err)
	}
	gone, err := ix.removeUnseen(ctx, pass)
	if err == nil && (changed > 0 || gone > 0) {
		err = ix.vocabulary(ctx)
	}
	if err != nil {
		return skipped, fmt.Errorf("knowledge base: index %s: %w", k.o.Dir, err)
	}
	k.o.Log.Info("knowledge base: index is up to date", "files", seen, "changed", changed, "removed", gone, "skipped", skipped,
		"duration_ms", time.Since(start).Milliseconds())
	return skipped, nil
}

// outcome is what visiting a file came to.
type outcome int

const (
	skippedFile outcome = iota // not text, too large, or not a regular file
	unchanged
	changedFile
)

func (k *KB) visit(ctx context.Context, ix *index, pass int64, name string) (outcome, error) {
	info, err := k.root.Stat(name) // follows links, inside the folder alone
	if err != nil {
		return skippedFile, err
	}
	paged := isPDF(name) && k.o.Pages != nil
	most := int64(maxFile)
	if paged {
		most = maxPDF
	}
	if !info.Mode().IsRegular() || info.Size() > most {
		return skippedFile, nil
	}
	f := file{Path: name, Base: baseOf(name), MTime: info.ModTime().UnixNano(), Size: info.Size()}
	old, known, err := ix.storedFile(ctx, name)
	if err != nil {
		return skippedFile, err
	}
	if known && old.MTime == f.MTime && old.Size == f.Size {
		return unchanged, ix.markSeen(ctx, pass, f)
	}
	content, err := k.read(name, most)
	if err != nil || content == nil || !paged && (bytes.IndexByte(content, 0) >= 0 || !utf8.Valid(content)) {
		return skippedFile, err // neither text, in UTF-8 and without NUL, nor a document
	}
	sum := sha256.Sum256(content)
	f.Hash = sum[:]
	if known && bytes.Equal(old.Hash, f.Hash) {
		return unchanged, ix.markSeen(ctx, pass, f)
	}
	var chunks []chunk
	if paged {
		pages, err := k.o.Pages(ctx, content)
		if err != nil {
			return skippedFile, err
		}
		f.Title, chunks = splitPages(name, pages)
	} else {
		f.Title, chunks = split(name, string(content))
	}
	return changedFile, ix.put(ctx, pass, []file{f}, [][]chunk{chunks})
}

// isPDF reports whether a file's name is that of a PDF document.
func isPDF(name string) bool { return strings.EqualFold(path.Ext(name), ".pdf") }

// splitPages is split for the pages of a document, whose lines are counted through. Its title is its first line.
func splitPages(name string, pages []string) (title string, out []chunk) {
	title = path.Base(name)
	line := 0
	for i, page := range pages {
		page = strings.ToValidUTF8(strings.ReplaceAll(page, "\x00", ""), "\uFFFD") // as other files are
		if first, _, _ := strings.Cut(strings.TrimSpace(page), "\n"); title == path.Base(name) && first != "" {
			title = text.Clip(first, 200)
		}
		_, chunks := split(name, page)
		for _, c := range chunks {
			c.Line, c.Last, c.Page = c.Line+line, c.Last+line, i+1
			out = append(out, c)
		}
		line += strings.Count(page, "\n") + 1
	}
	return title, out
}

// read is the content of a file, nil if it grew past the limit.
func (k *KB) read(name string, limit int64) ([]byte, error) {
	f, err := k.root.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	content, err := io.ReadAll(io.LimitReader(f, limit+1))
	if err != nil || int64(len(content)) > limit {
		return nil, err
	}
	return content, nil
}

// baseOf sorts a file by its name: program text is the codebase, prose is documents, and the rest (data, settings) is
// general.
func baseOf(name string) string {
	switch strings.ToLower(path.Ext(name)) {
	case ".md", ".markdown", ".mdx", ".txt", ".rst", ".pdf", ".adoc", ".org", ".tex", ".html", ".htm":
		return Documents
	case ".go", ".js", ".mjs", ".cjs", ".ts", ".tsx", ".jsx", ".py", ".rb", ".rs", ".c", ".h", ".cc", ".cpp", ".hpp", ".cs", ".java",
		".kt", ".swift", ".php", ".lua", ".sh", ".bash", ".zsh", ".fish", ".ps1", ".sql", ".css", ".scss", ".vue", ".svelte", ".ex", ".exs",
		".erl", ".hs", ".ml", ".scala", ".zig", ".proto", ".mod", ".mk", ".cmake", ".gradle":
		return Codebase
	}
	switch strings.ToLower(path.Base(name)) {
	case "readme", "licence", "license", "changelog", "contributing", "notice", "authors":
		return Documents
	case "makefile", "dockerfile", "justfile":
		return Codebase
	}
	return General
}
