package basics

import _ "embed" // for gallery.json

// Gallery is the name of the tool that returns what it received, byte for byte.
const Gallery = "form_gallery"

// gallerySchema is the input schema of form_gallery: every keyword of JSON Schema 2020-12 that says something about a
// value, what differs in draft-07, and what is found in the wild (nullable, enumNames, discriminator, x-*). It is sent as
// it is, less the white space.
//
//go:embed gallery.json
var gallerySchema []byte
