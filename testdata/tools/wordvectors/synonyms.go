package main

import (
	"bufio"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/mcphud/mcphud/agentsrv/tools/kb/wordvec"
)

const (
	rounds  = 3   // in which vectors move
	kin     = 0.2 // how much a word of the same root or of a wider meaning counts, of a synonym
	mostKin = 2   // what all of a word's may weigh together; it weighs 1 itself
)

// sense is a set of synonyms of WordNet: what part of speech, and where in that file.
type sense struct{ part, offset string }

// wordnet is what is taken of WordNet: which senses a word has, the commonest first, the words of each, and the senses that are kin to it.
type wordnet struct {
	place map[string]map[sense]int // from 1
	words map[sense][]string
	kin   map[sense][]sense
}

func readWordnet(dir string, known map[string]int) (*wordnet, error) {
	n := &wordnet{map[string]map[sense]int{}, map[sense][]string{}, map[sense][]sense{}}
	for file, part := range map[string]string{"noun": "n", "verb": "v", "adj": "a", "adv": "r"} {
		err := lines(filepath.Join(dir, "index."+file), func(f []string) {
			if _, ok := known[f[0]]; !ok {
				return
			}
			count, _ := strconv.Atoi(f[2])
			if n.place[f[0]] == nil {
				n.place[f[0]] = map[sense]int{}
			}
			for i, offset := range f[len(f)-count:] {
				n.place[f[0]][sense{part, offset}] = i + 1
			}
		})
		if err == nil {
			err = lines(filepath.Join(dir, "data."+file), func(f []string) { n.add(sense{part, f[0]}, f[3:], known) })
		}
		if err != nil {
			return nil, err
		}
	}
	return n, nil
}

// like tells whether a word has a meaning in common with any of the others.
func (n *wordnet) like(word string, others map[string]bool) bool {
	for s := range n.place[word] {
		if slices.ContainsFunc(n.words[s], func(w string) bool { return others[w] }) {
			return true
		}
	}
	return false
}

// add takes a line of a data file, from the number of its words on: wndb(5WN).
func (n *wordnet) add(s sense, f []string, known map[string]int) {
	count, _ := strconv.ParseInt(f[0], 16, 32)
	for _, w := range f[1 : 1+2*count] {
		w, _, _ = strings.Cut(strings.ToLower(w), "(")
		if _, ok := known[w]; ok && n.place[w][s] > 0 {
			n.words[s] = append(n.words[s], w)
		}
	}
	f = f[1+2*count:]
	pointers, _ := strconv.Atoi(f[0])
	for i := range pointers {
		p := f[1+4*i:]
		if p[0] == "@" || p[0] == "&" || p[0] == "+" { // wider, similar, of the same root
			n.kin[s] = append(n.kin[s], sense{strings.Replace(p[2], "s", "a", 1), p[1]})
		}
	}
}

// lines calls f with the fields of each line that is none of the licence.
func lines(file string, f func([]string)) error {
	r, err := os.Open(file)
	if err != nil {
		return err
	}
	defer r.Close()
	s := bufio.NewScanner(r)
	s.Buffer(nil, 1<<20)
	for s.Scan() {
		if !strings.HasPrefix(s.Text(), " ") {
			f(strings.Fields(s.Text()))
		}
	}
	return s.Err()
}

// gather moves the vectors of words with a common meaning to each other (Faruqui et al., "Retrofitting word vectors to semantic lexicons"):
// the more the commoner that meaning is among those of both.
func gather(all []word, n *wordnet, at map[string]int) {
	links := make([]map[int]float32, len(all))
	link := func(from, to string, weight float32) {
		a, b := at[from], at[to]
		if a == b {
			return
		}
		if links[a] == nil {
			links[a] = map[int]float32{}
		}
		links[a][b] += weight
	}
	for s, same := range n.words {
		for _, a := range same {
			for _, b := range same {
				link(a, b, 1/float32(n.place[a][s]*n.place[b][s]))
			}
			for _, k := range n.kin[s] {
				for _, b := range n.words[k] {
					weight := kin / float32(n.place[a][s]*n.place[b][k])
					link(a, b, weight)
					link(b, a, weight/2)
				}
			}
		}
	}
	first := make([][]float32, len(all))
	for i, w := range all {
		first[i] = w.vector
	}
	for range rounds {
		next := make([][]float32, len(all))
		for i := range all {
			next[i] = append([]float32(nil), first[i]...)
			var sum float32
			for _, weight := range links[i] {
				sum += weight
			}
			by := float32(1)
			if sum > mostKin {
				by = mostKin / sum
			}
			for j, weight := range links[i] {
				for d, x := range all[j].vector {
					next[i][d] += by * weight * x
				}
			}
			wordvec.Unit(next[i])
		}
		for i := range all {
			all[i].vector = next[i]
		}
	}
}
