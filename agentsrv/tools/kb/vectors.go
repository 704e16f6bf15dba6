package kb

import (
	"cmp"
	"encoding/binary"
	"math"
	"slices"
)

const (
	hashSize = 16 // bytes of the hash of a text

	// maxVectors is how much memory the embeddings of one base may take, one byte for each number: 170,000 passages of 1,536. What
	// goes beyond is found by its words only.
	maxVectors = 256 << 20
)

// vectors are the embeddings of a base, in memory: a number is a byte, the share of the largest of its vector: that moves a cosine by
// less than similar passages differ, and 10,000 passages of 1,536 numbers take 15 MB.
type vectors struct {
	dims  int
	ids   []int64  // of the passages
	tags  []uint64 // of their texts, since a database may give an id again
	bases []string
	scale []float32
	data  []int8 // dims for each
}

// neighbour is a passage, and the cosine of its embedding and that of the query.
type neighbour struct {
	id     int64
	tag    uint64
	cosine float32
}

// tagOf is the beginning of a hash.
func tagOf(hash []byte) uint64 {
	if len(hash) < 8 {
		return 0
	}
	return binary.BigEndian.Uint64(hash)
}

// add takes the embedding of a passage, as the store has it. One of another length is left out.
func (v *vectors) add(id int64, hash []byte, base string, raw []byte) {
	if v.dims == 0 {
		v.dims = len(raw) / 4
	}
	if len(raw) != 4*v.dims || v.dims == 0 || len(v.data)+v.dims > maxVectors {
		return
	}
	from := len(v.data)
	v.data = slices.Grow(v.data, v.dims)[:from+v.dims]
	v.scale = append(v.scale, quantise(v.data[from:], func(i int) float32 { return float32At(raw, i) }))
	v.ids, v.tags, v.bases = append(v.ids, id), append(v.tags, tagOf(hash)), append(v.bases, base)
}

// quantise writes n numbers as bytes, and returns what one of these counts.
func quantise(to []int8, at func(int) float32) float32 {
	var most float32
	for i := range to {
		most = max(most, float32(math.Abs(float64(at(i)))))
	}
	if most == 0 {
		return 0
	}
	for i := range to {
		to[i] = int8(math.RoundToEven(float64(at(i) / most * 127)))
	}
	return most / 127
}

// nearest are the n passages of a part of the base, or of all where that is "", whose embeddings are most similar to q, the most
// similar first. What is not more similar than least is none of them.
func (v *vectors) nearest(q []float32, base string, n int, least float32) []neighbour {
	bytes := make([]int8, v.dims)
	by := quantise(bytes, func(i int) float32 { return q[i] })
	var best []neighbour
	for i, id := range v.ids {
		if base != "" && v.bases[i] != base {
			continue
		}
		c := float32(dot(bytes, v.data[i*v.dims:(i+1)*v.dims])) * by * v.scale[i]
		if c <= least || len(best) == n && c <= best[n-1].cosine {
			continue
		}
		at, _ := slices.BinarySearchFunc(best, c, func(b neighbour, c float32) int { return cmp.Compare(c, b.cosine) })
		if len(best) == n {
			best = best[:n-1]
		}
		best = slices.Insert(best, at, neighbour{id, v.tags[i], min(c, 1)})
	}
	return best
}

// dot is the product of two vectors of one length. It fits 32 bits for up to 130,000 numbers.
func dot(a, b []int8) int32 {
	var s0, s1, s2, s3 int32
	b = b[:len(a)]
	i := 0
	for ; i+4 <= len(a); i += 4 {
		x, y := a[i:i+4:i+4], b[i:i+4:i+4]
		s0 += int32(x[0]) * int32(y[0])
		s1 += int32(x[1]) * int32(y[1])
		s2 += int32(x[2]) * int32(y[2])
		s3 += int32(x[3]) * int32(y[3])
	}
	for ; i < len(a); i++ {
		s0 += int32(a[i]) * int32(b[i])
	}
	return s0 + s1 + s2 + s3
}

// packVector is a vector as the store has it.
func packVector(v []float32) []byte {
	b := make([]byte, 0, 4*len(v))
	for _, x := range v {
		b = binary.LittleEndian.AppendUint32(b, math.Float32bits(x))
	}
	return b
}

func float32At(raw []byte, i int) float32 {
	return math.Float32frombits(binary.LittleEndian.Uint32(raw[4*i:]))
}
