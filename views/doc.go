// Package views holds the screens, one file each, and what they share. All is the only place where they are listed;
// they never call one another, but navigate by name.
package views
