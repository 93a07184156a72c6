// Package pages serves a directory of the user's own web pages from the local
// server, and makes the one-time codes with which such a page gets its key.
package pages
