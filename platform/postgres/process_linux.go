package postgres

import (
	"os"
	"strconv"
	"syscall"
)

// dieWithParent has the kernel end the process with us, however we end: a fast
// shutdown, which is what an interrupt means to Postgres.
func dieWithParent(attr *syscall.SysProcAttr) { attr.Pdeathsig = syscall.SIGINT }

// workingFolder gives the folder a process stands in; a server stands in its
// cluster.
func workingFolder(pid int) (string, error) {
	return os.Readlink("/proc/" + strconv.Itoa(pid) + "/cwd")
}
