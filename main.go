// Command vault connects AI assistants to the Markdown notes in an
// organisation's GitHub repositories.
package main

import (
	"context"
	"os"

	"vault/app"
)

func main() {
	os.Exit(app.Main(context.Background(), os.Args[1:], app.Streams{In: os.Stdin, Out: os.Stdout, Err: os.Stderr}))
}
