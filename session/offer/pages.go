package offer

import (
	"crypto/sha256"
	"runtime"
	"sync"
	"weak"
)

// Pages keeps one copy of equal pages of lists for the sessions of several managers, as long as one of them uses it. The zero
// value is ready; it is safe for concurrent use.
//
// The router has a session for each of its clients with each agent: a thousand of them would hold a thousand copies of one list.
type Pages struct {
	mu  sync.Mutex
	all map[pageKey]weak.Pointer[page] // nil before the first. A page that nobody has is removed by its cleanup
}

// pageKey is what equal pages have in common: SHA-256 of the result, for the servers that send it need not trust each other.
type pageKey struct {
	kind Kind
	sum  [sha256.Size]byte
}

// Read is readPage, which is done once for equal results. What it returns must not be modified. On nil it only reads.
func (p *Pages) Read(result []byte, kind Kind) (*page, error) {
	if p == nil {
		return parsePage(result, kind)
	}
	key := pageKey{kind, sha256.Sum256(result)}
	p.mu.Lock()
	have := p.all[key].Value()
	p.mu.Unlock()
	if have != nil {
		return have, nil
	}
	pg, err := parsePage(result, kind)
	if err != nil {
		return nil, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if have := p.all[key].Value(); have != nil {
		return have, nil
	}
	if p.all == nil {
		p.all = map[pageKey]weak.Pointer[page]{}
	}
	at := weak.Make(pg)
	p.all[key] = at
	runtime.AddCleanup(pg, func(key pageKey) {
		p.mu.Lock()
		defer p.mu.Unlock()
		if p.all[key] == at {
			delete(p.all, key)
		}
	}, key)
	return pg, nil
}

// parsePage is readPage with the bytes kept.
func parsePage(result []byte, kind Kind) (*page, error) {
	p, err := readPage(result, kind)
	p.raw = result
	return &p, err
}
