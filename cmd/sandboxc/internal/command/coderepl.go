package command

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"golang.org/x/term"

	"github.com/agent-sandbox/agent-sandbox/cmd/sandboxc/internal/attend"
	"github.com/agent-sandbox/agent-sandbox/cmd/sandboxc/internal/output"
	"github.com/agent-sandbox/agent-sandbox/core/fault"
	"github.com/agent-sandbox/agent-sandbox/native"
)

// converse reads code, runs it and shows what it gives, until there is no more.
// What one piece defines is there for the next.
func (j *codeJob) converse(sbx *native.Sandbox) error {
	in := newPrompter()
	python := j.options.Language == "" || j.options.Language == "python"
	for {
		code, err := readCode(in, python)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if strings.TrimSpace(code) == "" {
			continue
		}
		_, err = j.run(sbx, code)
		switch {
		case j.show.failed != nil:
			return j.show.failed
		case errors.As(err, new(*attend.InterruptedError)):
			j.app.Note("interrupted")
		case fault.CodeOf(err) == fault.CodeCommandTimeout, fault.CodeOf(err) == fault.CodeCodeExecution:
			j.app.Warn("%s", output.Clean(err.Error()))
		case err != nil:
			return err
		}
		j.show.endLine()
	}
}

// lineReader gives one line of input after another.
type lineReader interface {
	// read shows a prompt. io.EOF ends the input; errAbandoned, what was typed.
	read(prompt string) (string, error)
}

var errAbandoned = errors.New("what was typed is abandoned")

// readCode reads lines until they make a whole: Python as its own prompt does,
// anything else while lines end with a backslash.
func readCode(in lineReader, python bool) (string, error) {
	var code []string
	for prompt := ">>> "; ; prompt = "... " {
		line, err := in.read(prompt)
		switch {
		case errors.Is(err, errAbandoned):
			return "", nil
		case errors.Is(err, io.EOF) && len(code) > 0:
			return strings.Join(code, "\n"), nil
		case err != nil:
			return "", err
		}
		code = append(code, line)
		if python && !pythonGoesOn(code) || !python && !strings.HasSuffix(line, `\`) {
			return strings.Join(code, "\n"), nil
		}
	}
}

// pythonGoesOn tells whether lines of Python want more: an open bracket or text, a
// backslash, or a block, which an empty line ends.
func pythonGoesOn(code []string) bool {
	depth, quote, block := 0, "", false
	for _, line := range code {
		depth, quote = pythonLine(line, depth, quote)
		bare := strings.TrimSpace(strings.SplitN(line, "#", 2)[0])
		block = block || depth == 0 && quote == "" && (strings.HasSuffix(bare, ":") || strings.HasPrefix(bare, "@"))
	}
	last := code[len(code)-1]
	switch {
	case depth > 0 || quote != "" || strings.HasSuffix(last, `\`):
		return true
	case block:
		return strings.TrimSpace(last) != ""
	}
	return false
}

// pythonLine follows brackets and texts through a line.
func pythonLine(line string, depth int, quote string) (int, string) {
	for i := 0; i < len(line); i++ {
		rest := line[i:]
		switch c := line[i]; {
		case quote != "":
			switch {
			case c == '\\':
				i++
			case strings.HasPrefix(rest, quote):
				i += len(quote) - 1
				quote = ""
			}
		case c == '#':
			return depth, ""
		case strings.HasPrefix(rest, `"""`) || strings.HasPrefix(rest, "'''"):
			quote = rest[:3]
			i += 2
		case c == '"' || c == '\'':
			quote = rest[:1]
		case strings.IndexByte("([{", c) >= 0:
			depth++
		case strings.IndexByte(")]}", c) >= 0:
			depth = max(depth-1, 0)
		}
	}
	if len(quote) == 1 {
		quote = "" // a text on one line cannot go on
	}
	return depth, quote
}

func newPrompter() lineReader {
	if attend.IsTerminal(os.Stdin) && attend.IsTerminal(os.Stdout) {
		keys := &keys{from: os.Stdin}
		return &editor{keys: keys, line: term.NewTerminal(struct {
			io.Reader
			io.Writer
		}{keys, os.Stdout}, "")}
	}
	return &plainLines{bufio.NewReader(os.Stdin)}
}

// plainLines are lines of a pipe or file: there is nobody to prompt.
type plainLines struct{ from *bufio.Reader }

func (p *plainLines) read(string) (string, error) {
	line, err := p.from.ReadString('\n')
	if line != "" {
		err = nil
	}
	return strings.TrimRight(line, "\r\n"), err
}

// editor reads lines from a terminal, with a history.
type editor struct {
	keys *keys
	line *term.Terminal
}

func (e *editor) read(prompt string) (string, error) {
	restore, err := attend.Raw(os.Stdin)
	if err != nil {
		return "", err
	}
	defer restore()
	if cols, rows, err := term.GetSize(int(os.Stdout.Fd())); err == nil {
		_ = e.line.SetSize(cols, rows)
	}
	e.line.SetPrompt(prompt)
	e.keys.abandoned = false
	line, err := e.line.ReadLine()
	if e.keys.abandoned {
		return "", errAbandoned
	}
	if errors.Is(err, io.EOF) {
		_, _ = fmt.Fprint(os.Stdout, "\r\n")
	}
	return line, err
}

// keys makes of ^C the keys that clear the line and end it.
type keys struct {
	from      io.Reader
	waiting   []byte
	abandoned bool
}

const (
	clearKey = 0x15 // ^U
	abortKey = 0x03 // ^C
)

func (k *keys) Read(p []byte) (int, error) {
	if len(k.waiting) == 0 {
		buf := make([]byte, len(p))
		n, err := k.from.Read(buf)
		if err != nil {
			return 0, err
		}
		for _, c := range buf[:n] {
			if c == abortKey {
				k.abandoned = true
				k.waiting = append(k.waiting, clearKey, '\r')
				continue
			}
			k.waiting = append(k.waiting, c)
		}
	}
	n := copy(p, k.waiting)
	k.waiting = k.waiting[n:]
	return n, nil
}
