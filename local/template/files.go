//go:build linux

package template

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
)

// gather copies what a step's files hold to dir, one entry each, named by
// number, and gives the hash of it: what is built is what was hashed, even where
// the sources change meanwhile.
func gather(files []File, dir string) (content string, err error) {
	g := &gathering{hash: sha256.New()}
	for i, f := range files {
		_, _ = fmt.Fprintf(g.hash, "file %q\n", f.Path)
		to := filepath.Join(dir, strconv.Itoa(i))
		if f.Source == "" {
			err = g.write(to, f.Content, mode(f.Mode))
		} else {
			err = g.copy(f.Source, to)
		}
		if err != nil {
			return "", err
		}
	}
	return hex.EncodeToString(g.hash.Sum(nil)), nil
}

func mode(m uint32) fs.FileMode {
	if m == 0 {
		return 0o644
	}
	return fs.FileMode(m) & fs.ModePerm
}

type gathering struct{ hash hash.Hash }

func (g *gathering) write(to string, content []byte, mode fs.FileMode) error {
	_, _ = fmt.Fprintf(g.hash, "regular %o %d\n", mode, len(content))
	_, _ = g.hash.Write(content)
	return errors.Join(os.WriteFile(to, content, 0o600), os.Chmod(to, mode))
}

// copy takes a file or a directory. Sockets and devices are no content.
func (g *gathering) copy(source, to string) error {
	// What is named may be a link itself; below it links stay links.
	real, err := filepath.EvalSymlinks(source)
	if err != nil {
		return err
	}
	return filepath.WalkDir(real, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(real, path)
		if err != nil {
			return err
		}
		_, _ = fmt.Fprintf(g.hash, "%q ", rel)
		return g.copyOne(path, filepath.Join(to, rel), d)
	})
}

func (g *gathering) copyOne(path, to string, d fs.DirEntry) error {
	info, err := d.Info()
	if err != nil {
		return err
	}
	switch {
	case d.IsDir():
		_, _ = fmt.Fprintf(g.hash, "dir %o\n", info.Mode().Perm())
		return errors.Join(os.Mkdir(to, 0o700), os.Chmod(to, info.Mode().Perm()|0o700))
	case info.Mode()&fs.ModeSymlink != 0:
		target, err := os.Readlink(path)
		_, _ = fmt.Fprintf(g.hash, "link %q\n", target)
		return errors.Join(err, os.Symlink(target, to))
	case info.Mode().IsRegular():
		return g.copyFile(path, to, info.Mode().Perm())
	}
	return nil
}

func (g *gathering) copyFile(path, to string, mode fs.FileMode) error {
	src, err := os.Open(path)
	if err != nil {
		return err
	}
	defer src.Close()
	dst, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, _ = fmt.Fprintf(g.hash, "regular %o ", mode)
	n, err := io.Copy(io.MultiWriter(dst, g.hash), src)
	_, _ = fmt.Fprintf(g.hash, " %d\n", n)
	return errors.Join(err, dst.Chmod(mode), dst.Close())
}
