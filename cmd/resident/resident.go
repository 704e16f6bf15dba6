// Package resident keeps what the program's own file takes of memory small.
//
// Initialising the linked packages (most of all the highlighter that comes with the markdown renderer) reads here and
// there in 40 MB of code and constants, once. A kernel with large folios maps megabytes for each such read, and a
// command that lists ten tools has 25 MB of them when main begins. [Trim] gives them back; what is needed again is mapped
// again, from the page cache. Packages first and second do so while initialisation goes on, for its peak.
package resident
