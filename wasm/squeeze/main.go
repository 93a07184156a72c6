// Command squeeze makes core.wasm smaller without changing what it does:
//
//	squeeze FILE
//
// Go's table from program counters to functions (runtime.findfunctab) has a
// record of 20 bytes for each 4 KiB of code, and in WebAssembly a function is 64
// KiB of it: 1.2 MB of memory that says i/16 for each i, in 60,000 data segments.
// A start function of one loop writes the same table. See RATIONALE.md.
package main

import (
	"fmt"
	"os"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: squeeze FILE")
		os.Exit(2)
	}
	if err := squeezeFile(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, "squeeze:", err)
		os.Exit(1)
	}
}

func squeezeFile(path string) error {
	b, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	small, err := squeeze(b)
	if err != nil {
		return err
	}
	return os.WriteFile(path, small, 0o644) //nolint:gosec // a build output
}

func squeeze(b []byte) ([]byte, error) {
	m, err := parse(b)
	if err != nil {
		return nil, err
	}
	image, err := readData(m.section(sectionData))
	if err != nil {
		return nil, err
	}
	t, ok := findTable(image)
	if !ok {
		return nil, fmt.Errorf("there is no table to make: has Go changed it? The build works without this step, and is 0.6 MB larger")
	}
	clear(image[t.at : t.at+t.records*recordSize])
	m.set(sectionData, writeData(image))
	return m.addStart(t)
}
