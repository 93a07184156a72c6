//go:build linux

package main

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// samples are durations of one thing.
type samples []time.Duration

func (s samples) quantile(q float64) time.Duration {
	if len(s) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(s))
	return sorted[min(int(q*float64(len(sorted))), len(sorted)-1)]
}

func (s samples) p50() time.Duration { return s.quantile(0.5) }
func (s samples) p99() time.Duration { return s.quantile(0.99) }

func ms(d time.Duration) string { return fmt.Sprintf("%.2f", float64(d)/float64(time.Millisecond)) }

// table prints Markdown.
func table(title string, head []string, rows ...[]string) {
	fmt.Printf("\n### %s\n\n| %s |\n|%s\n", title, strings.Join(head, " | "), strings.Repeat(" --- |", len(head)))
	for _, r := range rows {
		fmt.Printf("| %s |\n", strings.Join(r, " | "))
	}
}

// timed measures f.
func timed(f func() error) (time.Duration, error) {
	t := time.Now()
	err := f()
	return time.Since(t), err
}
