// Package picture shows pictures in terminals that can.
package picture

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"io"
)

// Protocol is how a terminal takes pictures.
type Protocol int

// The protocols.
const (
	None  Protocol = iota
	Kitty          // kitty's graphics: PNG
	ITerm          // iTerm2's inline images: PNG, JPEG, GIF, PDF
)

// ProtocolOf tells what the terminal of an environment takes. Inside tmux and
// screen, which pass pictures on only when told to, it is None.
func ProtocolOf(getenv func(string) string) Protocol {
	if getenv("TMUX") != "" || getenv("STY") != "" {
		return None
	}
	kind, program := getenv("TERM"), getenv("TERM_PROGRAM")
	switch {
	case getenv("KITTY_WINDOW_ID") != "", kind == "xterm-kitty", kind == "xterm-ghostty", program == "ghostty":
		return Kitty
	case program == "iTerm.app", program == "WezTerm", program == "mintty", getenv("LC_TERMINAL") == "iTerm2":
		return ITerm
	}
	return None
}

// Takes tells whether a format can be shown.
func (p Protocol) Takes(format string) bool {
	switch p {
	case Kitty:
		return format == "png"
	case ITerm:
		return format == "png" || format == "jpeg"
	case None:
	}
	return false
}

// mostAtOnce is what one escape sequence of kitty may hold.
const mostAtOnce = 4096

// Show writes a picture where the cursor is, and ends the line.
func (p Protocol) Show(w io.Writer, b []byte) error {
	var out bytes.Buffer
	text := base64.StdEncoding.EncodeToString(b)
	switch p {
	case Kitty:
		head := "a=T,f=100,"
		for more := true; more; {
			piece := text[:min(len(text), mostAtOnce)]
			text = text[len(piece):]
			follows := 0
			if more = text != ""; more {
				follows = 1
			}
			fmt.Fprintf(&out, "\x1b_G%sm=%d;%s\x1b\\", head, follows, piece)
			head = ""
		}
	case ITerm:
		fmt.Fprintf(&out, "\x1b]1337;File=inline=1;size=%d:%s\a", len(b), text)
	case None:
		return nil
	}
	out.WriteByte('\n')
	_, err := w.Write(out.Bytes())
	return err
}
