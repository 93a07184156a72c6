// Package access decides who may talk to the local server: which Host a request
// may name, which Origin a page may have, and which key opens the control
// plane. It keeps no secret in any value that is printed.
package access
