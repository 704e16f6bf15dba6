// Package wordvec has vectors of 28,000 English words, in which words that are used alike point the same way, and makes one vector of a
// text: the mean of those of its words, the rarer ones counting more. That is a modest guess at what a text is about, and costs no model, no
// network and less than 2 MB.
package wordvec

import (
	"bytes"
	_ "embed" // the vectors
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"math"
	"strings"
	"sync"
)

// The file: magic, the number of words and of numbers in each vector, a checksum of what follows, how long the words are, the words, the
// commonest first, each with a line feed, and the vectors, half a byte for each number.
const (
	magic  = "mcphud words 1\n"
	header = len(magic) + 4*4
	levels = 7   // of a number, above and below 0
	longer = 1e6 // words, and bytes of them, that a file may say it has
)

// Model names what vectors are made of and how: those by another one, whose name has the same prefix, are not to be compared with these.
const (
	Model  = Prefix + "100d-1"
	Prefix = "mcphud-words-"
)

//go:embed words.bin
var file []byte

// Words are the vectors of words.
type Words struct {
	Dims    int
	at      map[string]int32
	vectors []byte
}

// Builtin are the vectors of the binary, read when they are asked for first. The error is about a binary that is damaged.
var Builtin = sync.OnceValues(func() (*Words, error) { return Read(file) })

// Read takes what Write wrote. It keeps b.
func Read(b []byte) (*Words, error) {
	if len(b) < header || string(b[:len(magic)]) != magic {
		return nil, errors.New("the word vectors are damaged: their file does not begin as one does")
	}
	at := func(i int) int { return int(binary.LittleEndian.Uint32(b[len(magic)+4*i:])) }
	count, dims, sum, size := at(0), at(1), at(2), at(3)
	if count > longer || dims < 1 || dims > 1000 || size > 10*longer {
		return nil, fmt.Errorf("the word vectors are damaged: their file says it has %d words of %d numbers", count, dims)
	}
	rest := b[header:]
	if want := size + count*half(dims); len(rest) != want {
		return nil, fmt.Errorf("the word vectors are damaged: their file has %d bytes in the place of %d", len(b), header+want)
	}
	if int(crc32.ChecksumIEEE(rest)) != sum {
		return nil, errors.New("the word vectors are damaged: their checksum is another one")
	}
	w := &Words{Dims: dims, at: make(map[string]int32, count), vectors: rest[size:]}
	for word := range strings.SplitSeq(strings.TrimSuffix(string(rest[:size]), "\n"), "\n") {
		w.at[word] = int32(len(w.at))
	}
	if len(w.at) != count {
		return nil, fmt.Errorf("the word vectors are damaged: their file has %d words in the place of %d", len(w.at), count)
	}
	return w, nil
}

// half is how many bytes n numbers take.
func half(n int) int { return (n + 1) / 2 }

// Write writes words, the commonest first, and their vectors, which all have one length; how long each is is not kept.
func Write(out io.Writer, words []string, vectors [][]float32) error {
	text := strings.Join(words, "\n") + "\n"
	rest := bytes.NewBufferString(text)
	for _, v := range vectors {
		var most float32
		for _, x := range v {
			most = max(most, float32(math.Abs(float64(x))))
		}
		packed := make([]byte, half(len(v)))
		for i, x := range v {
			packed[i/2] |= byte(levels+math.RoundToEven(float64(x/most*levels))) << (4 * (i % 2))
		}
		rest.Write(packed)
	}
	head := []byte(magic)
	for _, n := range []uint32{uint32(len(words)), uint32(len(vectors[0])), crc32.ChecksumIEEE(rest.Bytes()), uint32(len(text))} {
		head = binary.LittleEndian.AppendUint32(head, n)
	}
	_, err := out.Write(append(head, rest.Bytes()...))
	return err
}

// Add adds the vector of a word, if it has one, to sum: by times, and by less the commoner the word is.
func (w *Words) Add(sum []float32, word string, times float32) {
	at, ok := w.look(word)
	if !ok {
		return
	}
	packed := w.vectors[int(at)*half(w.Dims):][:half(w.Dims)]
	var square float32
	number := func(i int) float32 { return float32(packed[i/2]>>(4*(i%2))&15) - levels }
	for i := range w.Dims {
		square += number(i) * number(i)
	}
	if square == 0 {
		return
	}
	times *= weight(int(at)) / float32(math.Sqrt(float64(square)))
	for i := range sum {
		sum[i] += times * number(i)
	}
}

// weight is a/(a+p): p is how likely a word is, which by Zipf's law goes with its place among all words (Arora et al., "A simple but
// tough-to-beat baseline for sentence embeddings").
func weight(place int) float32 {
	const a = 1e-3
	return a / (a + 1/(12*float32(place+100))) // the hundred commonest have no vector
}

// endings are those of words whose vector is that of what is left, with or without an e.
var endings = []string{"s", "es", "d", "ed", "ing", "ly", "er", "able", "ment", "ness"}

func (w *Words) look(word string) (int32, bool) {
	if at, ok := w.at[word]; ok {
		return at, true
	}
	for _, e := range endings {
		stem := strings.TrimSuffix(word, e)
		if len(stem) == len(word) || len(stem) < 3 {
			continue
		}
		for _, form := range []string{stem, stem + "e"} {
			if at, ok := w.at[form]; ok {
				return at, true
			}
		}
	}
	return 0, false
}

// Unit makes v as long as 1, unless it is all zeros.
func Unit(v []float32) {
	var square float64
	for _, x := range v {
		square += float64(x) * float64(x)
	}
	if square == 0 {
		return
	}
	by := float32(1 / math.Sqrt(square))
	for i := range v {
		v[i] *= by
	}
}
