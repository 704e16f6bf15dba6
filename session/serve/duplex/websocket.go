package duplex

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"time"

	"github.com/coder/websocket"

	"github.com/mcphud/mcphud/session/serve/ingress"
)

const (
	subprotocol = "mcp"     // what SDKs of both sides ask for and accept; WebSocket is not a part of the specification
	piece       = 256 << 10 // of a message that is written; each has Options.Write
	mostLong    = 8         // times Options.Limit: of a larger message the rest is not read, and the connection ends
)

// IsWebSocket reports whether a request asks for a WebSocket.
func IsWebSocket(r *http.Request) bool {
	return r.Method == http.MethodGet && strings.EqualFold(r.Header.Get("Upgrade"), "websocket")
}

// WebSocket serves a client over a WebSocket, with one JSON-RPC message in each text message, by what the handler has at path. It returns when
// the connection is over. Whatever leads to it must stand behind listen.Guard, since a web page of any origin can open one.
func (s *Server) WebSocket(w http.ResponseWriter, r *http.Request, path string) {
	l := s.open(w, r)
	if l == nil {
		return
	}
	defer s.leave(l)
	conn, err := websocket.Accept(w, r, &websocket.AcceptOptions{Subprotocols: []string{subprotocol}})
	if err != nil {
		return // it was answered
	}
	defer func() { _ = conn.CloseNow() }() // it may be closed
	conn.SetReadLimit(-1)                  // read has a limit of its own, which keeps the connection
	if l.client, err = Connect(s.ending, "websocket", path, requester{s, r}, func(frame []byte) error { return s.writeMessage(conn, frame) }); err != nil {
		_ = conn.Close(websocket.StatusInternalError, "cannot serve this endpoint")
		return
	}
	over := make(chan struct{})
	defer close(over)
	k := &socket{s: s, conn: conn, client: l.client}
	go k.keep(over)
	go func() {
		select {
		case <-l.stop:
			l.client.End(s.ending)
			defer context.AfterFunc(s.ending, func() { _ = conn.CloseNow() })() // a client may not answer the goodbye
			_ = conn.Close(websocket.StatusGoingAway, "the server is shutting down")
		case <-over:
		}
	}()
	k.read()
}

// socket is a WebSocket that is open.
type socket struct {
	s      *Server
	conn   *websocket.Conn
	client *Client
	busy   atomic.Bool  // a message is being taken, so that nobody reads
	reads  atomic.Int64 // messages so far
}

// read takes messages until the connection is over.
func (k *socket) read() {
	for {
		kind, r, err := k.conn.Reader(context.Background()) // a context would end the connection without a goodbye
		if err != nil {
			return
		}
		k.reads.Add(1)
		late := time.AfterFunc(k.s.o.Body, func() { _ = k.conn.CloseNow() })
		limit := k.s.o.Limit
		frame, long, err := ingress.ReadMessage(r, limit, mostLong*limit)
		late.Stop()
		switch {
		case errors.Is(err, io.ErrShortBuffer):
			k.client.Refuse(nil, ingress.MessageTooLong(limit))
			_ = k.conn.Close(websocket.StatusMessageTooBig, "the limit of a message is "+ingress.Size(limit))
			return
		case err != nil:
			return
		case kind != websocket.MessageText:
			_ = k.conn.Close(websocket.StatusUnsupportedData, "MCP has text messages")
			return
		case long:
			k.client.Refuse(frame, ingress.MessageTooLong(limit))
		case len(bytes.TrimSpace(frame)) > 0:
			k.busy.Store(true)
			_ = k.client.Take(frame, nil) // at the end of the server it does nothing, and the others have their answers
			k.busy.Store(false)
		}
		if k.client.Failed() != nil {
			return
		}
	}
}

// keep ends a connection whose client is gone without a word.
func (k *socket) keep(over <-chan struct{}) {
	t := time.NewTicker(k.s.o.Heartbeat)
	defer t.Stop()
	for {
		select {
		case <-t.C:
		case <-over:
			return
		}
		if k.busy.Load() {
			continue
		}
		before := k.reads.Load()
		ctx, cancel := context.WithTimeout(context.Background(), k.s.o.Write)
		stop := context.AfterFunc(k.s.ending, cancel)
		err := k.conn.Ping(ctx)
		stop()
		cancel()
		if err != nil && !k.busy.Load() && k.reads.Load() == before {
			_ = k.conn.CloseNow() // read ends by it
			return
		}
	}
}

// writeMessage writes a frame. A client that takes no piece of it in time is not written to again, since half a message is there.
func (s *Server) writeMessage(conn *websocket.Conn, frame []byte) error {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	late := time.AfterFunc(s.o.Write, cancel)
	defer late.Stop()
	if len(frame) <= piece {
		err := conn.Write(ctx, websocket.MessageText, frame)
		if err != nil {
			_ = conn.CloseNow() // read ends by it
		}
		return err
	}
	w, err := conn.Writer(ctx, websocket.MessageText)
	for err == nil && len(frame) > 0 {
		n := min(len(frame), piece)
		_, err = w.Write(frame[:n])
		frame = frame[n:]
		late.Reset(s.o.Write)
	}
	if err == nil {
		err = w.Close()
	}
	if err != nil {
		_ = conn.CloseNow() // read ends by it
	}
	return err
}
