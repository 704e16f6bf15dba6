package themes

func tritanopia() Palette {
	return Palette{
		Name: "tritanopia", Title: "Dark, for blue-yellow colour blindness", Dark: true, Background: rgb(0x15171c, 0),
		Deficiencies: []Deficiency{Tritan},
		Colors: [Count]Color{
			Text:        rgb(0xd7dae0, -1),
			Muted:       rgb(0x9aa1ad, 7),
			Accent:      rgb(0x5cc8d7, 14),
			Accent2:     rgb(0xf7a8c4, 13),
			Border:      rgb(0x6f7885, 7),
			BorderFocus: rgb(0x5cc8d7, 14),
			SelectionFg: rgb(0xffffff, 15),
			SelectionBg: rgb(0x1f7a86, 4),
			OK:          rgb(0x4fd3c4, 14),
			Warn:        rgb(0xf4f0f2, 15),
			Error:       rgb(0xff7d86, 9),
			Info:        rgb(0x8fd3dd, 14),
			Key:         rgb(0x7fd6e0, 14),
			String:      rgb(0xb9d6d2, 7),
			Number:      rgb(0xff9d9d, 9),
			Bool:        rgb(0xf7a8c4, 13),
			Null:        rgb(0xa9b0bc, 7),
			Punct:       rgb(0x9aa1ad, 7),
			Heading:     rgb(0xffc9d4, 13),
			Link:        rgb(0x5cc8d7, 14),
			Code:        rgb(0xf2b8c0, 13),
			BadgeFg:     rgb(0x0d1117, 0),
			BadgeBg:     rgb(0x5cc8d7, 14),
			MatchFg:     rgb(0x15171c, 0),
			MatchBg:     rgb(0xffc2cc, 11),
			Surface:     rgb(0x1e2128, -1),
			Login:       rgb(0xc9a2f7, 13),
			Field:       rgb(0x2a303d, -1),
		},
		Servers: [Hues]Color{rgb(0x3fe06a, 10), rgb(0xee7080, 9), rgb(0xe8d44a, 11), rgb(0x7099ee, 14), rgb(0xd977ea, 13), rgb(0xb8e8a0, 2)},
	}
}
