package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"time"

	"vault/e2e/harness"
)

// usage is what a process and those it started hold at one moment.
type usage struct {
	// memory is the resident memory of vault itself, in MB.
	memory float64
	// files are its open files.
	files int
	// processes are those below it, Postgres and git.
	processes int
}

func (u usage) String() string {
	return fmt.Sprintf("%.0f MB, %d open files, %d processes below it", u.memory, u.files, u.processes)
}

// measure looks at a process.
func measure(pid int) (u usage, err error) {
	statm, err := os.ReadFile(fmt.Sprintf("/proc/%d/statm", pid))
	if err != nil {
		return u, err
	}
	var size, resident int
	if _, err := fmt.Sscan(string(statm), &size, &resident); err != nil {
		return u, err
	}
	u.memory = float64(resident*os.Getpagesize()) / (1 << 20)
	files, err := os.ReadDir(fmt.Sprintf("/proc/%d/fd", pid))
	if err != nil {
		return u, err
	}
	u.files = len(files)
	u.processes = len(below(pid))
	return u, nil
}

// below lists the processes that a process started, and theirs.
func below(pid int) []int {
	children := map[int][]int{}
	stats, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, path := range stats {
		data, err := os.ReadFile(path)
		if err != nil {
			continue // it has ended
		}
		// The name stands in parentheses and may hold anything.
		text := string(data)
		f := strings.Fields(text[strings.LastIndexByte(text, ')')+1:])
		child, _ := strconv.Atoi(filepath.Base(filepath.Dir(path)))
		if parent, err := strconv.Atoi(f[1]); err == nil {
			children[parent] = append(children[parent], child)
		}
	}
	list := children[pid]
	for i := 0; i < len(list); i++ {
		list = append(list, children[list[i]]...)
	}
	return list
}

// goroutine is the head of each stack in a dump.
var goroutine = regexp.MustCompile(`(?m)^goroutine \d+ .*\[`)

// goroutines ends a process with a dump of all its stacks, and counts them.
func goroutines(d *harness.Dev) (int, error) {
	d.Signal(syscall.SIGQUIT)
	select {
	case <-d.Done():
	case <-time.After(30 * time.Second):
		d.Kill()
		return 0, errors.New("vault does not end when it is told to show its stacks")
	}
	n := len(goroutine.FindAllString(d.Output(), -1))
	if n == 0 {
		return 0, errors.New("the process ended without showing its stacks")
	}
	return n, nil
}

// gone waits until processes have ended.
func gone(pids []int) error {
	deadline := time.Now().Add(10 * time.Second)
	for {
		var left []int
		for _, pid := range pids {
			if syscall.Kill(pid, 0) == nil {
				left = append(left, pid)
			}
		}
		if len(left) == 0 {
			return nil
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("processes are left over: %v", left)
		}
		time.Sleep(50 * time.Millisecond)
	}
}
