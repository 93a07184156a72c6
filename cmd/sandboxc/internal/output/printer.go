// Package output is how sandboxc speaks: to people in lines and tables, to
// programs in JSON, and to shells in exit codes.
package output

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/agent-sandbox/agent-sandbox/core/fault"
)

// Printer writes results to Out and everything else to Err.
type Printer struct {
	Out   io.Writer
	Err   io.Writer
	JSON  bool // results and errors are JSON on Out
	Quiet bool // no notes
	// Terminal: somebody looks at Err. Dim: and it knows colours.
	Terminal, Dim bool
}

// Value prints v as one line of JSON, or by plain.
func (p *Printer) Value(v any, plain func(w io.Writer) error) error {
	if !p.JSON {
		return plain(p.Out)
	}
	b, err := json.Marshal(v)
	if err != nil {
		return err
	}
	_, err = p.Out.Write(append(b, '\n'))
	return err
}

// Line prints v as JSON, or the text.
func (p *Printer) Line(v any, format string, args ...any) error {
	return p.Value(v, func(w io.Writer) error {
		_, err := fmt.Fprintf(w, format+"\n", args...)
		return err
	})
}

// Table prints v as JSON, or rows below a header.
func (p *Printer) Table(v any, header []string, rows [][]string) error {
	return p.Value(v, func(w io.Writer) error {
		t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
		for _, row := range append([][]string{header}, rows...) {
			for i, cell := range row {
				row[i] = Clean(cell)
			}
			_, _ = fmt.Fprintln(t, strings.Join(row, "\t"))
		}
		return t.Flush()
	})
}

// Note tells a person something that is no result.
func (p *Printer) Note(format string, args ...any) {
	if p.Quiet {
		return
	}
	text := fmt.Sprintf(format, args...)
	if p.Dim {
		text = "\x1b[2m" + text + "\x1b[0m"
	}
	_, _ = fmt.Fprintln(p.Err, text)
}

// Warn tells a person what has to be known, also when quiet.
func (p *Printer) Warn(format string, args ...any) {
	_, _ = fmt.Fprintln(p.Err, "sandboxc: "+fmt.Sprintf(format, args...))
}

// Fail reports err and gives the exit code; exit maps a code to one.
func (p *Printer) Fail(err error, exit func(fault.Code) int) int {
	var status Status
	if errors.As(err, &status) {
		return int(status)
	}
	e := Explain(err)
	if p.JSON {
		b, err := json.Marshal(map[string]failure{"error": newFailure(e)})
		if err != nil {
			b = []byte(`{"error":{"code":"E9000","message":"the error cannot be written as JSON","docs":"` + errorsPage + `"}}`)
		}
		_, _ = p.Out.Write(append(b, '\n'))
	} else {
		p.Warn("%s, see %s", Clean(e.Error()), page(e))
	}
	return exit(e.Code)
}

// Clean makes text that somebody else wrote safe for a terminal: control
// characters, which could rewrite the screen, become visible.
func Clean(s string) string {
	if !strings.ContainsFunc(s, control) {
		return s
	}
	var b strings.Builder
	for _, r := range s {
		if control(r) {
			fmt.Fprintf(&b, "\\x%02x", r)
			continue
		}
		b.WriteRune(r)
	}
	return b.String()
}

func control(r rune) bool { return r < ' ' || r >= 0x7f && r < 0xa0 }
