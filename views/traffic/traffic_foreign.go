package traffic

// Foreign is traffic between others, of which the journal is all that there is.
type Foreign struct {
	// Empty is shown while the journal is empty: why it is, and what to do. It must be quick.
	Empty func() (what, next string)
	// Over is whether nothing comes any more, so that what waits for an answer never gets one; nil is no. It must be quick.
	Over func() bool
	// Targets is where its requests can be sent again.
	Targets Targets
}
