package kb

import (
	"context"
	"embed"
	"fmt"
	"io/fs"
	"strings"
)

// corpus holds one folder for each part of the knowledge base: documents is about the protocol, general about using
// mcphud, codebase about how mcphud is built.
//
//go:embed corpus
var corpus embed.FS

// loadCorpus indexes the embedded corpus. It is small enough to be made anew for each process that searches it.
func loadCorpus(ctx context.Context, ix *index) error {
	var files []file
	var chunks [][]chunk
	err := fs.WalkDir(corpus, "corpus", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := corpus.ReadFile(name)
		if err != nil {
			return err
		}
		rel := strings.TrimPrefix(name, "corpus/")
		base, _, _ := strings.Cut(rel, "/")
		title, c := split(rel, string(text))
		files = append(files, file{Path: rel, Base: base, Title: title, Size: int64(len(text)), Hash: []byte{}})
		chunks = append(chunks, c)
		return nil
	})
	if err == nil {
		err = ix.put(ctx, 0, files, chunks)
	}
	if err == nil {
		err = ix.vocabulary(ctx)
	}
	if err != nil {
		return fmt.Errorf("knowledge base: load the embedded corpus: %w", err)
	}
	return nil
}
