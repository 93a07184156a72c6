// Package fleet keeps the sandboxes of one server: which there are, in which
// state each one is, and when its life ends. It knows neither HTTP nor how a
// sandbox is made: a Box does the work.
package fleet
