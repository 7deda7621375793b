//go:build unix

package postgres

import (
	"io/fs"
	"os"
	"syscall"
)

// processAttributes makes a process of the account in a process group of its
// own, so that an interrupt typed at our terminal does not reach it before we
// are done with it.
func processAttributes(a account) *syscall.SysProcAttr {
	attr := &syscall.SysProcAttr{Setpgid: true}
	if a.switched {
		attr.Credential = &syscall.Credential{Uid: uint32(a.uid), Gid: uint32(a.gid)}
	}
	dieWithParent(attr)
	return attr
}

// owner gives the user id of a file.
func owner(info fs.FileInfo) (int, bool) {
	stat, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return 0, false
	}
	return int(stat.Uid), true
}

// alive reports whether a process exists, whoever owns it.
func alive(pid int) bool {
	err := syscall.Kill(pid, 0)
	return err == nil || err == syscall.EPERM
}

// signalProcess sends a signal; a process that is gone is no error.
func signalProcess(pid int, s syscall.Signal) error {
	err := syscall.Kill(pid, s)
	if err == syscall.ESRCH {
		return nil
	}
	return os.NewSyscallError("kill", err)
}
