// Package tools holds the basic tools: how each is listed, what a client is
// told first, and what runs each of them.
package tools
