package tui

import (
	"reflect"
	"sync"

	tea "charm.land/bubbletea/v2"
)

// begin opens what the program was started on before any line is carried out: the first may be there already, and a command that only sends
// a message needs a goroutine, for which a busy machine takes its time.
func (l *linear) begin() {
	for _, m := range l.app.first() {
		l.handle(m)
	}
	l.start(l.app.beside())
}

// start runs a command in a goroutine, like Bubble Tea does.
func (l *linear) start(c tea.Cmd) {
	if len(l.app.soon) > 0 { // of what was not called by Update
		_, more := l.app.Update(settled{})
		c = join(c, more)
	}
	if c != nil {
		go l.run(c)
	}
}

// run runs a command and hands its message to the loop: the commands of a batch at once, those of a sequence one after
// the other. It returns when the loop has taken all their messages.
func (l *linear) run(c tea.Cmd) {
	if c == nil {
		return
	}
	m := c()
	if batch, ok := m.(tea.BatchMsg); ok {
		var all sync.WaitGroup
		for _, c := range batch {
			all.Go(func() { l.run(c) })
		}
		all.Wait()
		return
	}
	if steps, ok := sequence(m); ok {
		for _, c := range steps {
			l.run(c)
		}
		return
	}
	select {
	case l.msgs <- m:
	case <-l.ctx.Done():
	}
}

// sequence unpacks the message of tea.Sequence, whose type is not exported: a slice of commands.
func sequence(m tea.Msg) ([]tea.Cmd, bool) {
	v := reflect.ValueOf(m)
	if v.Kind() != reflect.Slice || v.Type().Elem() != reflect.TypeFor[tea.Cmd]() {
		return nil, false
	}
	return v.Convert(reflect.TypeFor[[]tea.Cmd]()).Interface().([]tea.Cmd), true
}
