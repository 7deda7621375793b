package git

import "golang.org/x/sys/unix"

// capMemory limits the address space of a process that has just started, and
// of the children it starts from then on. Where the system does not allow it,
// the caps on entries, output and time remain.
func capMemory(pid int, bytes uint64) {
	_ = unix.Prlimit(pid, unix.RLIMIT_AS, &unix.Rlimit{Cur: bytes, Max: bytes}, nil)
}
