//go:build !linux

package git

// capMemory does nothing: only Linux limits another process. The caps on
// entries, output and time remain.
func capMemory(int, uint64) {}
