// Package pane is what screens are made of: lists with a filter, documents of any size, results in parts, and the words that
// fill a pane with nothing in it. A part draws into a [tui.Pane], takes the messages that its screen hands it, and asks the
// server through the screen's [tui.Ctx]; it registers no screen and knows none.
//
//   - [Rows] is a list with the `/` filter; [ItemList] is one of what a server lists, [JournalList] one of journal entries.
//   - [Document] shows bytes as JSON, as text or rendered; [Reply] shows a result, one Document per part.
//   - [ItemDetail] is a definition in words, [TextPane] a page of styled lines.
package pane
