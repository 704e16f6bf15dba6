package ingress

import (
	"bytes"
	"io"
	"testing"
	"testing/iotest"
	"time"
)

func TestBuffersAreUsedAgain(t *testing.T) {
	var b Buffers
	first := append(b.Get(1<<20), 'a')
	other := b.Get(1 << 20)
	if &first[0] == &other[:1][0] {
		t.Fatal("one buffer for two")
	}
	b.Free(first)
	if again := b.Get(300 << 10); &again[:1][0] != &first[0] || len(again) != 0 {
		t.Error("a buffer that is large enough was not used again")
	}
	b.Free(first)
	if small := b.Get(bufferUnit); cap(small) != bufferUnit {
		t.Errorf("%d bytes for a message of 64 KiB", cap(small))
	}
	if tiny := b.Get(100); cap(tiny) != 100 || b.bytes != cap(first) {
		t.Errorf("%d bytes for 100, %d idle", cap(tiny), b.bytes)
	}
	b.Free(make([]byte, 100))
	(*Buffers)(nil).Free(other)
	if len(b.idle) != 1 {
		t.Errorf("%d idle", len(b.idle))
	}
}

func TestBuffersKeepLittleAndNotForLong(t *testing.T) {
	var b Buffers
	for range 40 {
		b.Free(make([]byte, 0, 1<<20))
	}
	for range 100 {
		b.Free(make([]byte, 0, bufferUnit))
	}
	if b.bytes != maxIdle || len(b.idle) != maxIdle>>20 {
		t.Errorf("%d bytes in %d buffers are kept", b.bytes, len(b.idle))
	}
	b.sweep.Stop()
	b.expire() // from now on those are stale
	used := b.Get(1 << 20)
	b.Free(used)
	b.expire()
	if len(b.idle) != 1 || b.bytes != 1<<20 || b.stale != 1 {
		t.Errorf("%d buffers of %d bytes are left", len(b.idle), b.bytes)
	}
	b.expire()
	if len(b.idle) != 0 || b.bytes != 0 || b.sweep != nil {
		t.Errorf("%d buffers of %d bytes are left", len(b.idle), b.bytes)
	}
	b.Free(used)
	if b.sweep == nil {
		t.Error("nothing will forget what came later")
	}
	b.sweep.Stop()
}

func TestReadWhateverIsAnnounced(t *testing.T) {
	var b Buffers
	defer func() { b.sweep.Stop() }()
	l := Limits{Body: 3 << 20, Time: time.Second, Buffers: &b}
	want := make([]byte, 3<<20)
	for i := range want {
		want[i] = byte(i * 31 >> 3)
	}
	for _, n := range []int{0, 1, 511, 512, 513, 64<<10 - 1, 64 << 10, 64<<10 + 1, 1 << 20, 2<<20 - 1, 2 << 20, 3 << 20} {
		for _, announced := range []int64{-1, int64(n)} {
			for name, r := range map[string]io.Reader{
				"whole": bytes.NewReader(want[:n]), "halves": iotest.HalfReader(bytes.NewReader(want[:n])), "end at once": iotest.DataErrReader(bytes.NewReader(want[:n])),
			} {
				got, err := l.read(r, announced)
				if err != nil || !bytes.Equal(got, want[:n]) {
					t.Fatalf("%d bytes, %d announced, %s: %d bytes, %v", n, announced, name, len(got), err)
				}
				if cap(got) > 4*max(n, 512)+bufferUnit {
					t.Errorf("%d bytes in a buffer of %d", n, cap(got))
				}
				b.Free(got)
			}
		}
	}
	if got, err := l.read(bytes.NewReader(append(want, want...)), -1); err != nil || int64(len(got)) != l.Body+1 {
		t.Errorf("%d bytes are read above a limit of %d, %v", len(got), l.Body, err)
	}
	// Who announces much and sends little has little reserved.
	if got, _ := l.read(iotest.TimeoutReader(iotest.OneByteReader(bytes.NewReader(want))), 3<<20); cap(got) > 4*bufferUnit {
		t.Errorf("%d bytes are reserved for %d", cap(got), len(got))
	}
}
