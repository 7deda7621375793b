// Package graphql answers GraphQL queries over a schema given as text, the
// way GitHub's endpoint does: results in the order asked, nulls and errors
// side by side, validation errors with GitHub's codes.
//
// It knows no domain. Values come from Objects that the caller hands in; a
// field that is valid but that an Object does not build is answered with an
// error of the type TypeUnimplemented, so that a gap never passes as null.
package graphql
