package themes

func contrast() Palette {
	return Palette{
		Name: "contrast", Title: "High contrast", Dark: true, Background: rgb(0x000000, 0),
		Colors: [Count]Color{
			Text:        rgb(0xffffff, -1),
			Muted:       rgb(0xdcdcdc, 15),
			Accent:      rgb(0x5fd7ff, 14),
			Accent2:     rgb(0xffafff, 13),
			Border:      rgb(0xc0c0c0, 15),
			BorderFocus: rgb(0xffff00, 11),
			SelectionFg: rgb(0x000000, 0),
			SelectionBg: rgb(0xffff00, 11),
			OK:          rgb(0x5fff5f, 10),
			Warn:        rgb(0xffd75f, 11),
			Error:       rgb(0xff9e9e, 9),
			Info:        rgb(0x87d7ff, 14),
			Key:         rgb(0x87ffff, 14),
			String:      rgb(0xafffaf, 10),
			Number:      rgb(0xffd7af, 11),
			Bool:        rgb(0xffafff, 13),
			Null:        rgb(0xe4e4e4, 15),
			Punct:       rgb(0xe4e4e4, 15),
			Heading:     rgb(0xffff87, 11),
			Link:        rgb(0x87d7ff, 14),
			Code:        rgb(0xffd787, 11),
			BadgeFg:     rgb(0x000000, 0),
			BadgeBg:     rgb(0xffff00, 11),
			MatchFg:     rgb(0x000000, 0),
			MatchBg:     rgb(0xffff00, 11),
			Surface:     rgb(0x121212, -1),
			Login:       rgb(0xff9cf5, 13),
			Field:       rgb(0x2a2a2a, -1),
		},
		Servers: [Hues]Color{rgb(0x5fe8d0, 14), rgb(0xff8cff, 13), rgb(0xff8f7a, 9), rgb(0x5fff5f, 10), rgb(0xffd75f, 11), rgb(0x7fb8ff, 12)},
	}
}
