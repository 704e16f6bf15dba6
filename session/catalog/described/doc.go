// Package described makes servers of what somebody else described: a server.json, an entry of a registry, or a bundle.
//
// All of it is somebody else's text. Nothing of it is started here: what an [Offer] makes carries who published it, so that it is
// trusted by whoever reads what it would run before it does.
package described
