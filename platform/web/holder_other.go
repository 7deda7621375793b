//go:build !linux

package web

// holder is known on Linux only.
func holder(string) string { return "" }
