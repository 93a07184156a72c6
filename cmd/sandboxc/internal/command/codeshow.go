package command

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/agent-sandbox/agent-sandbox/cmd/sandboxc/internal/attend"
	"github.com/agent-sandbox/agent-sandbox/cmd/sandboxc/internal/output"
	"github.com/agent-sandbox/agent-sandbox/cmd/sandboxc/internal/picture"
	"github.com/agent-sandbox/agent-sandbox/core"
)

// show shows what code gives: as it comes, or not at all with --json.
type show struct {
	app      *App
	out, err io.Writer
	pictures picture.Protocol
	dir      string   // where results are saved; "" = nowhere
	count    int      // of results
	files    []string // that were saved
	open     bool     // stdout is inside a line
	failed   error    // why nothing more is shown

	plainOut, plainErr bool // colours of kernels are left out
}

// colours are what kernels put around words of values and tracebacks.
var colours = regexp.MustCompile("\x1b\\[[0-9;]*m")

func coloured(f *os.File) bool { return attend.IsTerminal(f) && os.Getenv("NO_COLOR") == "" }

func newShow(a *App, dir string) (*show, error) {
	s := &show{app: a, out: os.Stdout, err: os.Stderr, dir: dir, plainOut: !coloured(os.Stdout), plainErr: !coloured(os.Stderr)}
	if a.JSON {
		s.out, s.err = io.Discard, io.Discard
	} else if attend.IsTerminal(os.Stdout) {
		s.pictures = picture.ProtocolOf(os.Getenv)
	}
	if dir == "" {
		return s, nil
	}
	return s, os.MkdirAll(dir, 0o755) //nolint:gosec // results are as readable as other files
}

func (s *show) note(err error) {
	if s.failed == nil {
		s.failed = err
	}
}

func (s *show) stdout(m core.OutputMessage) {
	_, err := io.WriteString(s.out, m.Line)
	s.open = !strings.HasSuffix(m.Line, "\n")
	s.note(err)
}

func (s *show) stderr(m core.OutputMessage) {
	_, err := io.WriteString(s.err, m.Line)
	s.note(err)
}

// line writes text on lines of its own.
func (s *show) line(text string) {
	s.endLine()
	if s.plainOut {
		text = colours.ReplaceAllString(text, "")
	}
	_, err := io.WriteString(s.out, strings.TrimSuffix(text, "\n")+"\n")
	s.note(err)
}

// endLine ends a line that is open.
func (s *show) endLine() {
	if s.open {
		_, err := io.WriteString(s.out, "\n")
		s.note(err)
	}
	s.open = false
}

func (s *show) raised(e *core.CodeError) {
	text := e.Traceback
	if strings.TrimSpace(text) == "" {
		text = output.Clean(e.Name + ": " + e.Value)
	}
	if s.plainErr {
		text = colours.ReplaceAllString(text, "")
	}
	_, err := io.WriteString(s.err, strings.TrimSuffix(text, "\n")+"\n")
	s.note(err)
}

// result shows a picture as one, everything else as text.
func (s *show) result(r *core.Result) {
	s.count++
	s.note(s.save(r))
	formats := r.Formats()
	for _, format := range formats {
		if !s.pictures.Takes(format) {
			continue
		}
		if b, err := r.Bytes(format); err == nil {
			s.endLine()
			s.note(s.pictures.Show(s.out, b))
			return
		}
	}
	switch {
	case r.Text != "":
		s.line(r.Text)
	case r.Markdown != "":
		s.line(r.Markdown)
	case r.JSON != nil:
		s.line(string(r.JSON))
	case len(formats) > 0:
		s.line(fmt.Sprintf("<%s>", output.Clean(strings.Join(formats, ", "))))
	}
	if s.dir == "" && !s.app.JSON && slices.ContainsFunc(formats, isPicture) {
		s.app.Note("a picture (%s): -o DIR saves it", strings.Join(slices.DeleteFunc(formats, func(f string) bool { return !isPicture(f) }), ", "))
	}
}

func isPicture(format string) bool {
	return slices.Contains([]string{"png", "jpeg", "svg", "pdf"}, format)
}

// endings are those of the names of files.
var endings = map[string]string{
	"text": "txt", "html": "html", "markdown": "md", "svg": "svg", "png": "png", "jpeg": "jpeg", "pdf": "pdf", "latex": "tex",
	"json": "json", "javascript": "js", "data": "data.json", "chart": "chart.json",
}

// save writes each form of a result to a file of its own: result-1.png.
func (s *show) save(r *core.Result) error {
	if s.dir == "" {
		return nil
	}
	for _, format := range r.Formats() {
		end, ok := endings[format]
		if !ok {
			continue
		}
		b, err := r.Bytes(format)
		if err != nil {
			return err
		}
		if err := s.write(end, b); err != nil {
			return err
		}
	}
	if len(r.Extra) == 0 {
		return nil
	}
	b, err := json.Marshal(r.Extra)
	if err != nil {
		return err
	}
	return s.write("extra.json", b)
}

func (s *show) write(end string, b []byte) error {
	path := filepath.Join(s.dir, fmt.Sprintf("result-%d.%s", s.count, end))
	if err := os.WriteFile(path, b, 0o644); err != nil { //nolint:gosec // as readable as other files
		return err
	}
	s.files = append(s.files, path)
	return nil
}
