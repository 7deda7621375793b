// Package tool holds the shape that every tool has, basic or special: how it
// is listed, how its arguments are read and judged, how it is run and how its
// answer is encoded.
//
// Arguments are judged here, once, for every tool, and never by the protocol
// library: names count exactly, an unknown or repeated one is an error, and
// every failure is a sentence that says what the argument must be. The same
// validator's verdict is never a permission: what a caller may read is decided
// by the scope in the call.
//
// What is accepted beyond the letter of a schema, because assistants send it:
// an object or list that arrives as a JSON string, a whole number written as
// 5.0 or 1e2, and null for an argument that may be left out. A number or a
// boolean in quotes is refused, with the value to send instead.
package tool
