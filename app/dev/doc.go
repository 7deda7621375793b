// Package dev is the surroundings of `vault dev`: the data folder and its
// lock, a private Postgres, a local GitHub with its repositories, and the
// settings under which all four roles run on them in one process.
package dev
