package dev

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// Lock is the hold of one process on a data folder. It ends with the process,
// whatever ends it.
type Lock struct{ file *os.File }

// LockFolder makes the folder if needed, readable by its owner only, and takes
// hold of it. A folder in use is an error that names the process.
func LockFolder(dir string) (*Lock, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("make the data folder: %w", err)
	}
	if err := os.Chmod(dir, 0o700); err != nil {
		return nil, fmt.Errorf("close the data folder to others: %w", err)
	}
	path := filepath.Join(dir, "lock")
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open the lock of the data folder: %w", err)
	}
	err = syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		holder, _ := os.ReadFile(path)
		_ = file.Close()
		return nil, fmt.Errorf("the data folder %s is in use by %s; stop that process or choose another folder with --data",
			dir, strings.TrimSpace(string(holder)))
	}
	if err != nil {
		_ = file.Close()
		return nil, fmt.Errorf("lock the data folder: %w", err)
	}
	text := fmt.Sprintf("pid %d, started %s\n", os.Getpid(), time.Now().Format(time.RFC3339))
	if err := errors.Join(file.Truncate(0), writeAt(file, text)); err != nil {
		_ = file.Close()
		return nil, fmt.Errorf("write the lock of the data folder: %w", err)
	}
	return &Lock{file: file}, nil
}

func writeAt(f *os.File, text string) error {
	_, err := f.WriteAt([]byte(text), 0)
	return err
}

// Release lets the folder go.
func (l *Lock) Release() {
	_ = os.Remove(l.file.Name())
	_ = l.file.Close()
}
