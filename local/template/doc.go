// Package template builds file trees for sandboxes: each step of a recipe runs
// in a sandbox of its own, and what it wrote becomes a layer, known by a hash of
// everything that went into it. Layers and the names of finished templates lie in
// one directory, which several programs may use at once.
package template
