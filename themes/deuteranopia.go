package themes

func deuteranopia() Palette {
	return Palette{
		Name: "deuteranopia", Title: "Dark, for red-green colour blindness", Dark: true, Background: rgb(0x15171c, 0),
		Deficiencies: []Deficiency{Deutan, Protan},
		Colors: [Count]Color{
			Text:        rgb(0xd7dae0, -1),
			Muted:       rgb(0x9aa1ad, 7),
			Accent:      rgb(0x6cb6ff, 14),
			Accent2:     rgb(0xd9b8ff, 13),
			Border:      rgb(0x6f7885, 7),
			BorderFocus: rgb(0x6cb6ff, 14),
			SelectionFg: rgb(0xffffff, 15),
			SelectionBg: rgb(0x2f6ab5, 4),
			OK:          rgb(0x58b4ff, 14),
			Warn:        rgb(0xf5d442, 11),
			Error:       rgb(0xff9466, 9),
			Info:        rgb(0xa9c7e8, 14),
			Key:         rgb(0x8ecbff, 14),
			String:      rgb(0xd8d08a, 11),
			Number:      rgb(0xf0b37e, 11),
			Bool:        rgb(0xd9b8ff, 13),
			Null:        rgb(0xa9b0bc, 7),
			Punct:       rgb(0x9aa1ad, 7),
			Heading:     rgb(0xf2d58c, 11),
			Link:        rgb(0x6cb6ff, 14),
			Code:        rgb(0xe6c07b, 11),
			BadgeFg:     rgb(0x0d1117, 0),
			BadgeBg:     rgb(0x6cb6ff, 14),
			MatchFg:     rgb(0x15171c, 0),
			MatchBg:     rgb(0xf5d442, 11),
			Surface:     rgb(0x1e2128, -1),
			Login:       rgb(0xf3ecff, 15),
			Field:       rgb(0x2a303d, -1),
		},
		Servers: [Hues]Color{rgb(0xe8e05a, 11), rgb(0x7099ee, 12), rgb(0xd9903f, 3), rgb(0x2fb08c, 2), rgb(0x9cd3ee, 14), rgb(0xb4e8a8, 10)},
	}
}
