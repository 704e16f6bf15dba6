package themes

func light() Palette {
	return Palette{
		Name: "light", Title: "Light", Dark: false, Background: rgb(0xffffff, 15),
		Colors: [Count]Color{
			Text:        rgb(0x1f2328, -1),
			Muted:       rgb(0x57606a, 8),
			Accent:      rgb(0x0550ae, 4),
			Accent2:     rgb(0x6f42c1, 5),
			Border:      rgb(0x858d97, 8),
			BorderFocus: rgb(0x0550ae, 4),
			SelectionFg: rgb(0xffffff, 15),
			SelectionBg: rgb(0x2666b8, 4),
			OK:          rgb(0x116329, 2),
			Warn:        rgb(0x7a4a00, 5),
			Error:       rgb(0xb3161e, 1),
			Info:        rgb(0x0a4f8a, 4),
			Key:         rgb(0x0a4f8a, 4),
			String:      rgb(0x14602c, 2),
			Number:      rgb(0x8a3b00, 1),
			Bool:        rgb(0x6a32bd, 5),
			Null:        rgb(0x4d565f, 8),
			Punct:       rgb(0x4f5860, 8),
			Heading:     rgb(0x6b4500, 4),
			Link:        rgb(0x0550ae, 4),
			Code:        rgb(0x7a3e00, 5),
			BadgeFg:     rgb(0xffffff, 15),
			BadgeBg:     rgb(0x0550ae, 4),
			MatchFg:     rgb(0x1f2328, 0),
			MatchBg:     rgb(0xffd966, 11),
			Surface:     rgb(0xf3f5f8, -1),
			Login:       rgb(0x9c1f8c, 5),
			Field:       rgb(0xe2e8f0, -1),
		},
		Servers: [Hues]Color{rgb(0x7a5c00, 8), rgb(0x9c1f8c, 5), rgb(0x0550ae, 4), rgb(0x116329, 2), rgb(0xb0301a, 1), rgb(0x0b6a75, 0)},
	}
}
