//go:build unix && !linux

package postgres

import (
	"context"
	"fmt"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// dieWithParent can do nothing here: a server that outlives us is taken over by
// the next start.
func dieWithParent(*syscall.SysProcAttr) {}

// workingFolder gives the folder a process stands in; a server stands in its
// cluster.
func workingFolder(pid int) (string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	out, err := exec.CommandContext(ctx, "lsof", "-a", "-d", "cwd", "-Fn", "-p", strconv.Itoa(pid)).Output()
	if err != nil {
		return "", fmt.Errorf("ask lsof for the folder of process %d: %w", pid, err)
	}
	for line := range strings.Lines(string(out)) {
		if folder, ok := strings.CutPrefix(strings.TrimSuffix(line, "\n"), "n"); ok {
			return folder, nil
		}
	}
	return "", fmt.Errorf("lsof does not name the folder of process %d", pid)
}
