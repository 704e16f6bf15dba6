package themes

func dark() Palette {
	return Palette{
		Name: "dark", Title: "Dark", Dark: true, Background: rgb(0x15171c, 0),
		Colors: [Count]Color{
			Text:        rgb(0xd7dae0, -1),
			Muted:       rgb(0x9aa1ad, 7),
			Accent:      rgb(0x6cb6ff, 14),
			Accent2:     rgb(0xc8a6ff, 13),
			Border:      rgb(0x6f7885, 7),
			BorderFocus: rgb(0x6cb6ff, 14),
			SelectionFg: rgb(0xffffff, 15),
			SelectionBg: rgb(0x2f6ab5, 4),
			OK:          rgb(0x6fd58a, 10),
			Warn:        rgb(0xe8b84a, 11),
			Error:       rgb(0xff8b85, 9),
			Info:        rgb(0x7cc7f0, 14),
			Key:         rgb(0x7cc7f0, 14),
			String:      rgb(0xa5d68a, 10),
			Number:      rgb(0xf0b37e, 11),
			Bool:        rgb(0xc8a6ff, 13),
			Null:        rgb(0xa9b0bc, 7),
			Punct:       rgb(0x9aa1ad, 7),
			Heading:     rgb(0xf2d58c, 11),
			Link:        rgb(0x6cb6ff, 14),
			Code:        rgb(0xe6c07b, 11),
			BadgeFg:     rgb(0x0d1117, 0),
			BadgeBg:     rgb(0x6cb6ff, 14),
			MatchFg:     rgb(0x15171c, 0),
			MatchBg:     rgb(0xf2cc60, 11),
			Surface:     rgb(0x1e2128, -1),
			Login:       rgb(0xf29ce0, 13),
			Field:       rgb(0x2a303d, -1),
		},
		Servers: [Hues]Color{rgb(0xe3b341, 11), rgb(0xf28fd8, 13), rgb(0x6cb6ff, 14), rgb(0x7ee08a, 10), rgb(0xff8f6b, 9), rgb(0x45cfc9, 6)},
	}
}
