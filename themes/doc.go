// Package themes holds the embedded palettes: named colour tokens, never styles. It imports the standard library only.
package themes
