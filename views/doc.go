// Package views puts the screens together: [All] is the only place where they are listed. Each family of screens is a package below; what
// families share is in pane and shell. Screens never call one another, but navigate by name.
package views
