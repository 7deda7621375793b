package pgtest

import (
	"fmt"
	"io"
	"os/exec"
	"strconv"
	"syscall"
)

// guardScript waits for the end of its standard input, which is the end of the
// test process; then it ends the server, where the system has not, and removes
// the folders.
const guardScript = `
pid=$1; shift
cat >/dev/null
kill -QUIT "$pid" 2>/dev/null
tries=0
while kill -0 "$pid" 2>/dev/null && [ $tries -lt 200 ]; do sleep 0.05; tries=$((tries + 1)); done
rm -rf -- "$@"
`

// guard starts a process that cleans up after this one, however it ends: a
// test binary has no other place for that. It lasts until the result is closed
// or unreachable.
func guard(pid int, folders []string) (io.Closer, error) {
	args := append([]string{"-c", guardScript, "pgtest-guard", strconv.Itoa(pid)}, folders...)
	cmd := exec.Command("/bin/sh", args...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	// The write end stays open as long as this process lives; nothing writes.
	alive, err := cmd.StdinPipe()
	if err != nil {
		return nil, fmt.Errorf("guard the test server: %w", err)
	}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("guard the test server: %w", err)
	}
	return alive, nil
}
