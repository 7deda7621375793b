package postgres

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

const (
	// fastStop is how long a fast shutdown may take: it rolls back, writes a
	// checkpoint and ends.
	fastStop = 20 * time.Second
	// immediateStop is how long an immediate shutdown may take: it ends without
	// a checkpoint, and the next start recovers.
	immediateStop = 5 * time.Second
	// pollPause is the pause between looks at a process that is not our child.
	pollPause = 10 * time.Millisecond
)

// stopLeftover stops the server that still runs on a cluster after its vault
// has crashed, and removes a pid file that would keep a new one from starting.
func stopLeftover(ctx context.Context, cluster string) error {
	pidFile := filepath.Join(cluster, "postmaster.pid")
	text, err := os.ReadFile(pidFile)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("look for a server left over on %s: %w", cluster, err)
	}
	line, _, _ := strings.Cut(string(text), "\n")
	pid, err := strconv.Atoi(strings.TrimSpace(line))
	if err != nil || pid <= 1 {
		return removeStale(pidFile)
	}
	if !alive(pid) {
		return nil // the server knows such a file as stale by itself
	}
	if !standsIn(pid, cluster) {
		// The number belongs to another program by now, which the server would
		// take for one of its own.
		return removeStale(pidFile)
	}
	if err := stopStranger(ctx, pid); err != nil {
		return fmt.Errorf("stop the server left over on %s: %w", cluster, err)
	}
	return nil
}

func removeStale(pidFile string) error {
	if err := os.Remove(pidFile); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("remove a stale pid file: %w", err)
	}
	return nil
}

// standsIn reports whether a process has the cluster as its working folder, as
// a server does.
func standsIn(pid int, cluster string) bool {
	folder, err := workingFolder(pid)
	if err != nil {
		return false
	}
	a, errA := os.Stat(folder)
	b, errB := os.Stat(cluster)
	return errA == nil && errB == nil && os.SameFile(a, b)
}

// stopStranger stops a server that is not our child, ever less gently.
func stopStranger(ctx context.Context, pid int) error {
	steps := []struct {
		signal  syscall.Signal
		patient time.Duration
	}{
		{syscall.SIGINT, fastStop},
		{syscall.SIGQUIT, immediateStop},
		{syscall.SIGKILL, immediateStop},
	}
	for _, step := range steps {
		if err := signalProcess(pid, step.signal); err != nil {
			return err
		}
		for end := time.Now().Add(step.patient); time.Now().Before(end); {
			if !alive(pid) {
				return nil
			}
			if err := wait(ctx, pollPause); err != nil {
				return err
			}
		}
	}
	return fmt.Errorf("process %d does not end", pid)
}
