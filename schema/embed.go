// Package schema holds what the product's stores and files must look like, as
// data: migrations of the databases and JSON Schemas of the settings files.
package schema

import (
	"embed"
	"io/fs"
)

//go:embed control/*.sql
var controlFiles embed.FS

//go:embed installation/*.sql
var installationFiles embed.FS

// Control holds the migrations of the control database.
var Control = sub(controlFiles, "control")

// Installation holds the migrations of an installation's database.
var Installation = sub(installationFiles, "installation")

// sub gives a folder of embedded files. The folder is part of the program, so
// that it cannot be missing at run time.
func sub(files embed.FS, folder string) fs.FS {
	inner, err := fs.Sub(files, folder)
	if err != nil {
		panic(err)
	}
	return inner
}
