// Package mcpb reads bundles of servers (.mcpb, before that .dxt): zip files with a manifest that says what to start. Versions 0.1 to
// 0.4 of the manifest are read.
//
// A bundle comes from anywhere: its names, sizes and manifest are checked before anything of it is written, and nothing of it runs here.
package mcpb
